/**
 * Serializes values for a URL, header or cookie in the styles of the OpenAPI Specification 3.1, section "Parameter
 * Object", which are those of RFC 6570. Values without a form in a style become JSON.
 */
import { z } from 'zod';
import { isObject } from '../../../../core/catalog/schema/json.js';

export const argumentTargetSchema = z.object({
  in: z.enum(['path', 'query', 'header', 'cookie', 'body']),
  name: z.string().optional(),
  style: z.string().optional(),
  explode: z.boolean().optional(),
  allowReserved: z.boolean().optional(),
  contentType: z.string().optional(),
});
export type ArgumentTarget = z.infer<typeof argumentTargetSchema>;

type Encode = (text: string) => string;

/** Reserved characters of RFC 3986 that a document may leave unencoded; `&`, `#`, `+` and `;` would change the query. */
const RESERVED = /%(?:3A|2F|3F|40|21|24|27|28|29|2A|2C|3D|5B|5D)/gu;

/** Replaces lone surrogates, as `URLSearchParams` does. */
const encodeWhole: Encode = (text) => encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\uFFFD'));
const encodeStrictly: Encode = (text) =>
  encodeWhole(text).replace(/[!'()*]/gu, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
const encodeLoosely: Encode = (text) => encodeWhole(text).replace(RESERVED, decodeURIComponent);
const asIs: Encode = (text) => text;

/** A path segment, or a part of one. */
export function serializePath(target: ArgumentTarget, name: string, value: unknown): string {
  if (target.contentType !== undefined) return encodeStrictly(JSON.stringify(value));
  const explode = target.explode ?? false;
  switch (target.style) {
    case 'label':
      return `.${joinParts(value, { separator: explode ? '.' : ',', explode, encode: encodeStrictly })}`;
    case 'matrix':
      return serializeMatrix(name, value, explode);
    default:
      return joinParts(value, { separator: ',', explode, encode: encodeStrictly });
  }
}

/** `name=value` pairs, encoded. Nothing for an empty list or object. */
export function serializeQuery(target: ArgumentTarget, name: string, value: unknown): string[] {
  const encode = target.allowReserved ? encodeLoosely : encodeStrictly;
  const pair = (key: string, text: string) => `${encodeStrictly(key)}=${text}`;
  if (target.contentType !== undefined) return [pair(name, encode(JSON.stringify(value)))];
  const explode = target.explode ?? (target.style === undefined || target.style === 'form');
  if (target.style === 'deepObject' && isObject(value)) {
    return Object.entries(value).flatMap(([key, part]) =>
      itemsOf(part).map((item) => pair(`${name}[${key}]`, encode(toText(item)))),
    );
  }
  if (Array.isArray(value)) {
    if (explode) return value.map((item) => pair(name, encode(toText(item))));
    const separator = { spaceDelimited: '%20', pipeDelimited: '%7C' }[target.style ?? ''] ?? ',';
    return value.length === 0 ? [] : [pair(name, value.map((item) => encode(toText(item))).join(separator))];
  }
  if (isObject(value)) {
    if (explode) return Object.entries(value).map(([key, part]) => pair(key, encode(toText(part))));
    const joined = joinParts(value, { separator: ',', explode, encode });
    return joined === '' ? [] : [pair(name, joined)];
  }
  return [pair(name, encode(toText(value)))];
}

export function serializeHeader(target: ArgumentTarget, value: unknown): string {
  if (target.contentType !== undefined) return JSON.stringify(value);
  return joinParts(value, { separator: ',', explode: target.explode ?? false, encode: asIs });
}

export function serializeCookie(target: ArgumentTarget, name: string, value: unknown): string {
  if (target.contentType !== undefined) return `${name}=${encodeStrictly(JSON.stringify(value))}`;
  return `${name}=${joinParts(value, { separator: ',', explode: false, encode: encodeStrictly })}`;
}

/** Strings unchanged; objects and lists as JSON. */
export function toText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

interface Joining {
  readonly separator: string;
  readonly explode: boolean;
  readonly encode: Encode;
}

function joinParts(value: unknown, { separator, explode, encode }: Joining): string {
  const write = (part: unknown) => encode(toText(part));
  if (Array.isArray(value)) return value.map(write).join(separator);
  if (!isObject(value)) return write(value);
  const between = explode ? '=' : ',';
  return Object.entries(value)
    .map(([key, part]) => `${encode(key)}${between}${write(part)}`)
    .join(separator);
}

function serializeMatrix(name: string, value: unknown, explode: boolean): string {
  const key = encodeStrictly(name);
  if (!explode) return `;${key}=${joinParts(value, { separator: ',', explode, encode: encodeStrictly })}`;
  if (Array.isArray(value)) return value.map((item) => `;${key}=${encodeStrictly(toText(item))}`).join('');
  if (!isObject(value)) return `;${key}=${encodeStrictly(toText(value))}`;
  return `;${joinParts(value, { separator: ';', explode, encode: encodeStrictly })}`;
}

function itemsOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [value];
}
