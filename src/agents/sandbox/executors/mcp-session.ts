/**
 * A connection to one MCP server that stays open over many calls. How a call ended is a value that tells whether the
 * server can have begun: the caller knows whether it may be repeated.
 */
import { setTimeout as delay } from 'node:timers/promises';
import {
  type Client,
  type ElicitResult,
  type InputRequiredResult,
  isInputRequiredResult,
  LOG_LEVEL_META_KEY,
  ProtocolError,
  ProtocolErrorCode,
  SdkError,
  SdkErrorCode,
} from '@modelcontextprotocol/client';
import { z } from 'zod';
import {
  type AskedByServer,
  type ConnectOptions,
  connect,
  EndlessList,
  NO_TIMEOUT_MS,
  readPages,
  statusOf,
  type Told,
  type Way,
} from '../../../core/catalog/sources/mcp-connection.js';
import type { McpServer } from '../../../core/catalog/sources/mcp-server.js';
import { type HearNotification, rawResultSchema } from '../../../core/catalog/sources/mcp-transport.js';
import { isNeverConnected, messageOf } from '../../../core/errors.js';
import { logMessageSchema, progressSchema } from '../../contracts.js';
import type { ExecutorCall } from './executor.js';
import { type McpOffered, type McpOfferRequest, OFFERS } from './offers.js';

export type McpContent = z.infer<typeof rawResultSchema>['raw'];

/**
 * `not_sent`: the server has not seen the call. `unauthorized`: it runs none, for want of a token. `lost`: the
 * connection broke on the way. `refused`: it said no.
 */
export interface McpRefusal {
  readonly ok: false;
  readonly kind: 'not_sent' | 'unauthorized' | 'lost' | 'refused';
  readonly reason: string;
  /** Of HTTP, where that was its answer. */
  readonly status?: number | undefined;
}

export interface McpToolCall extends Pick<ExecutorCall, 'arguments' | 'user' | 'onProgress' | 'onLog'> {
  readonly name: string;
  /** Of the tool as the server described it: some of its arguments may have to be headers, too. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** When it fires, the server is told, and the answer is `lost`. */
  readonly signal: AbortSignal;
  /** Asked what the server asks of a person while it works on this call, as it came. */
  readonly onQuestion: AskedByServer;
  /** Told why a question of the server was put to nobody: it may have been of this call. */
  readonly onUnasked: (reason: string) => void;
}

export interface McpSession {
  readonly client: Client;
  /** What was thrown by a request of the client. */
  refusalOf(error: unknown): McpRefusal;
  /** In which the server answered; the next connection need not try others. */
  readonly way: Way;
  /** False when the process has ended or the connection was closed. */
  isOpen(): boolean;
  /** Another than a caller of tools uses the connection, too. */
  noteUser(user: string | undefined): void;
  callTool(call: McpToolCall): Promise<({ ok: true } & McpContent) | McpRefusal>;
  /** Ends the process, or gives the session back. Idempotent. */
  close(): Promise<void>;
}

interface McpSessionOptions extends Pick<ConnectOptions, 'way' | 'tokens'> {
  /** For the start of the server and the handshake. */
  readonly connectTimeoutMs: number;
}

/** @throws McpFailure whose message says what the server did, and what to do */
export async function openMcpSession(server: McpServer, options: McpSessionOptions): Promise<McpSession> {
  const news = createNews();
  const { connectTimeoutMs: timeoutMs, ...known } = options;
  const { client, way, told, close } = await connect(server, { timeoutMs, ...known, hear: news.hear, ask: news.ask });
  const refusalOf = (error: unknown) => readFailure(error, told(error));
  let isOpen = true;
  client.onclose = () => {
    isOpen = false;
  };
  return {
    client,
    refusalOf,
    way,
    isOpen: () => isOpen,
    noteUser: news.noteUser,
    close() {
      isOpen = false;
      return close();
    },
    async callTool({ name, arguments: input, inputSchema, signal, ...listener }) {
      if (!isOpen) return { ok: false, kind: 'not_sent', reason: 'the connection is closed' };
      const listening = news.tell(listener);
      try {
        const logLevel = listener.onLog && way.era === 'modern' ? { [LOG_LEVEL_META_KEY]: 'info' } : {};
        const _meta = { progressToken: listening.token, ...logLevel };
        const toolDefinition = { name, inputSchema: { ...inputSchema, type: 'object' as const } };
        const options = { signal, timeout: NO_TIMEOUT_MS, toolDefinition, allowInputRequired: true };
        let answers: Answers = {};
        for (let round = 0; round <= MOST_ROUNDS; round++) {
          const answer = await client.callTool({ name, arguments: { ...input }, _meta, ...answers }, options);
          if (!isInputRequiredResult(answer)) return { ok: true, ...readContent(answer) };
          answers = await answerAll(answer, listener.onQuestion, signal);
        }
        return { ok: false, kind: 'refused', reason: `it asked its client more than ${MOST_ROUNDS} times` };
      } catch (error) {
        return refusalOf(error);
      } finally {
        listening.stop();
      }
    },
  };
}

/** An answer without any content has nothing of which the raw form was kept. */
function readContent(answer: object): McpContent {
  return rawResultSchema.parse('raw' in answer ? answer : { raw: {} }).raw;
}

/** A server of 2026-07-28 that asks in more rounds is not called again. */
const MOST_ROUNDS = 10;
/** One that asks for nothing but to be called again waits for something. */
const ROUND_PAUSE_MS = 250;

