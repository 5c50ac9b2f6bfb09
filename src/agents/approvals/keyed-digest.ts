/** Digests that say whether two values are the same, and from which no value can be computed: HMAC-SHA-256 (RFC 2104). */
import { createHmac, randomBytes } from 'node:crypto';
import { createOpening } from '../../core/kept.js';
import type { Documents } from '../store/documents.js';
import { canonicalJson } from './canonical-json.js';

/** In hexadecimal. Errors as for `canonicalJson`. */
export type Digest = (value: unknown) => string;

const KEY_BYTES = 32;
const PLACE = { owner: 'router', name: 'digest' } as const;

/** The key is made once for a store, and shared by all servers on it. @returns a function that throws `store_failed` */
export function createKeyedDigest(keys: Pick<Documents, 'replace' | 'get'>): () => Promise<Digest> {
  const opening = createOpening(async (): Promise<Digest> => {
    const content = randomBytes(KEY_BYTES).toString('base64');
    await keys.replace({ ...PLACE, content, updatedAt: new Date().toISOString() }, undefined);
    const key = Buffer.from(String((await keys.get(PLACE.owner, PLACE.name))?.content), 'base64');
    return (value) => createHmac('sha256', key).update(canonicalJson(value)).digest('hex');
  });
  return opening.get;
}
