/** Long work as an answer: whole, or as a stream of its events. Bounded, and cancelled when the client leaves. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { WinnowError } from '../../core/errors.js';
import { acceptsEventStream } from './accepts-event-stream.js';
import { accountOf } from './caller.js';
import { streamEvents } from './event-stream.js';
import type { Gate } from './gate.js';
import type { Stop } from './graceful-stop.js';
import type { ReportError } from './report-error.js';

export interface WorkParts {
  gate: Gate;
  stop: Stop;
  heartbeatMs: number;
  reportError: ReportError;
}

export interface Work<Event> {
  /** What an event is called in the stream. */
  event: string;
  run(call: { signal: AbortSignal; onEvent: (event: Event) => void }): Promise<unknown>;
}

export type AnswerWork = <Event>(request: FastifyRequest, reply: FastifyReply, work: Work<Event>) => Promise<unknown>;

/** `x-accel-buffering`: nginx would else hold the events back until the end. */
const EVENT_STREAM_HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
  connection: 'close',
} as const;

export function createAnswerWork({ gate, stop, heartbeatMs, reportError }: WorkParts): AnswerWork {
  return async (request, reply, work) => {
    const signal = AbortSignal.any([leavingOf(reply), stop.signal]);
    const user = accountOf(request.identity.caller);
    const run = async (onEvent: Parameters<typeof work.run>[0]['onEvent']): Promise<unknown> => {
      try {
        return await gate.run(user, () => work.run({ signal, onEvent }));
      } catch (error) {
        if (!stop.signal.aborted) throw error;
        throw new WinnowError('overloaded', 'The server stopped before the answer was ready.', { cause: error });
      }
    };
    if (!acceptsEventStream(request.headers.accept)) return run(() => {});
    const renderError = (thrown: unknown) => reportError(thrown, request);
    const stream = await streamEvents(run, { event: work.event, heartbeatMs, renderError });
    return reply.headers(EVENT_STREAM_HEADERS).send(stream);
  };
}

/** Fires when the client closes the connection before it has the whole answer. */
export function leavingOf(reply: FastifyReply): AbortSignal {
  const leaving = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) leaving.abort();
  });
  return leaving.signal;
}
