/** An operation and its arguments -> an HTTP request. Arguments can't change host, path structure or our headers. */

import { z } from 'zod';
import { isObject } from '../../../../core/catalog/schema/json.js';
import type { Tool } from '../../../../core/catalog/tool.js';
import {
  type ArgumentTarget,
  argumentTargetSchema,
  serializeCookie,
  serializeHeader,
  serializePath,
  serializeQuery,
  toText,
} from './serialize-parameter.js';

export interface HttpRequest {
  readonly method: string;
  readonly url: URL;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | undefined;
}

type BuiltRequest = { ok: true; request: HttpRequest } | { ok: false; issues: string[] };

type Arguments = Readonly<Record<string, unknown>>;

/** Headers that decide the target, the length or the transport of a request. */
const OWN_HEADERS =
  /^(?:host|content-length|transfer-encoding|connection|keep-alive|upgrade|te|trailer|expect|cookie|via|forwarded|x-forwarded-.*|proxy-.*|accept-encoding)$/iu;
const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/u;
/** Characters that could split a header. */
const LINE_BREAK = /[\r\n\0]/u;

export async function buildRequest(target: HttpTarget, server: URL, input: Arguments): Promise<BuiltRequest> {
  const given = Object.entries(input).flatMap(([argument, value]) => {
    const place = target.parameters[argument];
    return place && Object.hasOwn(target.parameters, argument) ? [{ argument, value, place }] : [];
  });
  const issues: string[] = [];
  const at = (where: ArgumentTarget['in']) => given.filter(({ place }) => place.in === where);
  const path = fillPath(target.path, at('path'), issues);
  const query = writeQuery(at('query'), { target, server }, issues);
  const body = await buildBody(target.contentType, at('body'), issues);
  const headers = { ...readHeaders(at('header'), issues), ...readCookies(at('cookie')), ...body?.headers };
  if (issues.length > 0) return { ok: false, issues };
  const url = new URL(server);
  url.pathname = `${server.pathname.replace(/(?<!\/)\/+$/u, '')}${path}`;
  url.search = [server.search.slice(1), ...query].filter(Boolean).join('&');
  return { ok: true, request: { method: target.method, url, headers, body: body?.bytes } };
}

/** A segment that is empty, `.` or `..` because of an argument would lead to another operation. */
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

/**
 * Servers take `Mode`, ` mode`, `mode[]` and `mode.x` for the parameter `mode`, each by its own rules. Some write `_` for
 * what no variable may hold, so that `user.id`, `user id` and `user[id` are `user_id`.
 */
