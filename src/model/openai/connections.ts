/**
 * How a body reaches the server: undici's `request`, which takes a quarter of the time of the platform's `fetch` (the
 * same library behind web streams). It sets no time of its own, so that of the call holds also where a server reads for
 * ten minutes. Redirections are followed as `fetch` does, without the key where they lead elsewhere.
 */

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
  /** Ends what is idle, and what is under way when it is done. Idempotent. */
  close(): Promise<void>;
}

const MAX_REDIRECTIONS = 5;

export function createConnections(): Connections {
  let opened: ReturnType<typeof open> | undefined;
  return {
    async send(url, sending) {
      opened ??= open();
      const { request, dispatcher } = await opened;
      const { statusCode, headers, body } = await request(url, { ...sending, dispatcher });
      return {
        status: statusCode,
        headers: { get: (name) => [headers[name]].flat()[0] ?? null },
        text: () => body.text(),
      };
    },
    async close() {
      const closing = opened;
      opened = undefined;
      await (await closing)?.dispatcher.close();
    },
  };
}

/** Undici takes 65 ms to load, so not before the first call. */
async function open() {
  const { Agent, interceptors, request } = await import('undici');
  const redirect = interceptors.redirect({ maxRedirections: MAX_REDIRECTIONS });
  return { request, dispatcher: new Agent({ headersTimeout: 0, bodyTimeout: 0 }).compose(redirect) };
}
