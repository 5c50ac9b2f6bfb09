/** The arguments of a request's body, in the media type of the document. */
import { isObject } from '../../../../core/catalog/schema/json.js';
import type { ArgumentTarget } from './http-target.js';
import { toText } from './serialize-parameter.js';

export interface GivenArgument {
  readonly argument: string;
  readonly value: unknown;
  readonly place: ArgumentTarget;
}

export interface Body {
  readonly bytes: Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
}

/** Undefined where there is nothing to send. */
export async function buildBody(
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

/** Lists are repeated, nested objects are JSON: the defaults of OpenAPI's "Encoding Object". */
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
