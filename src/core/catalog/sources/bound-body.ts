/**
 * Limits what is read of an untrusted server: an endless body fails with an error, and so does a stream that brings much
 * that nobody asked for.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { withoutUrlKeys } from '../../secret-forms.js';

/** Enough for a picture of 5 MiB as base64; 10 MiB take half a second to parse and check. */
const MOST_BODY_BYTES = 6 * 2 ** 20;
/** Commas and opening brackets count the values: a million of them take seconds to parse. A picture has none. */
const MOST_BODY_VALUES = 100_000;
const COMMA = 0x2c;
const LIST = 0x5b;
const OBJECT = 0x7b;
const LIST_END = 0x5d;
const OBJECT_END = 0x7d;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LF = 0x0a;
const CR = 0x0d;

/** What a server may send beside its answers: so much at once, and then each second. A message takes up to 100 µs. */
const MOST_MESSAGES = 10_000;
const MESSAGES_A_SECOND = 500;
const MOST_STREAM_BYTES = 16 * 2 ** 20;
const STREAM_BYTES_A_SECOND = 2 ** 20;
/** About a hundred messages: others have a turn before the next part. */
const PART_BYTES = 8_192;
/** In a JSON list, all of whose messages are handled in one turn. */
const MOST_LISTED_MESSAGES = 100;

/** Its streams share the messages. Each has bytes of its own, since several answers may be on their way. */
export interface Flow {
  /** Called for each answer to a request, which counts for nothing. */
  answered(): void;
  /** @returns a function that counts what an answer or stream brings, and returns what was too much of it */
  openStream(): (messages: number, bytes: number) => string | undefined;
}

/** Counts what a server sends on one connection. */
export function createFlow(): Flow {
  const messages = createBucket(MOST_MESSAGES, MESSAGES_A_SECOND);
  let answers = 0;
  return {
    answered() {
      answers += 1;
      messages.give(1);
    },
    openStream() {
      const bytes = createBucket(MOST_STREAM_BYTES, STREAM_BYTES_A_SECOND);
      let seen = answers;
      return (count, length) => {
        if (seen < answers) bytes.give(MOST_STREAM_BYTES);
        seen = answers;
        if (!messages.take(count)) return `sent more than ${MOST_MESSAGES} messages that nobody asked for`;
        return bytes.take(length) ? undefined : `sent more than ${MOST_STREAM_BYTES} bytes that nobody asked for`;
      };
    },
  };
}

function createBucket(most: number, aSecond: number) {
  let left = most;
  let at = performance.now();
  function give(count: number): void {
    left = Math.min(most, left + count);
  }
  return {
    give,
    take(count: number): boolean {
      const now = performance.now();
      give(((now - at) / 1_000) * aSecond);
      at = now;
      left -= count;
      return left >= 0;
    },
  };
}

export interface BodyBounds {
  /** What the caller can read. An answer that is OK and neither of them has no body. Default: any text, never a stream. */
  readonly reads?: 'stream' | 'stream or JSON';
  /** Default: 6 MiB. In an event stream, which may be open for days, it limits each event. */
  readonly maxBytes?: number;
  /** Default: 100,000. */
  readonly maxValues?: number;
  /** Counts all that event streams bring. Default: only each event or body has a limit. */
  readonly flow?: Flow;
  /** Called when an event stream is cut, since its reader may not notice an error in it. @param flood what was too much */
  readonly onCutStream?: (flood: string | undefined) => void;
}

/**
 * Fetches with a limit on what is read. By undici's own `fetch`: the one of Node 20 ends the process when a server names
 * more than five encodings and goes away.
 */
export async function fetchBounded(url: string | URL, init: RequestInit, bounds?: BodyBounds): Promise<Response> {
  // Loaded on demand, since most catalogues are files.
  const undici = await import('undici');
  // It takes all that `fetch` of Node does; their types differ in iterators of FormData alone.
  return boundBody(await (undici.fetch as typeof fetch)(url, init), bounds);
}

/** The largest public OpenAPI documents have about 12 MB. */
const MOST_DOCUMENT_BYTES = 64 * 2 ** 20;

/** The text of a document. A redirect is an error, since it may lead to a server that nobody trusts. */
export async function fetchDocument(url: string, signal: AbortSignal): Promise<string> {
  const bounds = { maxBytes: MOST_DOCUMENT_BYTES, maxValues: Number.POSITIVE_INFINITY };
  const response = await fetchBounded(url, { signal, redirect: 'manual' }, bounds);
  const location = response.headers.get('location');
  if (location !== null) throw new Error(`it redirects to ${withoutUrlKeys(location)}; if you trust it, name that URL`);
  if (!response.ok) throw new Error(`HTTP ${response.status}`);
  return response.text();
}

