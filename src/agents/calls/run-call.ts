/** A call behind the gate: it is run, and what of it is kept for later decisions. */
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
import type { CallRecord, Journal } from '../store/store.js';
import { callKey } from './definition.js';

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

// What of a call later decisions need, where some requirement asks that it was made before.

export type ToKeep = (output: unknown) => Pick<CallRecord, 'tool' | 'values'> | undefined;

interface EarlierCalls {
  /** Of a call that passes now; undefined for one that no requirement asks for. */
  keeping(tool: Tool, given: object, situation: Situation): Promise<ToKeep>;
  /** Those of the very tools that have the required names in this scope now, by these names. */
  factsFor(tool: Tool | undefined, situation: Situation): Promise<Pick<Facts, 'calls' | 'digest'>>;
}

export function createEarlierCalls(parts: { journal: Journal; digest: () => Promise<Digest> }): EarlierCalls {
  return {
    async keeping(tool, given, { policy, view }) {
      const names = comparedIn(policy)(view).get(tool.name);
      if (!names) return () => undefined;
      const digest = await parts.digest();
      return (output) => ({ tool: callKey(tool), values: callValues(given, output, { names, digest }) });
    },

    async factsFor(tool, { policy, session, find }) {
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

/** Name of a tool that some requirement asks to be called first -> names of the values that it compares. */
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
 * Digests, enough to see that two calls were about the same: of the arguments and of the top level of the result; only
 * texts, numbers and booleans.
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
