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
  /** Called with each part of what the process writes on stdout; returns what the SDK gets of it. */
  onChunk: (chunk: Buffer, stdout: Readable) => Buffer | undefined = (chunk) => chunk;

  override async start(): Promise<void> {
    await super.start();
    const stdout: Readable = Object(this)._process.stdout;
    // Those of the SDK, which get what `onChunk` returns instead.
    const readers = stdout.listeners('data');
    stdout.removeAllListeners('data');
    stdout.on('data', (chunk: Buffer) => {
      const lines = this.onChunk(chunk, stdout);
      if (lines) for (const read of readers) read.call(stdout, lines);
    });
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
  const gather = createLines();
  const countFlow = flow.openStream();
  transport.onChunk = (chunk, stdout) => {
    const counted = count(chunk);
    const flood = countFlow(counted.messages, chunk.length) ?? excessOf(counted);
    if (flood !== undefined) {
      // The process may take seconds to end, and must not be heard meanwhile.
      stdout.destroy();
      cut(flood);
      return undefined;
    }
    // A pipe that always has more would be read 32 times before anybody else has a turn.
    stdout.pause();
    setImmediate(() => stdout.resume());
    return gather(chunk);
  };
}

/**
 * @returns a function that keeps an unfinished line until its end comes, and returns the lines that have ended. The SDK
 * would copy and search all of the unfinished line again for each byte behind it.
 */
function createLines(): (chunk: Buffer) => Buffer | undefined {
  let line = Buffer.alloc(0);
  let length = 0;
  return (chunk) => {
    const end = chunk.lastIndexOf('\n') + 1;
    const lines = end > 0 ? Buffer.concat([line.subarray(0, length), chunk.subarray(0, end)]) : undefined;
    if (lines) {
      line = Buffer.alloc(0);
      length = 0;
    }
    const rest = chunk.subarray(end);
    if (length + rest.length > line.length) {
      const larger = Buffer.alloc(2 * (length + rest.length));
      line.copy(larger, 0, 0, length);
      line = larger;
    }
    rest.copy(line, length);
    length += rest.length;
    return lines;
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
