/** How messages go to an MCP server and back: a process, streamable HTTP, or the SSE of before 2025; bounded in size. */
import {
  type JSONRPCMessage,
  SSEClientTransport,
  SseError,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { z } from 'zod';
import { orAborted } from '../../errors.js';
import { createOpening } from '../../kept.js';
import { createKeyMask } from '../../secret-forms.js';
import { boundBody } from './bound-body.js';
import type { McpServer } from './mcp-server.js';

export type Wire = 'stdio' | 'http' | 'sse';

export interface McpTransport {
  readonly transport: Transport;
  /** What a process wrote on stderr last, without its keys. */
  lastWords(): string;
  /** Ends the process, or gives the session back. Idempotent, and throws nothing. */
  close(): Promise<void>;
}

const FAREWELL_TIMEOUT_MS = 3_000;
const MAX_STDERR_CHARACTERS = 500;

/** The SDK asks a second process for its revision where the transport is exactly its own class; servers lock files and ports. */
class ProcessTransport extends StdioClientTransport {}

/** Told at once and in order: the SDK tells what comes with an answer after the answer, or not at all. */
export type HearNotification = (notification: { method: string; params?: Record<string, unknown> | undefined }) => void;

export function createMcpTransport(server: McpServer, wire: Wire, hear?: HearNotification): McpTransport {
  const transport = 'url' in server ? createRemote(server, wire) : createProcess(server);
  const lastWords = transport instanceof ProcessTransport ? listenTo(transport, server) : () => '';
  transport.onmessage = (message) => {
    if ('result' in message) keepRaw(message);
    else if ('method' in message && !('id' in message)) hear?.(message);
  };
  // A failed `connect` starts to close without waiting; this way that close and ours are one, and we wait for it.
  const ending = createOpening(transport.close.bind(transport));
  transport.close = ending.get;
  const closing = createOpening(async () => {
    if ('terminateSession' in transport) {
      // One that does not answer must not keep us, and one that can't end sessions has nothing to give back.
      const farewell = orAborted(transport.terminateSession(), AbortSignal.timeout(FAREWELL_TIMEOUT_MS));
      await farewell.catch(() => undefined);
    }
    await ending.get().catch(() => undefined);
  });
  return { transport, lastWords, close: closing.get };
}

type RemoteServer = Extract<McpServer, { url: string }>;

function createRemote({ url, headers }: RemoteServer, wire: Wire): SSEClientTransport | StreamableHTTPClientTransport {
  const options = {
    requestInit: { headers: { ...headers } },
    // Who waits for an answer in a stream that was cut hears of the end of the connection.
    fetch: async (address: string | URL, init?: RequestInit) =>
      boundBody(await fetch(address, init), { onCutStream: () => void remote.close() }),
  };
  const remote: SSEClientTransport | StreamableHTTPClientTransport =
    wire === 'sse'
      ? new SSEClientTransport(new URL(url), options)
      : new StreamableHTTPClientTransport(new URL(url), options);
  // Its one stream is the connection: opened anew by itself, it would be a session without a handshake.
  remote.onerror = (error) => {
    // Not at once: the event source sets its timer for another try behind this.
    if (error instanceof SseError) queueMicrotask(() => void remote.close());
  };
  return remote;
}

type ProcessServer = Extract<McpServer, { command: string }>;

function createProcess({ command, args = [], env, cwd }: ProcessServer): ProcessTransport {
  return new ProcessTransport({
    command,
    args: [...args],
    stderr: 'pipe',
    ...(env ? { env: { ...env } } : {}),
    ...(cwd ? { cwd } : {}),
  });
}

function listenTo({ stderr }: StdioClientTransport, server: McpServer): () => string {
  const mask = createKeyMask('command' in server ? Object.values(server.env ?? {}) : []);
  let words = '';
  stderr?.on('data', (chunk) => {
    words = (words + String(chunk)).slice(-4 * MAX_STDERR_CHARACTERS);
  });
  return () => mask(words).trim().slice(-MAX_STDERR_CHARACTERS);
}

/** A page of tools, and the result of a call, as the server sent them. */
export const rawPageSchema = z.object({
  raw: z.object({ tools: z.array(z.unknown()), nextCursor: z.string().nullish() }),
});
export const rawResultSchema = z.object({
  raw: z.object({
    content: z.array(z.unknown()).default([]),
    structuredContent: z.unknown().optional(),
    isError: z.boolean().default(false),
    _meta: z.record(z.string(), z.unknown()).optional(),
  }),
});

const CHECKED = ['tools', 'content', 'structuredContent', 'isError'];
/** What passes the checks of the SDK. */
const EMPTY = { tools: [], content: [], ttlMs: 0, cacheScope: 'private' };

/** The SDK refuses a whole page for one bad tool, and a whole result for one strange block: it gets empty ones to check. */
function keepRaw(message: Extract<JSONRPCMessage, { result: unknown }>): void {
  const { result } = message;
  const { resultType } = result;
  if (resultType === 'input_required' || !CHECKED.some((key) => key in result)) return;
  message.result = { ...EMPTY, ...(resultType === undefined ? {} : { resultType }), raw: result };
}
