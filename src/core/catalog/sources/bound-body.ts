/** Limits what is read of an untrusted server's response: an endless body fails with an error. */

/** Enough for a picture of 5 MiB as base64; 10 MiB take half a second to parse and check. */
const MOST_BODY_BYTES = 6 * 2 ** 20;
/** Commas count the values: a million of them take seconds to parse. A picture has none. */
const MOST_BODY_COMMAS = 100_000;
const COMMA = 0x2c;

interface BodyBounds {
  /** Default: 6 MiB. In an event stream, which may be open for days, it limits each event. */
  readonly maxBytes?: number;
  /** Default: 100,000. */
  readonly maxCommas?: number;
  /** Called when an event stream is cut, since its reader may not notice an error in it. */
  readonly onCutStream?: () => void;
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

export function boundBody(response: Response, bounds: BodyBounds = {}): Response {
  const { maxBytes = MOST_BODY_BYTES, maxCommas = MOST_BODY_COMMAS, onCutStream } = bounds;
  const { body, status, statusText, headers } = response;
  if (!body) return response;
  const isStream = headers.get('content-type')?.startsWith('text/event-stream') === true;
  let bytes = 0;
  let commas = 0;
  let before = Buffer.alloc(0);
  const counting = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      // An empty line may be split between two chunks.
      const seen = isStream ? Buffer.concat([before, chunk]) : before;
      const end = Math.max(0, endOfEvents(seen) - before.length);
      before = Buffer.from(seen.subarray(-LONGEST_END));
      const first = end > 0 ? chunk.subarray(0, end) : chunk;
      bytes += first.length;
      commas += commasIn(first);
      const isTooLarge = bytes > maxBytes;
      const isTooWide = commas > maxCommas;
      if (end > 0) {
        bytes = chunk.length - end;
        commas = commasIn(chunk.subarray(end));
      }
      if (!isTooLarge && !isTooWide) return controller.enqueue(chunk);
      const most = isTooLarge ? `${maxBytes} bytes` : `${maxCommas} commas`;
      controller.error(new Error(`its answer has more than ${most}`));
      if (isStream) onCutStream?.();
    },
  });
  return new Response(body.pipeThrough(counting), { status, statusText, headers });
}

function commasIn(chunk: Uint8Array): number {
  let count = 0;
  for (const byte of chunk) if (byte === COMMA) count += 1;
  return count;
}

const EMPTY_LINES = ['\n\n', '\r\n\r\n', '\r\r'];

/** Bytes of an empty line that may end the previous chunk. */
const LONGEST_END = 3;

function endOfEvents(bytes: Buffer): number {
  return EMPTY_LINES.reduce((end, line) => {
    const start = bytes.lastIndexOf(line);
    return start < 0 ? end : Math.max(end, start + line.length);
  }, 0);
}
