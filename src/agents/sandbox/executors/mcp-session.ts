/**
 * A connection to one MCP server that stays open over many calls. The outcome of a call says whether the server may
 * have begun it; the caller knows whether it may be repeated.
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
import { isObject, objectOf } from '../../../core/catalog/schema/json.js';
import {
  type AskedByServer,
  type ConnectOptions,
  connect,
  EndlessList,
  NO_TIMEOUT_MS,
  statusOf,
  type Told,
  type Way,
} from '../../../core/catalog/sources/mcp-connection.js';
import { createAnswerMask, type McpServer } from '../../../core/catalog/sources/mcp-server.js';
import { type HearNotification, rawResultSchema, type Sending } from '../../../core/catalog/sources/mcp-transport.js';
import { isNeverConnected, messageOf } from '../../../core/errors.js';
import { logMessageSchema, progressSchema } from '../../contracts.js';
import { type CallFailure, fail } from '../failure.js';
import type { ExecutorCall } from './executor.js';
import { type McpContent, maskContent, maskHeard } from './mcp-mask.js';

/**
 * `not_sent`: the server has not received the call, or says so. `unauthorized`: it needs a token. `lost`: the connection
 * broke during the call. `refused`: it rejected the call.
 */
export interface McpRefusal {
  readonly ok: false;
  readonly kind: 'not_sent' | 'unauthorized' | 'lost' | 'refused';
  readonly reason: string;
  /** The server has answered the call, so that it is its word alone that the call has not run. Default: false. */
  readonly isAnswered?: boolean;
  /** The HTTP status, where there was one. */
  readonly status?: number | undefined;
}

type CallOfExecutor = Pick<ExecutorCall, 'arguments' | 'user' | 'repeatable' | 'findRefusal' | 'onProgress' | 'onLog'>;

export interface McpToolCall extends CallOfExecutor {
  readonly name: string;
  /** The tool's schema as the server sent it: some arguments may also have to be sent as headers. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** Cancels the call at the server; the outcome is then `lost`. */
  readonly signal: AbortSignal;
  /** Called with the server's questions to a person during this call, unchecked. */
  readonly onQuestion: AskedByServer;
  /** Called with the reason why a question that may belong to this call was not asked. */
  readonly onUnasked: (reason: string) => void;
}

export interface McpSession {
  readonly client: Client;
  /** The outcome for an error that a request of the client has thrown. */
  refusalOf(error: unknown): McpRefusal;
  /** The protocol variant in which the server answered, so that the next connection need not try others. */
  readonly way: Way;
  /** False when the process has ended or the connection was closed. */
  isOpen(): boolean;
  /** Notes a user of the connection who makes no tool call. */
  noteUser(user: string | undefined): void;
  /** A refusal of `findRefusal` is returned as it is. */
  callTool(call: McpToolCall): Promise<({ ok: true } & McpContent) | McpRefusal | CallFailure>;
  /** Ends the process, or closes the session. Idempotent. */
  close(): Promise<void>;
}

interface McpSessionOptions extends Pick<ConnectOptions, 'way' | 'tokens' | 'onFlood'> {
  /** For the start of the server and the handshake. */
  readonly connectTimeoutMs: number;
}

/** @throws McpFailure whose message says what the server did, and what to do */
export async function openMcpSession(server: McpServer, options: McpSessionOptions): Promise<McpSession> {
  const { hear, ask, noteUser, listen } = createNotifications();
  const { connectTimeoutMs: timeoutMs, ...known } = options;
  const { client, way, told, sendWith, close } = await connect(server, { timeoutMs, ...known, hear, ask });
  const mask = createAnswerMask(server, options.tokens);
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
    noteUser,
    close() {
      isOpen = false;
      return close();
    },
    async callTool({ name, arguments: input, inputSchema, signal, repeatable, findRefusal, ...heard }) {
      if (!isOpen) return { ok: false, kind: 'not_sent', reason: 'the connection is closed' };
      const listener = maskHeard(heard, mask);
      const listening = listen(listener);
      let isAnswered = false;
      try {
        const logLevel = listener.onLog && way.era === 'modern' ? { [LOG_LEVEL_META_KEY]: 'info' } : {};
        const _meta = { progressToken: listening.token, ...logLevel };
        const toolDefinition = { name, inputSchema: { ...inputSchema, type: 'object' as const } };
        const options = { signal, timeout: NO_TIMEOUT_MS, toolDefinition, allowInputRequired: true };
        let answers: Answers = {};
        for (let round = 0; round <= MOST_ROUNDS; round++) {
          const sending = createSending({ repeatable, findRefusal });
          const params = { name, arguments: { ...input }, _meta, ...answers };
          const answer = await sendWith(sending, () => client.callTool(params, options)).finally(() => {
            isAnswered ||= sending.status !== undefined;
          });
          isAnswered = true;
          if (!isInputRequiredResult(answer)) return { ok: true, ...maskContent(readContent(answer), mask) };
          answers = await answerAll(answer, listener.onQuestion, signal);
        }
        return { ok: false, kind: 'refused', reason: `it asked its client more than ${MOST_ROUNDS} times` };
      } catch (error) {
        const end = error instanceof Stopped ? error.end : refusalOf(error);
        if ('kind' in end) return { ...end, isAnswered };
        // After an answer, the tool may have run.
        return isAnswered ? fail('cancelled', `The call was stopped before its end: ${end.reason}`) : end;
      } finally {
        listening.stop();
      }
    },
  };
}

