/**
 * One HTTP exchange with a pinned address. The name still stands in the Host header and in the check of the
 * certificate; each exchange has a connection of its own, so none can be taken over for another address.
 */
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { LookupFunction } from 'node:net';
import type { Address } from './address-guard.js';
import type { HttpRequest } from './build-request.js';

export interface HttpAnswer {
  readonly status: number;
  /** Names in lower case; what came twice is joined. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** The body was longer than `maxBytes`, and is not here. */
  readonly tooLarge: boolean;
}

export interface SendOptions {
  readonly address: Address;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

/** @throws Error of Node where there is no answer: refused, reset, a wrong certificate, aborted */
export function sendRequest(request: HttpRequest, { address, maxBytes, signal }: SendOptions): Promise<HttpAnswer> {
  const send = request.url.protocol === 'https:' ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const outgoing = send(request.url, {
      method: request.method,
      // No compression: a small body must not become a large one.
      headers: { 'accept-encoding': 'identity', ...request.headers, ...lengthOf(request) },
      agent: false,
      lookup: lookupOf(address),
      signal,
    });
    outgoing.on('error', reject);
    outgoing.on('response', (incoming) => {
      const chunks: Buffer[] = [];
      let size = 0;
      const headers = Object.fromEntries(
        Object.entries(incoming.headers).map(([name, value]) => [name, [value ?? ''].flat().join(', ')]),
      );
      const answer = { status: incoming.statusCode ?? 0, headers };
      incoming.on('error', reject);
      incoming.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size <= maxBytes) return chunks.push(chunk);
        resolve({ ...answer, body: Buffer.alloc(0), tooLarge: true });
        return outgoing.destroy();
      });
      incoming.on('end', () => resolve({ ...answer, body: Buffer.concat(chunks), tooLarge: false }));
    });
    outgoing.end(request.body);
  });
}

function lengthOf({ method, body }: HttpRequest): Record<string, number> {
  return body || /^P/u.test(method) ? { 'content-length': body?.length ?? 0 } : {};
}

/** Node asks for one address or for all, depending on its version and options. */
function lookupOf({ address, family }: Address): LookupFunction {
  return (_hostname, options, callback) => {
    if (options.all) callback(null, [{ address, family }]);
    else callback(null, address, family);
  };
}
