/** Transports to an MCP server, limited in size: a process, streamable HTTP, or the SSE from before 2025. */
import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type AuthProvider,
  type FetchLike,
  type JSONRPCMessage,
  type ReconnectionScheduler,
  SSEClientTransport,
  SseError,
  StreamableHTTPClientTransport,
  type StreamableHTTPClientTransportOptions,
  type Transport,
} from '@modelcontextprotocol/client';
import { z } from 'zod';
import { orAborted } from '../../errors.js';
import { createOpening } from '../../kept.js';
import { type BodyBounds, createFlow, fetchBounded } from './bound-body.js';
import { boundOutput, createProcess, listenTo, ProcessTransport } from './mcp-process.js';
import type { McpServer } from './mcp-server.js';

export type Wire = 'stdio' | 'http' | 'sse';

/** A call that is under way, as its transport sees it. */
export interface Sending {
  /** Asked each time right before it is sent, after the wait for a token. @throws to keep it from being sent */
  allow(): Promise<void>;
  /** The status of the last answer to it over HTTP. */
  status?: number | undefined;
}

export interface McpTransport {
  readonly transport: Transport;
  /** Runs the work, in which a call is sent. */
  readonly sendWith: <Result>(sending: Sending, work: () => Promise<Result>) => Promise<Result>;
  /** The end of a process's stderr, without its keys. */
  lastWords(): string;
  /** Ends the process, or gives the session back. Idempotent, and throws nothing. */
  close(): Promise<void>;
}

/** Most notifications and answers, such as those to a flood of pings, that a server leaves unread; then it is cut. */
const MOST_UNREAD = 100;
/** Of what comes for a message that is no request, or whose answer comes in another stream. Nobody needs it. */
const MOST_ECHO_BYTES = 65_536;
const FAREWELL_TIMEOUT_MS = 3_000;
/** After the answer to a request, so that an honest server ends its stream itself and the connection can be used again. */
const LAST_WORDS_MS = 500;

/** An ended stream is reopened after a pause, which doubles each time until an answer comes, at most so often. */
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;
const MOST_REOPENINGS = 20;

/** Called at once and in order: the SDK delivers notifications sent with an answer after it, or not at all. */
export type HearNotification = (notification: { method: string; params?: Record<string, unknown> | undefined }) => void;

export interface TransportOptions {
  /** Default: they are ignored. */
  readonly hear?: HearNotification | undefined;
  /** For a server with `oauth`. */
  readonly tokens?: AuthProvider | undefined;
  /** Called when the connection is cut, since the server sends much that nobody asked for. Default: it is only cut. */
  readonly onFlood?: ((what: string) => void) | undefined;
}

export function createMcpTransport(
  server: McpServer,
  wire: Wire,
  { hear, tokens: authProvider, onFlood }: TransportOptions,
): McpTransport {
  const contexts = new AsyncLocalStorage<Context>();
  const reopening = createReopening(() => contexts.getStore()?.over?.aborted === true);
  const requests = createRequests();
  const flow = createFlow();
  /** Requests without an answer, cancelled ones included. */
  let waiting = 0;
  const cut = (flood: string | undefined) => {
    if (flood !== undefined) {
      // What was read before the end must not be heard after it.
      delete transport.onmessage;
      onFlood?.(flood);
    }
    void transport.close();
  };
  const options = {
    reconnectionScheduler: reopening.schedule,
    ...(authProvider ? { authProvider } : {}),
    fetch: createFetch(contexts, wire, { flow, onCutStream: cut }),
  };
  const transport = 'url' in server ? createRemote(server, wire, options) : createProcess(server);
  const lastWords = transport instanceof ProcessTransport ? listenTo(transport, server) : () => '';
  if (transport instanceof ProcessTransport) boundOutput(transport, flow, cut);
  transport.onmessage = (message) => {
    if (!('method' in message)) {
      reopening.reset();
      requests.answered(message.id);
      // Answers to nothing are a flood like any other.
      if (waiting > 0) flow.answered();
      waiting = Math.max(0, waiting - 1);
    }
    if ('result' in message) {
      keepRaw(message);
      boundGreeting(message);
    } else if ('method' in message && !('id' in message)) hear?.(message);
  };
  const send: Transport['send'] = transport.send.bind(transport);
  let unread = 0;
  transport.send = async (...[message, options]: Parameters<Transport['send']>) => {
    if ('method' in message && 'id' in message) {
      waiting += 1;
      const sending = message.method === 'tools/call' ? contexts.getStore()?.sending : undefined;
      const over = requests.begin(message.id, options?.requestSignal);
      try {
        if (wire === 'stdio') await sending?.allow();
        return await contexts.run({ sending, over }, () => send(message, options));
      } catch (error) {
        requests.end(message.id);
        throw error;
      }
    }
    if ('method' in message && message.method === 'notifications/cancelled') requests.end(message.params?.requestId);
    unread += 1;
    if (unread > MOST_UNREAD) void transport.close();
    // What is sent besides a call, such as its cancellation, is no part of it.
    await contexts
      .run({}, () => send(message, options))
      .finally(() => {
        unread -= 1;
      });
  };
  // A failed `connect` starts closing without waiting; here that close and ours are shared, and we wait for it.
  const end = transport.close.bind(transport);
  const ending = createOpening(() => {
    reopening.end();
    requests.endAll();
    return end();
  });
  transport.close = ending.get;
  const closing = createOpening(async () => {
    if ('terminateSession' in transport) {
      // A silent server must not delay us, and a server that can't end sessions has nothing to end.
      const farewell = orAborted(transport.terminateSession(), AbortSignal.timeout(FAREWELL_TIMEOUT_MS));
      await farewell.catch(() => undefined);
    }
    await ending.get().catch(() => undefined);
  });
  return { transport, sendWith: (sending, work) => contexts.run({ sending }, work), lastWords, close: closing.get };
}

