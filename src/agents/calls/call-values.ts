/** What is kept of a call's values, and no secret: digests, enough to see that two were about the same. */
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
