/**
 * How a body reaches the server: undici's `request`, which takes a quarter of the time of the platform's `fetch` (the
 * same library behind web streams), and sets no time for the answer, so that of the call holds also where a server reads
 * for ten minutes. What `fetch` does for its callers is done here too: redirections, compressed answers, and the
 * dispatcher that a program has set for all requests.
 */
import type { Readable, Transform } from 'node:stream';
import { text } from 'node:stream/consumers';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';

export interface Sending {
  method: 'POST';
  headers: Record<string, string>;
  body: string;
  signal: AbortSignal;
}

/** What is used of a `Response`. */
export interface Sent {
  readonly status: number;
  readonly headers: Pick<Headers, 'get'>;
  text(): Promise<string>;
}

export interface Connections {
  /** @throws whatever the network does; its `code` or that of its `cause` names it. */
  send(url: string, sending: Sending): Promise<Sent>;
  /** Lets go of what is idle at once, and of what is under way when it is done. Idempotent. */
  close(): Promise<void>;
}

const MAX_REDIRECTIONS = 5;
/** By content encoding. Nothing asks for one, but some gateways always compress. */
const DECODERS: ReadonlyMap<string, () => Transform> = new Map([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
]);

export function createConnections(): Connections {
  let opened: ReturnType<typeof open> | undefined;
  return {
    async send(url, sending) {
      if (hasOwnDispatcher()) return fetch(url, sending);
      opened ??= open();
      const { request, dispatcher } = await opened;
      const { statusCode, headers, body } = await request(url, { ...sending, dispatcher });
      const get = (name: string) => [headers[name]].flat()[0] ?? null;
      const decode = DECODERS.get(get('content-encoding')?.toLowerCase() ?? '');
      const read = () => (decode ? text(decoded(body, decode())) : body.text());
      return { status: statusCode, headers: { get }, text: read };
    },
    async close() {
      const closing = opened;
      opened = undefined;
      const dispatcher = (await closing)?.dispatcher;
      // It is done when all calls are.
      void dispatcher?.close();
    },
  };
}

/** Undici takes 65 ms to load, so not before the first call. */
async function open() {
  const { Agent, interceptors, request } = await import('undici');
  const redirect = interceptors.redirect({ maxRedirections: MAX_REDIRECTIONS });
  return { request, dispatcher: new Agent({ headersTimeout: 0, bodyTimeout: 0 }).compose(redirect) };
}

/**
 * Where undici keeps what `setGlobalDispatcher` has set, or Node itself under NODE_USE_ENV_PROXY: a proxy, a mock. Else it
 * is a plain agent, or nothing yet.
 */
const GLOBAL_DISPATCHER = Symbol.for('undici.globalDispatcher.1');

function hasOwnDispatcher(): boolean {
  const dispatcher: unknown = Reflect.get(globalThis, GLOBAL_DISPATCHER);
  return dispatcher !== undefined && Object(dispatcher).constructor.name !== 'Agent';
}

function decoded(body: Readable, decoder: Transform): Readable {
  body.once('error', (error) => decoder.destroy(error));
  return body.pipe(decoder);
}
