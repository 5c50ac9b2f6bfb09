/** What a policy keeps from a caller whatever the session: for plans and lists without one, which must not name it either. */
import type { Tool } from '../../core/catalog/tool.js';
import type { Caller } from '../contracts.js';
import { decide } from './decide.js';
import type { Policy } from './policy.js';

/** @param tools those in the scope of the caller. @returns names, for the `deny` of a request */
export function hiddenTools(policy: Policy, tools: readonly Tool[], { user, roles = [] }: Caller): string[] {
  const facts = {
    purpose: 'find' as const,
    caller: { user, roles },
    session: { turn: 1, isEnded: false },
    now: new Date(),
  };
  return tools.filter((tool) => decide(policy, { ...facts, tool }).decision === 'deny').map(({ name }) => name);
}
