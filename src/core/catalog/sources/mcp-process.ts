/** A transport to an MCP server that is a process: its output is bounded, and the end of its stderr is kept. */
import type { Readable } from 'node:stream';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { createCounter, excessOf, type Flow } from './bound-body.js';
import { type McpServer, maskOf } from './mcp-server.js';

const MAX_STDERR_CHARACTERS = 500;
/** What is read of stderr before a pause: the rest waits in the process, which slows nobody else down. */
const STDERR_BYTES = 2 ** 20;
const STDERR_PAUSE_MS = 250;

/** Given exactly its own class, the SDK probes the revision with a second process; servers lock files and ports. */
export class ProcessTransport extends StdioClientTransport {
  /** Called with each part of what the process writes on stdout. */
  onChunk: ((chunk: Buffer, stdout: Readable) => void) | undefined;

  override async start(): Promise<void> {
    await super.start();
    const stdout: Readable = Object(this)._process.stdout;
    // Before the SDK reads it: it may parse thousands of lines of one part.
    stdout.prependListener('data', (chunk: Buffer) => this.onChunk?.(chunk, stdout));
  }
}

type ProcessServer = Extract<McpServer, { command: string }>;

export function createProcess({ command, args = [], env, cwd }: ProcessServer): ProcessTransport {
  return new ProcessTransport({
    command,
    args: [...args],
    stderr: 'pipe',
    ...(env ? { env: { ...env } } : {}),
    ...(cwd ? { cwd } : {}),
  });
}

/** A line is a message; the SDK skips those that are none. */
export function boundOutput(transport: ProcessTransport, flow: Flow, cut: (flood: string) => void): void {
  const count = createCounter('line');
  const countFlow = flow.openStream();
  transport.onChunk = (chunk, stdout) => {
    const counted = count(chunk);
    const flood = countFlow(counted.messages, chunk.length) ?? excessOf(counted);
    if (flood !== undefined) {
      // The process may take seconds to end, and must not be heard meanwhile.
      stdout.destroy();
      return cut(flood);
    }
    // A pipe that always has more would be read 32 times before anybody else has a turn.
    stdout.pause();
    setImmediate(() => stdout.resume());
  };
}

export function listenTo({ stderr }: StdioClientTransport, server: McpServer): () => string {
  const mask = maskOf(server);
  let words = '';
  let left = STDERR_BYTES;
  stderr?.on('data', function read(this: Readable, chunk: Buffer) {
    words = (words + String(chunk)).slice(-4 * MAX_STDERR_CHARACTERS);
    left -= chunk.length;
    if (left > 0) return;
    left = STDERR_BYTES;
    this.pause();
    setTimeout(() => this.resume(), STDERR_PAUSE_MS).unref();
  });
  return () => mask(words).trim().slice(-MAX_STDERR_CHARACTERS);
}