function asServersRead(name: string): string[] {
  const [whole = ''] = name.trim().toLowerCase().split('\0');
  const [first = ''] = whole.split(/[[.]/u);
  const [field = ''] = whole.split('[');
  return [first.trim(), ...[field, whole].map((text) => text.replace(/[\s.[]/gu, '_'))];
}

/** An object writes its fields as parameters, which must not be those of others: rules see only its own argument. */
function writeQuery(
  given: readonly GivenArgument[],
  { target, server }: { target: HttpTarget; server: URL },
  issues: string[],
): string[] {
  const credentials = (target.security ?? []).flat().filter((one) => one.in === 'query');
  const parameters = Object.entries(target.parameters).flatMap(([argument, place]) =>
    place.in === 'query' ? [place.name ?? argument] : [],
  );
  const exact = new Set([...server.searchParams.keys(), ...credentials.map(({ name }) => name), ...parameters]);
  const alike = new Set([...exact].flatMap(asServersRead));
  return given.flatMap(({ argument, value, place }) => {
    if (value === null) return [];
    const own = place.name ?? argument;
    const isOfAnother = (name: string) => {
      const isAlike = (read: string) => alike.has(read) && !asServersRead(own).includes(read);
      return name !== own && (exact.has(name) || asServersRead(name).some(isAlike));
    };
    const written = serializeQuery(place, own, value);
    const taken = written.map((pair) => decodeURIComponent(pair.split('=', 1)[0] ?? '')).find(isOfAnother);
    if (taken !== undefined) issues.push(`${argument}: must not hold "${taken}", which is a parameter of its own`);
    return written;
  });
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

/** Headers are bytes; characters beyond Latin-1 are sent as UTF-8, as in browsers. */
function asLatin1(text: string): string {
  return /[^\p{ASCII}\u00A0-\u00FF]/u.test(text) ? Buffer.from(text, 'utf8').toString('latin1') : text;
}

function readCookies(given: readonly GivenArgument[]): Record<string, string> {
  const cookies = given
    .filter(({ value }) => value !== null)
    .map(({ argument, value, place }) => serializeCookie(place, encodeURIComponent(place.name ?? argument), value));
  return cookies.length === 0 ? {} : { cookie: cookies.join('; ') };
}

// The HTTP call of an operation, as `catalog/sources/openapi.ts` writes it.

const credentialSchema = z.object({
  scheme: z.string(),
  in: z.enum(['header', 'query', 'cookie']),
  name: z.string(),
  form: z.enum(['bearer', 'basic']).optional(),
});
export type Credential = z.infer<typeof credentialSchema>;

const httpTargetSchema = z.object({
  method: z.enum(['GET', 'PUT', 'POST', 'DELETE', 'OPTIONS', 'HEAD', 'PATCH']),
  path: z.string().startsWith('/'),
  server: z.string().optional(),
  parameters: z.record(z.string(), argumentTargetSchema),
  contentType: z.string().optional(),
  security: z.array(z.array(credentialSchema)).optional(),
});
export type HttpTarget = z.infer<typeof httpTargetSchema>;

/** Undefined for tools that are no operation, and for TRACE, which only echoes its request. */
export function readHttpTarget(tool: Tool): HttpTarget | undefined {
  return httpTargetSchema.safeParse(tool.metadata.http).data;
}

// The request body, in the media type of the document.

interface GivenArgument {
  readonly argument: string;
  readonly value: unknown;
  readonly place: ArgumentTarget;
}

interface Body {
  readonly bytes: Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
}

/** Undefined where there is nothing to send. */
async function buildBody(
  contentType: string | undefined,
  given: readonly GivenArgument[],
  issues: string[],
): Promise<Body | undefined> {
  if (contentType === undefined || given.length === 0) return undefined;
  const whole = given.find(({ place }) => place.name === undefined);
  const value = whole
    ? whole.value
    : Object.fromEntries(given.map(({ argument, value, place }) => [place.name ?? argument, value]));
  const type = contentType.split(';')[0]?.trim().toLowerCase() ?? '';
  if (isJson(type)) return textBody(JSON.stringify(value), contentType);
  if (type === 'application/x-www-form-urlencoded' && isObject(value)) return textBody(toForm(value), contentType);
  if (type === 'multipart/form-data' && isObject(value)) return toMultipart(value);
  if (typeof value === 'string') return textBody(value, contentType);
  issues.push(`${whole?.argument ?? 'body'}: must be a text, since the operation takes ${type}`);
  return undefined;
}

function isJson(type: string): boolean {
  return /^application\/(?:[\w.-]+\+)?json$/u.test(type);
}

function textBody(text: string, contentType: string): Body {
  return { bytes: Buffer.from(text, 'utf8'), headers: { 'content-type': contentType } };
}

/** Lists are repeated, nested objects become JSON: the defaults of OpenAPI's "Encoding Object". */
function toForm(value: Readonly<Record<string, unknown>>): string {
  return new URLSearchParams(fieldsOf(value)).toString();
}

async function toMultipart(value: Readonly<Record<string, unknown>>): Promise<Body> {
  const form = new FormData();
  for (const [name, text] of fieldsOf(value)) form.append(name, text);
  const written = new Response(form);
  const contentType = written.headers.get('content-type') ?? 'multipart/form-data';
  return { bytes: new Uint8Array(await written.arrayBuffer()), headers: { 'content-type': contentType } };
}

function fieldsOf(value: Readonly<Record<string, unknown>>): [string, string][] {
  return Object.entries(value).flatMap(([name, part]): [string, string][] => {
    if (part === null) return [];
    return (Array.isArray(part) ? part : [part]).map((item) => [name, toText(item)]);
  });
}
