/** How messages go to an MCP server and back: a process, streamable HTTP, or the SSE of before 2025; bounded in size. */
import {
  type AuthProvider,
  type JSONRPCMessage,
  type ReconnectionScheduler,
  SSEClientTransport,
  SseError,
  StreamableHTTPClientTransport,
  type StreamableHTTPClientTransportOptions,
  type Transport,
} from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { z } from 'zod';
import { orAborted } from '../../errors.js';
import { createOpening } from '../../kept.js';
import { boundBody } from './bound-body.js';
import { type McpServer, maskOf } from './mcp-server.js';

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

/** A stream that ended is opened again after a pause, each twice the one before until an answer comes, and so often. */
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;
const MOST_REOPENINGS = 20;

/** The SDK asks a second process for its revision where the transport is exactly its own class; servers lock files and ports. */
class ProcessTransport extends StdioClientTransport {}

/** Told at once and in order: the SDK tells what comes with an answer after the answer, or not at all. */
export type HearNotification = (notification: { method: string; params?: Record<string, unknown> | undefined }) => void;

export interface TransportOptions {
  /** Default: nobody hears them. */
  readonly hear?: HearNotification | undefined;
  /** Of a server with `oauth`. */
  readonly tokens?: AuthProvider | undefined;
}

export function createMcpTransport(
  server: McpServer,
  wire: Wire,
  { hear, tokens: authProvider }: TransportOptions,
): McpTransport {
  const reopening = createReopening();
  const sending = { reconnectionScheduler: reopening.schedule, ...(authProvider ? { authProvider } : {}) };
  const transport = 'url' in server ? createRemote(server, wire, sending) : createProcess(server);
  const lastWords = transport instanceof ProcessTransport ? listenTo(transport, server) : () => '';
  transport.onmessage = (message) => {
    if (!('method' in message)) reopening.reset();
    if ('result' in message) keepRaw(message);
    else if ('method' in message && !('id' in message)) hear?.(message);
  };
  // A failed `connect` starts to close without waiting; this way that close and ours are one, and we wait for it.
  const end = transport.close.bind(transport);
  const ending = createOpening(() => {
    reopening.end();
    return end();
  });
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

function createRemote(
  { url, headers }: RemoteServer,
  wire: Wire,
  sending: Pick<StreamableHTTPClientTransportOptions, 'authProvider' | 'reconnectionScheduler'>,
): SSEClientTransport | StreamableHTTPClientTransport {
  const options = {
    ...sending,
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

interface Reopening {
  readonly schedule: ReconnectionScheduler;
  /** An answer came. */
  reset(): void;
  end(): void;
}

/**
 * When ended streams of one connection are opened again. A server may ask for longer pauses, not for shorter ones. After
 * so many without an answer they stay closed, and who waits in one has the time-out of the call.
 */
function createReopening(): Reopening {
  let times = 0;
  const pauses = new Set<NodeJS.Timeout>();
  return {
    schedule(reopen, askedMs) {
      if (times === MOST_REOPENINGS) return;
      const pauseMs = Math.min(Math.max(FIRST_PAUSE_MS * 2 ** times, askedMs), LONGEST_PAUSE_MS);
      times += 1;
      const pause = setTimeout(() => {
        pauses.delete(pause);
        reopen();
      }, pauseMs);
      pauses.add(pause);
    },
    reset() {
      times = 0;
    },
    end() {
      for (const pause of pauses) clearTimeout(pause);
    },
  };
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
  const mask = maskOf(server);
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