/** What the SDK sends within it belongs to a request, or to none. */
interface Context {
  readonly sending?: Sending | undefined;
  /** Aborts when nobody waits for the request's answer any more. It takes the place of the connection's own signal. */
  readonly over?: AbortSignal | undefined;
}

/** The requests under way. What comes for one that is over is not read: a server could let it grow without end. */
function createRequests() {
  const open = new Map<number, AbortController>();
  function end(id: unknown): void {
    open.get(Number(id))?.abort();
    open.delete(Number(id));
  }
  return {
    end,
    endAll() {
      for (const id of open.keys()) end(id);
    },
    /** @param cancelled Aborts when its caller gives the request up without a notification. */
    begin(id: unknown, cancelled?: AbortSignal): AbortSignal {
      const request = new AbortController();
      open.set(Number(id), request);
      cancelled?.addEventListener('abort', () => end(id), { once: true });
      return request.signal;
    },
    answered(id: unknown): void {
      const request = open.get(Number(id));
      open.delete(Number(id));
      if (request) setTimeout(() => request.abort(), LAST_WORDS_MS).unref();
    },
  };
}

/** The SDK sends a message again after a 401 and after a redirect, so calls are seen here. */
function createFetch(contexts: AsyncLocalStorage<Context>, wire: Wire, bounds: BodyBounds): FetchLike {
  return async (address, init = {}) => {
    const { sending, over } = contexts.getStore() ?? {};
    const bounded = over ? { ...init, signal: over } : init;
    if (init.method !== 'POST') return fetchBounded(address, bounded, { ...bounds, reads: 'stream' });
    await sending?.allow();
    const isRequest = over !== undefined && wire === 'http';
    const answer = isRequest ? { reads: 'stream or JSON' as const } : { maxBytes: MOST_ECHO_BYTES };
    const response = await fetchBounded(address, bounded, { ...bounds, ...answer });
    if (sending) sending.status = response.status;
    return response;
  };
}

type RemoteServer = Extract<McpServer, { url: string }>;
type RemoteOptions = Pick<StreamableHTTPClientTransportOptions, 'authProvider' | 'reconnectionScheduler' | 'fetch'>;

function createRemote(
  { url, headers }: RemoteServer,
  wire: Wire,
  shared: RemoteOptions,
): SSEClientTransport | StreamableHTTPClientTransport {
  const options = { ...shared, requestInit: { headers: { ...headers } } };
  const remote: SSEClientTransport | StreamableHTTPClientTransport =
    wire === 'sse'
      ? new SSEClientTransport(new URL(url), options)
      : new StreamableHTTPClientTransport(new URL(url), options);
  // Its one stream is the connection: a stream reopened automatically would be a session without a handshake.
  remote.onerror = (error) => {
    // Deferred, since the event source sets its retry timer after this call.
    if (error instanceof SseError) queueMicrotask(() => void remote.close());
  };
  return remote;
}

interface Reopening {
  readonly schedule: ReconnectionScheduler;
  /** Called when an answer comes. */
  reset(): void;
  end(): void;
}

/**
 * Schedules the reopening of ended streams of one connection. A server may ask for longer pauses, not for shorter ones.
 * After `MOST_REOPENINGS` without an answer they stay closed, and callers that still wait run into their time-out.
 * @param isOver The stream belongs to a request whose answer nobody waits for.
 */
function createReopening(isOver: () => boolean): Reopening {
  let times = 0;
  const pauses = new Set<NodeJS.Timeout>();
  return {
    schedule(reopen, askedMs) {
      if (isOver() || times === MOST_REOPENINGS) return;
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

/** Unchecked pages of tools and results of calls, as the server sent them. */
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

/** What servers offer besides tools, as sent and unchecked. */
export const rawOfferSchema = z.object({ raw: z.record(z.string(), z.unknown()) });

/** The fields of results that are read here, empty, so that they pass the checks of the SDK. */
const EMPTY = {
  ...{ tools: [], content: [], resources: [], resourceTemplates: [], contents: [], prompts: [], messages: [] },
  completion: { values: [] },
};
const KEPT_RAW = [...Object.keys(EMPTY), 'structuredContent', 'isError'];
/** What a result of a later revision has besides. */
const CACHING = { ttlMs: 0, cacheScope: 'private' };

/** Of what the SDK keeps as long as the connection: the answer to `initialize` or `server/discover`. */
const MOST_GREETING_CHARACTERS = 65_536;

/** Nobody reads its instructions; the SDK refuses one that is empty. */
function boundGreeting(message: Extract<JSONRPCMessage, { result: unknown }>): void {
  if (!('capabilities' in message.result)) return;
  const { instructions, ...greeting } = message.result;
  message.result = JSON.stringify(greeting).length > MOST_GREETING_CHARACTERS ? {} : greeting;
}

/**
 * The SDK refuses a whole page for one bad tool, and a result for one unknown block, and lists each fault of thousands of
 * messages, which takes seconds. So it gets empty ones to check.
 */
function keepRaw(message: Extract<JSONRPCMessage, { result: unknown }>): void {
  const { result } = message;
  const { resultType } = result;
  if (resultType === 'input_required' || !KEPT_RAW.some((key) => key in result)) return;
  message.result = { ...EMPTY, ...CACHING, ...(resultType === undefined ? {} : { resultType }), raw: result };
}
