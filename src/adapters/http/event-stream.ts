/**
 * A piece of work as server-sent events: what happens as it happens, then `result` or `error`. The stream opens with the
 * first event, so that what is refused before has the status that it deserves.
 */
import { PassThrough, type Readable } from 'node:stream';
import type { Problem } from './problem.js';

/** What a client has not read yet, in bytes: with more, it is taken to read no more, and the stream ends. */
const MAX_UNREAD_BYTES = 4 * 1024 * 1024;

export interface EventStreamOptions {
  /** What is called what happens, for example `stage`. */
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
      // What is one answer, however long, always has its room.
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