export function boundBody(response: Response, bounds: BodyBounds = {}): Response {
  const { reads, maxBytes = MOST_BODY_BYTES, maxValues = MOST_BODY_VALUES, flow, onCutStream } = bounds;
  const { body, ok, status, statusText, headers } = response;
  if (!body) return response;
  const type = headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
  const isStream = reads !== undefined && status === 200 && type === 'text/event-stream';
  const isJson = reads === 'stream or JSON' && type === 'application/json';
  if (reads && ok && !isStream && !isJson) {
    // The SDK reads as a stream some answers with other types or statuses, whose events nobody would count.
    body.cancel().catch(() => undefined);
    return new Response(null, { status, statusText, headers });
  }
  const read = isStream ? createLineEnds() : (chunk: Uint8Array) => chunk;
  const count = createCounter(isStream ? 'event' : 'one');
  const countListed = isJson ? createListCounter() : () => 0;
  const countFlow = flow?.openStream();
  const counting = new TransformStream<Uint8Array, Uint8Array>({
    async transform(chunk, controller) {
      const text = read(chunk);
      const counted = count(text);
      const isLong = countListed(text) > MOST_LISTED_MESSAGES;
      const listed = isLong ? `sent a list of more than ${MOST_LISTED_MESSAGES} messages` : undefined;
      const flood = listed ?? countFlow?.(counted.messages, chunk.length);
      const excess = flood ?? excessOf(counted, { maxBytes, maxValues });
      if (excess === undefined) {
        // Without a line end it only waits for the rest of its line.
        const part = isStream && text.includes(LF) ? PART_BYTES : text.length;
        for (let at = 0; at < text.length; at += part) {
          controller.enqueue(text.subarray(at, at + part));
          // A socket that always has more would be read 32 times before anybody else has a turn.
          if (isStream) await nextTurn();
        }
        return;
      }
      controller.error(new Error(`it ${excess}`));
      if (isStream || flood !== undefined) onCutStream?.(flood);
    },
  });
  return new Response(body.pipeThrough(counting), { status, statusText, headers });
}

/**
 * Ends each line of an event stream by a line feed. With a carriage return in a part, the SDK's parser would search all
 * the rest of the part for another one at each line, which takes seconds.
 */
function createLineEnds(): (chunk: Uint8Array) => Uint8Array {
  let before = 0;
  return (chunk) => {
    const text = new Uint8Array(chunk.length);
    let length = 0;
    for (const byte of chunk) {
      if (byte !== LF || before !== CR) text[length++] = byte === CR ? LF : byte;
      before = byte;
    }
    return text.subarray(0, length);
  };
}

interface Counted {
  /** Of the largest message that has a part in the chunk. */
  readonly bytes: number;
  readonly values: number;
  /** Those that end in the chunk: comments alone are one, too. */
  readonly messages: number;
}

/** What is too much of one message, for `it …`. Default: the bounds of answers. */
export function excessOf(
  { bytes, values }: Counted,
  { maxBytes = MOST_BODY_BYTES, maxValues = MOST_BODY_VALUES }: BodyBounds = {},
): string | undefined {
  if (bytes > maxBytes) return `sent an answer of more than ${maxBytes} bytes`;
  return values > maxValues ? `sent an answer of more than ${maxValues} values` : undefined;
}

/** @param each message is the whole text, a line, or an event; a line feed ends a line, and an empty line an event */
export function createCounter(each: 'one' | 'line' | 'event'): (chunk: Uint8Array) => Counted {
  let bytes = 0;
  let commas = 0;
  let opened = 0;
  let before = 0;
  return (chunk) => {
    const most = { bytes: 0, values: 0, messages: 0 };
    const note = () => {
      most.bytes = Math.max(most.bytes, bytes);
      most.values = Math.max(most.values, commas, opened);
    };
    for (const byte of chunk) {
      bytes += 1;
      if (byte === COMMA) commas += 1;
      else if (byte === LIST || byte === OBJECT) opened += 1;
      if (byte === LF && (each === 'line' || (each === 'event' && before === LF))) {
        note();
        most.messages += 1;
        bytes = 0;
        commas = 0;
        opened = 0;
      }
      before = byte;
    }
    note();
    return most;
  };
}

/** @returns a function that counts the messages so far of a JSON body, which is one or a list of them */
function createListCounter(): (chunk: Uint8Array) => number {
  let first = 0;
  let messages = 1;
  let depth = 0;
  let isText = false;
  let isEscaped = false;
  return (chunk) => {
    if (first === OBJECT) return 1;
    for (const byte of chunk) {
      if (isText) {
        isText = byte !== QUOTE || isEscaped;
        isEscaped = byte === BACKSLASH && !isEscaped;
      } else if (byte === QUOTE) isText = true;
      else if (byte === LIST || byte === OBJECT) {
        first ||= byte;
        if (first === OBJECT) return 1;
        depth += 1;
      } else if (byte === LIST_END || byte === OBJECT_END) depth -= 1;
      else if (byte === COMMA && depth === 1) messages += 1;
    }
    return messages;
  };
}