type Answers = Pick<InputRequiredResult, 'requestState'> & { inputResponses?: Record<string, ElicitResult> };

/** What a server of 2026-07-28 gets with the same call again. @throws ProtocolError where it asks for what Winnow has not */
async function answerAll(
  { inputRequests = {}, requestState }: InputRequiredResult,
  ask: AskedByServer,
  signal: AbortSignal,
): Promise<Answers> {
  const inputResponses: Record<string, ElicitResult> = {};
  for (const [key, { method, params }] of Object.entries(inputRequests)) {
    if (method !== 'elicitation/create')
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `it asks its client for ${method}`);
    inputResponses[key] = await ask(params, signal);
  }
  if (Object.keys(inputResponses).length === 0) await delay(ROUND_PAUSE_MS, undefined, { signal });
  return { inputResponses, ...(requestState === undefined ? {} : { requestState }) };
}

type Listener = Pick<McpToolCall, 'user' | 'onProgress' | 'onLog' | 'onQuestion' | 'onUnasked'>;

interface News {
  readonly hear: HearNotification;
  readonly ask: AskedByServer;
  noteUser(user: string | undefined): void;
  /** For as long as a call runs; the token stands in it. */
  tell(listener: Listener): { token: string; stop(): void };
}

const progressNewsSchema = progressSchema.extend({ progressToken: z.string() });

/**
 * Log messages, and questions of servers of before 2026-07-28, say not to which call they belong, and may come after
 * its end. So they go to the calls that are under way as long as one user alone has used the connection, and to nobody
 * after that; a question only where one call is under way.
 */
function createNews(): News {
  const listeners = new Map<string, Listener>();
  const users = new Set<string | undefined>();
  let calls = 0;
  /** More than two are as good as two. */
  function noteUser(user: string | undefined): void {
    if (users.size < 2) users.add(user);
  }
  return {
    hear({ method, params }) {
      if (method === 'notifications/progress') {
        const { progressToken, ...progress } = progressNewsSchema.safeParse(params).data ?? {};
        if (progressToken !== undefined && 'progress' in progress) listeners.get(progressToken)?.onProgress?.(progress);
      }
      if (method !== 'notifications/message' || users.size > 1) return;
      const message = logMessageSchema.safeParse(params).data;
      if (message) for (const { onLog } of listeners.values()) onLog?.(message);
    },
    async ask(asked, signal) {
      const [first, ...others] = listeners.values();
      if (first && others.length === 0 && users.size === 1) return first.onQuestion(asked, signal);
      for (const { onUnasked } of listeners.values()) onUnasked('nobody can tell to which of several calls it belongs');
      return { action: 'decline' };
    },
    noteUser,
    tell(listener) {
      noteUser(listener.user);
      calls += 1;
      const token = `call-${calls}`;
      listeners.set(token, listener);
      return { token, stop: () => void listeners.delete(token) };
    },
  };
}

const LOST: readonly string[] = [SdkErrorCode.ConnectionClosed, SdkErrorCode.RequestTimeout];

function readFailure(error: unknown, { reason: told, advice }: Told): McpRefusal {
  const status = statusOf(error);
  const end = (kind: McpRefusal['kind'], reason = told): McpRefusal => ({ ok: false, kind, reason, status });
  if (advice !== undefined) return end('unauthorized', `${told}. ${advice}.`);
  if (error instanceof ProtocolError || error instanceof EndlessList) return end('refused');
  // By the specification of MCP, 404 says that the session has ended and must be opened anew.
  if (status === 404) return end('not_sent');
  if (status !== undefined) return end(status >= 500 ? 'lost' : 'refused');
  if (error instanceof z.core.$ZodError) return end('refused', NO_FORM);
  if (error instanceof SdkError) {
    if (error.code === SdkErrorCode.InvalidResult) return end('refused', NO_FORM);
    if (error.code === SdkErrorCode.NotConnected) return end('not_sent');
    return end(LOST.includes(error.code) ? 'lost' : 'refused');
  }
  const { code } = Object(error instanceof Error ? error.cause : undefined);
  const isUnsent = messageOf(error) === 'Not connected' || isNeverConnected(String(code));
  return end(isUnsent ? 'not_sent' : 'lost');
}

const NO_FORM = 'the answer is not of the form of MCP';

// What servers offer besides tools, in their own words, for adapters that hand it on.

export async function askForOffer(
  { client, refusalOf }: Pick<McpSession, 'client' | 'refusalOf'>,
  { method, params = {} }: McpOfferRequest,
  signal: AbortSignal,
): Promise<McpOffered | McpRefusal> {
  const offer: { capability: 'resources' | 'prompts' | 'completions'; items?: string } = OFFERS[method];
  const { capability, items } = offer;
  const isAble = client.getServerCapabilities()?.[capability] !== undefined;
  const ask = (more: Readonly<Record<string, unknown>>): Promise<object> =>
    client.request({ method, params: { ...more } }, { signal, timeout: NO_TIMEOUT_MS });
  try {
    if (!isAble) return items === undefined ? refuse(capability) : { ok: true, result: { [items]: [] } };
    if (items === undefined) return { ok: true, result: { ...(await ask(params)) } };
    const all = await readPages(async (page) => {
      const { [items]: found, nextCursor } = Object(await ask(page));
      return { items: found, nextCursor };
    });
    return { ok: true, result: { [items]: all } };
  } catch (error) {
    return refusalOf(error);
  }
}

function refuse(capability: string): McpRefusal {
  return { ok: false, kind: 'refused', reason: `it offers no ${capability}` };
}
