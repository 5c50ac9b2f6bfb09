/**
 * An HTTP exchange with its redirects. Every address is checked before the connection. Only reads follow redirects,
 * only to allowed hosts, and never from https to http.
 */

import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { LookupFunction } from 'node:net';
import { type CallFailure, describeThrown, fail } from '../../failure.js';
import type { ExecutorCall } from '../executor.js';
import type { Address, AddressGuard } from './address-guard.js';
import type { HttpRequest } from './build-request.js';

interface FollowOptions extends Pick<ExecutorCall, 'findRefusal'> {
  readonly guard: AddressGuard;
  /** Origins (`https://host:port`) that are allowed besides that of the request. */
  readonly allowedOrigins: ReadonlySet<string>;
  /** Headers and query parameters with credentials, which only the first origin gets. */
  readonly withCredentials: (request: HttpRequest) => HttpRequest;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

const MAX_REDIRECTS = 5;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** @throws what `sendRequest` throws, for the first request */
export async function follow(
  request: HttpRequest,
  options: FollowOptions,
): Promise<{ ok: true; answer: HttpAnswer } | CallFailure> {
  const { origin } = request.url;
  let current = request;
  const { guard, findRefusal, maxBytes, signal } = options;
  for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
    const pinned = await guard.pin(current.url.hostname);
    if (!pinned.ok) return hops === 0 ? pinned : afterRedirect(pinned);
    const refusal = hops === 0 ? await findRefusal() : undefined;
    if (refusal) return refusal;
    const whole = current.url.origin === origin ? options.withCredentials(current) : current;
    const answer = await sendRequest(whole, { address: pinned.address, maxBytes, signal }).catch((error: unknown) => {
      if (hops === 0) throw error;
      return fail('connection_lost', `No answer from ${current.url.origin}: ${describeThrown(error)}`);
    });
    if ('ok' in answer) return answer;
    const location = REDIRECTS.has(answer.status) ? answer.headers.location : undefined;
    if (location === undefined) return { ok: true, answer };
    const next = nextUrl(current, location, options.allowedOrigins);
    if (typeof next === 'string') return fail('redirect_refused', `The server sends the call elsewhere: ${next}.`);
    current = withoutArgumentHeaders({ ...current, url: next }, current.url.origin);
  }
  return fail('redirect_refused', `The server sent the call on more than ${MAX_REDIRECTS} times.`);
}

/** A server has had the call by then, so it may have run. */
function afterRedirect({ code, reason }: CallFailure): CallFailure {
  return fail(code === 'address_refused' ? 'redirect_refused' : 'connection_lost', reason);
}

/** The next URL, or why there is none. Omits query and fragment, which may hold secrets of the server. */
export function nextUrl(
  request: Pick<HttpRequest, 'method' | 'url'>,
  location: string,
  allowed: ReadonlySet<string>,
): URL | string {
  if (!URL.canParse(location, request.url.href)) return 'to a place that is no URL';
  const next = new URL(location, request.url);
  const place = `${next.origin}${next.pathname}`;
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    return `to ${place}, which is only followed for calls that read`;
  }
  if (next.username !== '' || next.password !== '') return `to ${next.host} with a user name`;
  if (request.url.protocol === 'https:' && next.protocol !== 'https:') return `to ${place}, without encryption`;
  const isKnown = next.origin === request.url.origin || allowed.has(next.origin);
  return isKnown ? next : `to ${place}, a host that is not allowed`;
}

/** Header arguments are meant for the document's own host. */
function withoutArgumentHeaders(request: HttpRequest, from: string): HttpRequest {
  if (request.url.origin === from) return request;
  return { ...request, headers: request.headers.accept === undefined ? {} : { accept: request.headers.accept } };
}

// One HTTP exchange with a pinned address. The Host header and the certificate check still use the name. Each exchange
// has its own connection, so none is reused for another address.

export interface HttpAnswer {
  readonly status: number;
  /** Names in lower case; repeated headers are joined. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** The body was longer than `maxBytes` and is left out. */
  readonly tooLarge: boolean;
}

/** @throws Error of Node where there is no answer: refused, reset, a wrong certificate, aborted */
function sendRequest(
  request: HttpRequest,
  { address, maxBytes, signal }: Pick<FollowOptions, 'maxBytes' | 'signal'> & { address: Address },
): Promise<HttpAnswer> {
  const send = request.url.protocol === 'https:' ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const outgoing = send(request.url, {
      method: request.method,
      // No compression, so that a small body can't expand to a large one.
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
