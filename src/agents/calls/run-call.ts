/** A call behind the gate: it is run, and what of it is kept for later decisions. */
import { toWinnowError } from '../../core/errors.js';
import { canonicalHash } from '../approvals/canonical-json.js';
import type { CallResult } from '../contracts.js';
import type { ExecuteRequest, RouterParts } from '../parts.js';

/** Never throws: the gate is passed and the call is in the audit, so what happens now must be there, too. */
export async function runCall(execute: RouterParts['execute'], request: ExecuteRequest): Promise<CallResult> {
  try {
    return await execute(request);
  } catch (error) {
    const { code, message } = toWinnowError(error);
    const reason = code === 'internal' ? 'The tool could not be run.' : message;
    return {
      ok: false,
      code: code === 'cancelled' ? 'cancelled' : 'tool_failed',
      reason,
      next: 'Try again, or use another tool.',
    };
  }
}

/**
 * What is kept of a call's values, and no secret: digests, enough to see that two were about the same. Of the arguments and of the top level of the result; only texts, numbers and booleans.
 */
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