/** Thrown in place of sending a call. */
class Stopped extends Error {
  readonly end: McpRefusal | CallFailure;

  constructor(end: McpRefusal | CallFailure) {
    super(end.reason);
    this.end = end;
  }
}

function createSending({ repeatable, findRefusal }: Pick<McpToolCall, 'repeatable' | 'findRefusal'>): Sending {
  const sending: Sending = {
    async allow() {
      const { status } = sending;
      const isRefused = status !== undefined && (status < 300 || status > 399);
      if (isRefused && !repeatable) {
        const reason = `HTTP ${status}, and this call is not sent twice`;
        throw new Stopped({ ok: false, kind: 'unauthorized', reason, status });
      }
      const refusal = await findRefusal();
      if (refusal) throw new Stopped(refusal);
    },
  };
  return sending;
}

/** Answers without content have no raw form. `_meta` is not checked key by key: it may have 100,000, and programs read it. */
function readContent(answer: object): McpContent {
  const { _meta, ...raw } = objectOf('raw' in answer ? answer.raw : {});
  if (!isObject(_meta)) return rawResultSchema.parse({ raw: { ...raw, _meta } }).raw;
  return { ...rawResultSchema.parse({ raw }).raw, _meta };
}

/** Limit of input rounds for servers of protocol 2026-07-28. */
const MOST_ROUNDS = 10;
const MOST_QUESTIONS = 20;
/** Pause before the next call where a server requests no input. */
const ROUND_PAUSE_MS = 250;

type Answers = Pick<InputRequiredResult, 'requestState'> & { inputResponses?: Record<string, ElicitResult> };

/** Input for the next round with a server of 2026-07-28. @throws ProtocolError for unsupported requests */
async function answerAll(
  { inputRequests = {}, requestState }: InputRequiredResult,
  ask: AskedByServer,
  signal: AbortSignal,
): Promise<Answers> {
  const inputResponses: Record<string, ElicitResult> = {};
  const questions = Object.entries(inputRequests);
  const strange = questions.find(([, { method }]) => method !== 'elicitation/create')?.[1].method;
  const problem = questions.length > MOST_QUESTIONS ? `${questions.length} answers at once` : strange;
  if (problem) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `it asks its client for ${problem}`);
  for (const [key, { params }] of questions) inputResponses[key] = await ask(params, signal);
  if (Object.keys(inputResponses).length === 0) await delay(ROUND_PAUSE_MS, undefined, { signal });
  return { inputResponses, ...(requestState === undefined ? {} : { requestState }) };
}

type Listener = Pick<McpToolCall, 'user' | 'onProgress' | 'onLog' | 'onQuestion' | 'onUnasked'>;

interface Notifications {
  readonly hear: HearNotification;
  readonly ask: AskedByServer;
  noteUser(user: string | undefined): void;
  /** Registers the listener of a call, which sends the token, until `stop`. */
  listen(listener: Listener): { token: string; stop(): void };
}

const progressNotificationSchema = progressSchema.extend({ progressToken: z.string() });

/**
 * Log messages, and questions of servers before 2026-07-28, don't name their call and may arrive after its end. So they
 * go to all running calls while a single user has used the connection, and are dropped after that. Questions also
 * require that only one call is running.
 */
function createNotifications(): Notifications {
  const listeners = new Map<string, Listener>();
  const users = new Set<string | undefined>();
  let calls = 0;
  /** Two are enough to know that there are several. */
  function noteUser(user: string | undefined): void {
    if (users.size < 2) users.add(user);
  }
  return {
    hear({ method, params }) {
      if (method === 'notifications/progress') {
        const { progressToken, ...progress } = progressNotificationSchema.safeParse(params).data ?? {};
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
    listen(listener) {
      noteUser(listener.user);
      calls += 1;
      const token = `call-${calls}`;
      listeners.set(token, listener);
      return { token, stop: () => void listeners.delete(token) };
    },
  };
}

const LOST: readonly string[] = [SdkErrorCode.ConnectionClosed, SdkErrorCode.RequestTimeout];

function readFailure(error: unknown, { reason: message, advice }: Told): McpRefusal {
  const status = statusOf(error);
  const end = (kind: McpRefusal['kind'], reason = message): McpRefusal => ({ ok: false, kind, reason, status });
  if (advice !== undefined) return end('unauthorized', `${message}. ${advice}.`);
  if (error instanceof ProtocolError || error instanceof EndlessList) return end('refused');
  // By the specification of MCP, 404 means that the session has ended and a new one is needed.
  if (status === 404) return end('not_sent');
  if (status !== undefined) return end(status >= 500 ? 'lost' : 'refused');
  if (error instanceof z.core.$ZodError) return end('refused', NO_FORM);
  if (error instanceof SdkError) {
    if (error.code === SdkErrorCode.InvalidResult) return end('refused', NO_FORM);
    if (error.code === SdkErrorCode.NotConnected) return end('not_sent');
    return end(LOST.includes(error.code) ? 'lost' : 'refused');
  }
  const { code, syscall } = Object(error instanceof Error ? error.cause : undefined);
  const isUnsent = messageOf(error) === 'Not connected' || isNeverConnected(String(code), syscall);
  return end(isUnsent ? 'not_sent' : 'lost');
}

const NO_FORM = 'the answer is not of the form of MCP';
