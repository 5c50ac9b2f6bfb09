/**
 * Questions of a tool's server during a call go to the client of that call. They name the server, so that they don't pass
 * for questions of Winnow. Clients of 2026-07-28 get one as the answer to their request; their call stays open in this
 * process until they return.
 */
import { randomUUID } from 'node:crypto';
import { ElicitRequestFormParamsSchema } from '@modelcontextprotocol/core';
import type { ElicitRequestFormParams } from '@modelcontextprotocol/server';
import type { CallResult } from '../../agents/contracts.js';
import type { AskPerson, ServerAnswer, ServerQuestion } from '../../agents/hearing.js';
import type { CallAskOptions } from '../../agents/router.js';
import { NO_TIMEOUT_MS } from '../../core/catalog/sources/mcp-connection.js';
import { keepLatest } from '../../core/kept.js';
import type { Asked } from './answering.js';
import { canAskPerson, type PersonServer } from './ask-person.js';

export function formOf({ server, message, requestedSchema }: ServerQuestion): ElicitRequestFormParams {
  const whole = `The MCP server ${JSON.stringify(server)} asks: ${message}`;
  return ElicitRequestFormParamsSchema.parse({ mode: 'form', message: whole, requestedSchema });
}

/**
 * For clients with a connection: sends the question in the stream of its call.
 * @param onError called if the client could not ask; the question is then dismissed
 * @returns undefined for a client that can't ask
 */
export function askingIn(
  { id: relatedRequestId }: Pick<Asked, 'id'>,
  server: PersonServer,
  onError: (error: unknown) => void,
): AskPerson | undefined {
  if (!canAskPerson(server.getClientCapabilities())) return undefined;
  return async (question, signal) => {
    try {
      return await server.elicitInput(formOf(question), { signal, relatedRequestId, timeout: NO_TIMEOUT_MS });
    } catch (error) {
      if (!signal.aborted) onError(error);
      return { action: 'cancel' };
    }
  };
}

/** The result of a call, or a question to answer first; `call` is its id as long as this is the question. */
export type Step = { readonly result: CallResult } | { readonly question: ServerQuestion; readonly call: string };

export interface OpenCalls {
  /** @throws what the work throws */
  begin(session: string, ask: CallAskOptions, work: (ask: CallAskOptions) => Promise<CallResult>): Promise<Step>;
  /**
   * @param answer undefined: the client has none, and gets the question again
   * @returns undefined: the session has no such call in this process
   */
  goOn(
    call: string,
    session: string,
    about: { ask: CallAskOptions; answer: ServerAnswer | undefined },
  ): Promise<Step> | undefined;
  /** Cancels all open calls. */
  end(): void;
}

/** Most calls that wait for their client; one more drops the oldest. */
const MAX_OPEN_CALLS = 1_000;

interface OpenCall {
  readonly session: string;
  readonly stop: AbortController;
  /** Options of the request that waits now, or was the last to wait. */
  ask: CallAskOptions;
  /** The answer to the next request. */
  next: Deferred<Step>;
  /** Undefined: no question is open. */
  answer?: ((answer: ServerAnswer) => void) | undefined;
}

export function createOpenCalls(): OpenCalls {
  const open = new Map<string, OpenCall>();

  /** A request that is cancelled cancels the call that it waits for. */
  async function wait(call: OpenCall): Promise<Step> {
    const { signal } = call.ask;
    const cancel = () => call.stop.abort();
    signal?.addEventListener('abort', cancel, { once: true });
    if (signal?.aborted) cancel();
    try {
      return await call.next.promise;
    } finally {
      signal?.removeEventListener('abort', cancel);
    }
  }

  return {
    begin(session, ask, work) {
      const call: OpenCall = { session, ask, stop: new AbortController(), next: createDeferred() };
      const onQuestion: AskPerson = async (question, signal) => {
        const answered = createDeferred<ServerAnswer>();
        // With or without an answer, the next step of the call goes to the next request.
        call.answer = (answer) => {
          call.answer = undefined;
          call.next = createDeferred();
          answered.resolve(answer);
        };
        const id = randomUUID();
        const dismiss = () => {
          open.delete(id);
          call.answer?.({ action: 'cancel' });
        };
        signal.addEventListener('abort', dismiss, { once: true });
        keepLatest(open, [id, call], MAX_OPEN_CALLS);
        call.next.resolve({ question, call: id });
        return answered.promise;
      };
      const onProgress: CallAskOptions['onProgress'] = (progress) => call.ask.onProgress?.(progress);
      const onLog: CallAskOptions['onLog'] = (message) => call.ask.onLog?.(message);
      work({ ...ask, signal: call.stop.signal, onProgress, onLog, onQuestion }).then(
        (result) => call.next.resolve({ result }),
        (error: unknown) => call.next.reject(error),
      );
      return wait(call);
    },

    goOn(id, session, { ask, answer }) {
      const call = open.get(id);
      if (call?.session !== session) return undefined;
      call.ask = ask;
      if (answer) {
        // A repeated answer must not answer the next question.
        open.delete(id);
        call.answer?.(answer);
      }
      return wait(call);
    },

    end() {
      for (const { stop } of open.values()) stop.abort();
      open.clear();
    },
  };
}

interface Deferred<T> {
  readonly promise: Promise<T>;
  resolve(value: T): void;
  reject(error: unknown): void;
}

function createDeferred<T>(): Deferred<T> {
  let resolve: (value: T) => void = () => {};
  let reject: (error: unknown) => void = () => {};
  const promise = new Promise<T>((...both) => {
    [resolve, reject] = both;
  });
  // Without a waiting request, a rejection must not be unhandled.
  promise.catch(() => undefined);
  return { promise, resolve, reject };
}
