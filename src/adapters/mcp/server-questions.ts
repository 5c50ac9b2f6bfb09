/**
 * What the server of a tool asks while it works on a call goes to the client whose call it is, and says which server asks:
 * nobody takes it for a question of Winnow. Clients of 2026-07-28 get it as the answer to their request; their call stays
 * under way in this process until they come again.
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
 * For clients with a connection: the question stands in the stream of the call that it is of.
 * @param onError told of a client that could not ask; the question is then dismissed
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

/** What a call came to, or what has to be answered before it goes on; `call` names it as long as this is the question. */
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
  /** Cancels what is under way. */
  end(): void;
}

/** Calls whose client has not come again; one more and the oldest is given up. */
const MOST_OPEN = 1_000;

interface OpenCall {
  readonly session: string;
  readonly stop: AbortController;
  /** Of the request that waits now, or was the last to wait. */
  ask: CallAskOptions;
  /** What the next request gets. */
  next: Deferred<Step>;
  /** Undefined: nothing is asked. */
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
        // Whether the client answers or nobody does, what comes next is for whoever comes then.
        call.answer = (answer) => {
          call.answer = undefined;
          call.next = createDeferred();
          answered.resolve(answer);
        };
        signal.addEventListener('abort', () => call.answer?.({ action: 'cancel' }), { once: true });
        const id = randomUUID();
        keepLatest(open, [id, call], MOST_OPEN);
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
        // Sent twice, it must not answer the next question.
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
  // Nobody may wait for it.
  promise.catch(() => undefined);
  return { promise, resolve, reject };
}
