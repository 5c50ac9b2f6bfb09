/** Runs a call that has passed the gate, and records what later decisions need of it. */
import { isObject } from '../../core/catalog/schema/json.js';
import type { View } from '../../core/catalog/scope.js';
import type { Tool } from '../../core/catalog/tool.js';
import { toWinnowError } from '../../core/errors.js';
import { oncePer } from '../../core/kept.js';
import type { Digest } from '../approvals/canonical-json.js';
import type { CallResult } from '../contracts.js';
import type { ExecuteRequest, RouterParts } from '../parts.js';
import type { Facts } from '../policy/decide.js';
import type { Policy } from '../policy/policy.js';
import { calledIn } from '../policy/requirement.js';
import type { Situation } from '../sessions/situation.js';
import type { Journal } from '../store/sql/journal.js';
import type { CallRecord } from '../store/store.js';
import { callKey } from './definition.js';

/** Never throws: the audit already has the call, so it must get the outcome, too. */
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

// Records of calls, for policies that require an earlier call.

export type ToKeep = (output: unknown) => Pick<CallRecord, 'tool' | 'values'> | undefined;

export function createEarlierCalls(parts: { journal: Journal; digest: () => Promise<Digest> }) {
  return {
    /** Makes the record of a call that passes now; undefined where no requirement needs it. */
    async keeping(tool: Tool, given: object, { policy, view }: Situation): Promise<ToKeep> {
      const names = comparedIn(policy)(view).get(tool.name);
      if (!names) return () => undefined;
      const digest = await parts.digest();
      return (output) => ({ tool: callKey(tool), values: callValues(given, output, { names, digest }) });
    },

    /** Earlier calls of the required tools, by name, as those names resolve in the current scope. */
    async factsFor(tool: Tool | undefined, situation: Situation): Promise<Pick<Facts, 'calls' | 'digest'>> {
      const { policy, session, find } = situation;
      const required = tool ? policy.of(tool).requirements.flatMap(({ requires }) => calledIn(requires)) : [];
      const nameOf = new Map<string, string>();
      for (const { called } of required) {
        const found = find(called);
        if (found) nameOf.set(callKey(found), called);
      }
      if (nameOf.size === 0) return {};
      const calls = await parts.journal.calls(session.id, [...nameOf.keys()]);
      const named = calls.map((call) => ({ ...call, tool: nameOf.get(call.tool) ?? call.tool }));
      return { calls: named, digest: await parts.digest() };
    },
  };
}

/** Tool that some requirement wants called first -> names of the values that it compares. */
const comparedIn = oncePer((policy: Policy) =>
  oncePer(({ tools }: View): ReadonlyMap<string, ReadonlySet<string>> => {
    const compared = new Map<string, Set<string>>();
    const all = tools.flatMap((tool) => policy.of(tool).requirements.flatMap(({ requires }) => calledIn(requires)));
    for (const { called, same } of all) {
      const names = compared.get(called) ?? new Set();
      compared.set(called, same === undefined ? names : names.add(same));
    }
    return compared;
  }),
);

interface Keeping {
  readonly names: Iterable<string>;
  readonly digest: Digest;
}

/**
 * Digests of the strings, numbers and booleans in the arguments and at the top level of the result: enough to see that
 * two calls concern the same thing.
 */
export function callValues(given: object, output: unknown, { names, digest }: Keeping): CallRecord['values'] {
  const sources = [given, output].filter(isObject);
  const values = [...names].map((name) => {
    const found = sources.flatMap((source) => (Object.hasOwn(source, name) ? [source[name]] : []));
    const plain = found.filter((value) => ['string', 'boolean'].includes(typeof value) || Number.isFinite(value));
    return [name, [...new Set(plain.map(digest))]] as const;
  });
  return Object.fromEntries(values.filter(([, digests]) => digests.length > 0));
}
