/**
 * The JSON Canonicalization Scheme (RFC 8785): keys sorted by UTF-16 code units, numbers and strings as ECMAScript
 * writes them, no white space.
 */
import { createHash, createHmac, randomBytes } from 'node:crypto';
import { WinnowError } from '../../core/errors.js';
import { createOpening } from '../../core/kept.js';
import type { Documents } from '../store/sql/keyed-records.js';

const MAX_DEPTH = 200;

/** @throws WinnowError `invalid_request` for what JSON can't hold (NaN, a function, a cycle) or nests too deeply. */
export function canonicalJson(value: unknown): string {
  return write(value, 0);
}

/** SHA-256 of the canonical text, in hexadecimal. Errors as for `canonicalJson`. */
export function canonicalHash(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value)).digest('hex');
}

function write(value: unknown, depth: number): string {
  if (depth > MAX_DEPTH) throw notJson(`it is nested more than ${MAX_DEPTH} levels deep`);
  if (typeof value === 'number' && !Number.isFinite(value)) throw notJson(`${value} is no number of JSON`);
  if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
    return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((item) => write(item ?? null, depth + 1)).join(',')}]`;
  if (typeof value !== 'object') throw notJson(`a ${typeof value} is no value of JSON`);
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${write(member, depth + 1)}`).join(',')}}`;
}

function notJson(why: string): WinnowError {
  return new WinnowError('invalid_request', `arguments: ${why}. Give plain JSON values.`, {
    issues: [`arguments: ${why}`],
  });
}

// Digests that show whether two values are equal, without revealing them: HMAC-SHA-256 (RFC 2104).

/** In hexadecimal. Errors as for `canonicalJson`. */
export type Digest = (value: unknown) => string;

const KEY_BYTES = 32;
const PLACE = { owner: 'router', name: 'digest' } as const;

/** The key is generated once per store; all its servers share it. @returns a function that throws `store_failed` */
export function createKeyedDigest(keys: Pick<Documents, 'replace' | 'get'>): () => Promise<Digest> {
  const opening = createOpening(async (): Promise<Digest> => {
    const content = randomBytes(KEY_BYTES).toString('base64');
    await keys.replace({ ...PLACE, content, updatedAt: new Date().toISOString() }, undefined);
    const key = Buffer.from(String((await keys.get(PLACE.owner, PLACE.name))?.content), 'base64');
    return (value) => createHmac('sha256', key).update(canonicalJson(value)).digest('hex');
  });
  return opening.get;
}
