/** An operation and its arguments -> the HTTP request. No argument can change the host, the path's form or a header of ours. */
import { buildBody, type GivenArgument } from './build-body.js';
import type { ArgumentTarget, HttpTarget } from './http-target.js';
import { serializeCookie, serializeHeader, serializePath, serializeQuery } from './serialize-parameter.js';

export interface HttpRequest {
  readonly method: string;
  readonly url: URL;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | undefined;
}

export type BuiltRequest = { ok: true; request: HttpRequest } | { ok: false; issues: string[] };

type Arguments = Readonly<Record<string, unknown>>;

/** Decide where a request goes, how long it is, or what stands between us and the server. */
const OWN_HEADERS =
  /^(?:host|content-length|transfer-encoding|connection|keep-alive|upgrade|te|trailer|expect|cookie|via|forwarded|x-forwarded-.*|proxy-.*|accept-encoding)$/iu;
const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/u;
/** The one thing that could split a header. */
const LINE_BREAK = /[\r\n\0]/u;

export async function buildRequest(target: HttpTarget, server: URL, input: Arguments): Promise<BuiltRequest> {
  const given = Object.entries(input).flatMap(([argument, value]) => {
    const place = target.parameters[argument];
    return place && Object.hasOwn(target.parameters, argument) ? [{ argument, value, place }] : [];
  });
  const issues: string[] = [];
  const at = (where: ArgumentTarget['in']) => given.filter(({ place }) => place.in === where);
  const path = fillPath(target.path, at('path'), issues);
  const query = at('query').flatMap(({ argument, value, place }) =>
    value === null ? [] : serializeQuery(place, place.name ?? argument, value),
  );
  const body = await buildBody(target.contentType, at('body'), issues);
  const headers = { ...readHeaders(at('header'), issues), ...readCookies(at('cookie')), ...body?.headers };
  if (issues.length > 0) return { ok: false, issues };
  const url = new URL(server);
  url.pathname = `${server.pathname.replace(/\/+$/u, '')}${path}`;
  url.search = [server.search.slice(1), ...query].filter(Boolean).join('&');
  return { ok: true, request: { method: target.method, url, headers, body: body?.bytes } };
}

/** A segment that an argument made empty, `.` or `..` would lead to another operation. */
function fillPath(template: string, given: readonly GivenArgument[], issues: string[]): string {
  const byName = new Map(given.map((one) => [one.place.name ?? one.argument, one]));
  const segments = template.split('/').map((segment) => {
    if (!segment.includes('{')) return segment;
    const names: string[] = [];
    const filled = segment.replace(/\{([^{}]+)\}/gu, (_, name: string) => {
      const one = byName.get(name);
      names.push(one?.argument ?? name);
      if (!one || one.value === null) return '';
      return serializePath(one.place, name, one.value);
    });
    if (/^(?:\.|%2e){0,2}$/iu.test(filled))
      issues.push(`${names.join(', ')}: must not be empty, "." or ".." in a path`);
    return filled;
  });
  return segments.join('/');
}

function readHeaders(given: readonly GivenArgument[], issues: string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const { argument, value, place } of given) {
    const name = place.name ?? argument;
    if (value === null) continue;
    const text = serializeHeader(place, value);
    if (OWN_HEADERS.test(name) || !HEADER_NAME.test(name)) issues.push(`${argument}: the header ${name} can't be set`);
    else if (LINE_BREAK.test(text)) issues.push(`${argument}: a header must not hold a line break`);
    else headers[name.toLowerCase()] = asLatin1(text);
  }
  return headers;
}

/** Headers are bytes; what is beyond Latin-1 goes as UTF-8, as browsers do it. */
function asLatin1(text: string): string {
  return /[^\p{ASCII}\u00A0-\u00FF]/u.test(text) ? Buffer.from(text, 'utf8').toString('latin1') : text;
}

function readCookies(given: readonly GivenArgument[]): Record<string, string> {
  const cookies = given
    .filter(({ value }) => value !== null)
    .map(({ argument, value, place }) => serializeCookie(place, encodeURIComponent(place.name ?? argument), value));
  return cookies.length === 0 ? {} : { cookie: cookies.join('; ') };
}
