/** Answers long work whole or as a stream of events. It is bounded, and cancelled when the client disconnects. */

import { PassThrough, type Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { accountOf } from '../../agents/contracts.js';
import { WinnowError } from '../../core/errors.js';
import type { Gate } from './gate.js';
import type { Stop } from './graceful-stop.js';
import type { Problem, ReportError } from './problem.js';

interface WorkParts {
  gate: Gate;
  stop: Stop;
  heartbeatMs: number;
  reportError: ReportError;
}

export interface WorkCall<Event> {
  signal: AbortSignal;
  onEvent: (event: Event) => void;
}

export interface Work<Event> {
  /** Name of its events in the stream. */
  event: string;
  run(call: WorkCall<Event>): Promise<unknown>;
}

export type AnswerWork = <Event>(request: FastifyRequest, reply: FastifyReply, work: Work<Event>) => Promise<unknown>;

/** Without `x-accel-buffering` nginx would buffer the events until the end. */
const EVENT_STREAM_HEADERS = {
  'content-type': 'text/event-stream',
  'x-accel-buffering': 'no',
  connection: 'close',
} as const;

export function createAnswerWork({ gate, stop, heartbeatMs, reportError }: WorkParts): AnswerWork {
  return async (request, reply, work) => {
    const signal = AbortSignal.any([disconnectSignalOf(reply), stop.signal]);
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

/** Fires if the client closes the connection before the answer is complete. */
export function disconnectSignalOf(reply: FastifyReply): AbortSignal {
  const disconnect = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) disconnect.abort();
  });
  return disconnect.signal;
}

// Work as server-sent events: each event when it happens, then `result` or `error`. The stream opens with the first event,
// so that an earlier refusal gets its own HTTP status.

/** Most unread bytes. The stream ends for a client with more, which has presumably stopped reading. */
const MAX_UNREAD_BYTES = 4 * 1024 * 1024;

interface EventStreamOptions {
  /** Name of the events, for example `stage`. */
  event: string;
  heartbeatMs: number;
  renderError: (thrown: unknown) => Problem;
}

/** @throws What the work throws before its first event. */
export function streamEvents<Event>(
  work: (onEvent: (event: Event) => void) => Promise<unknown>,
  { event: name, heartbeatMs, renderError }: EventStreamOptions,
): Promise<Readable> {
  return new Promise((open, refuse) => {
    const stream = new PassThrough();
    let isOpen = false;
    const write = (text: string): void => {
      isOpen = true;
      open(stream);
      // Counts earlier writes only, so that a single answer of any length goes out.
      if (stream.writableLength + stream.readableLength > MAX_UNREAD_BYTES) stream.destroy();
      if (stream.writable) stream.write(text);
    };
    const heartbeat = setInterval(() => write(': still at work\n\n'), heartbeatMs);
    stream.once('close', () => clearInterval(heartbeat));
    const send = (event: string, data: unknown): void => write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
    const end = (event: string, data: unknown): void => {
      send(event, data);
      clearInterval(heartbeat);
      stream.end();
    };
    work((event) => send(name, event)).then(
      (result) => end('result', result),
      (thrown: unknown) => {
        if (isOpen) return end('error', renderError(thrown));
        stream.destroy();
        refuse(thrown);
      },
    );
  });
}

// Whether an Accept header asks for an event stream: it must name the type itself, and not after JSON.

export function acceptsEventStream(accept: string | undefined): boolean {
  const ranges = (accept ?? '').split(',').map(parseRange);
  const best = ranges
    .filter(({ type, quality }) => quality > 0 && (type === 'text/event-stream' || type === 'application/json'))
    .sort((a, b) => b.quality - a.quality)[0];
  return best?.type === 'text/event-stream';
}

function parseRange(text: string): { type: string; quality: number } {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
  return { type, quality: quality === undefined ? 1 : Number(quality) || 0 };
}
