/**
 * An exchange with what it leads to: every address, also that of each redirect, is checked before it is connected to.
 * Only reads follow redirects, only to hosts that are allowed, and never from https to http.
 */
import { type CallFailure, fail } from '../../failure.js';
import type { AddressGuard } from './address-guard.js';
import type { HttpRequest } from './build-request.js';
import { type HttpAnswer, sendRequest } from './send-request.js';

export interface FollowOptions {
  readonly guard: AddressGuard;
  /** Origins (`https://host:port`) besides that of the request. */
  readonly allowedOrigins: ReadonlySet<string>;
  /** Headers and query parameters with credentials, which only the first origin gets. */
  readonly withCredentials: (request: HttpRequest) => HttpRequest;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

const MAX_REDIRECTS = 5;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** @throws what `sendRequest` throws */
export async function follow(
  request: HttpRequest,
  options: FollowOptions,
): Promise<{ ok: true; answer: HttpAnswer } | CallFailure> {
  const { origin } = request.url;
  let current = request;
  for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
    const pinned = await options.guard.pin(current.url.hostname);
    if (!pinned.ok) return pinned;
    const whole = current.url.origin === origin ? options.withCredentials(current) : current;
    const { maxBytes, signal } = options;
    const answer = await sendRequest(whole, { address: pinned.address, maxBytes, signal });
    const location = REDIRECTS.has(answer.status) ? answer.headers.location : undefined;
    if (location === undefined) return { ok: true, answer };
    const next = nextUrl(current, location, options.allowedOrigins);
    if (typeof next === 'string') return fail('redirect_refused', `The server sends the call elsewhere: ${next}.`);
    current = withoutArgumentHeaders({ ...current, url: next }, current.url.origin);
  }
  return fail('redirect_refused', `The server sent the call on more than ${MAX_REDIRECTS} times.`);
}

/** Where to go on, or why not. Query and fragment are not shown: they may hold a secret of the server's. */
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

/** What the document says goes into headers is meant for its own host. */
function withoutArgumentHeaders(request: HttpRequest, from: string): HttpRequest {
  if (request.url.origin === from) return request;
  return { ...request, headers: request.headers.accept === undefined ? {} : { accept: request.headers.accept } };
}
