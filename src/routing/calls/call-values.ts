/** What is kept of a call's values, and no secret: digests, enough to see that two were about the same; masked arguments. */
import { MASK, maskKeysIn } from '../../core/secret-forms.js';
import { canonicalHash } from '../approvals/canonical-json.js';

/** Of the arguments and of the top level of the result; only texts, numbers and booleans. */
export function callValues(given: object, output: unknown): Record<string, string[]> {
  const values = new Map<string, Set<string>>();
  for (const source of [given, output]) {
    if (typeof source !== 'object' || source === null || Array.isArray(source)) continue;
    for (const [name, value] of Object.entries(source)) {
      if (!['string', 'number', 'boolean'].includes(typeof value) || Number.isNaN(value)) continue;
      values.set(name, (values.get(name) ?? new Set()).add(canonicalHash(value)));
    }
  }
  return Object.fromEntries([...values].map(([name, digests]) => [name, [...digests]]));
}

const SECRET_NAME =
  /(apikey|authorization|password|passwd|passphrase|secret|accesstoken|refreshtoken|authtoken|bearertoken|idtoken|privatekey|credentials?|cookie)$|^(token|pwd)$/;

/**
 * A copy of a JSON value with the values of secret fields masked, at any depth: fields of the given names, in any
 * spelling, and those whose name says so. Keys inside other texts are masked, too.
 */
export function maskFields(value: unknown, names: readonly string[]): unknown {
  const plainName = (name: string) => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
  const secret = new Set(names.map(plainName));
  const isSecret = (name: string) => secret.has(plainName(name)) || SECRET_NAME.test(plainName(name));
  const copy = (part: unknown): unknown => {
    if (typeof part === 'string') return maskKeysIn(part);
    if (Array.isArray(part)) return part.map(copy);
    if (typeof part !== 'object' || part === null) return part;
    return Object.fromEntries(Object.entries(part).map(([name, field]) => [name, isSecret(name) ? MASK : copy(field)]));
  };
  return copy(value);
}
