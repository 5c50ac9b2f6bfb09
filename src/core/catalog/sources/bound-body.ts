/** What is read of the answer of a server that Winnow does not know: a body without end ends here, with an error. */

/** As the MCP SDK takes of the output of a process. */
const MOST_BODY_BYTES = 10 * 2 ** 20;

export interface BodyBounds {
  /** Default: 10 MiB. Of an event stream, which may be open for days, each event has so many. */
  readonly maxBytes?: number;
  /** Called when an event stream is cut, since who reads one need not hear of an error in it. */
  readonly onCutStream?: () => void;
}

/** The same answer, whose body fails above so many bytes. */
export function boundBody(response: Response, { maxBytes = MOST_BODY_BYTES, onCutStream }: BodyBounds = {}): Response {
  const { body, status, statusText, headers } = response;
  if (!body) return response;
  const isStream = headers.get('content-type')?.startsWith('text/event-stream') === true;
  let bytes = 0;
  const counting = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      const end = isStream ? endOfEvents(chunk) : 0;
      const isTooLarge = bytes + (end || chunk.length) > maxBytes;
      bytes = end > 0 ? chunk.length - end : bytes + chunk.length;
      if (!isTooLarge) return controller.enqueue(chunk);
      controller.error(new Error(`its answer has more than ${maxBytes} bytes`));
      if (isStream) onCutStream?.();
    },
  });
  return new Response(body.pipeThrough(counting), { status, statusText, headers });
}

const EMPTY_LINES = ['\n\n', '\r\n\r\n', '\r\r'];

/** Behind the last empty line; 0 where there is none. */
function endOfEvents(chunk: Uint8Array): number {
  const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  return EMPTY_LINES.reduce((end, line) => {
    const start = bytes.lastIndexOf(line);
    return start < 0 ? end : Math.max(end, start + line.length);
  }, 0);
}
