/** Adds the tools that the policy hides to a request's `deny`, since the planner knows no policy. */

import type { Agents } from '../../agents/agents.js';
import type { Caller } from '../../agents/contracts.js';
import { hiddenTools } from '../../agents/policy/decide.js';
import type { Policy } from '../../agents/policy/policy.js';
import type { View } from '../../core/catalog/scope.js';
import type { Planner } from '../../core/planner.js';

interface ScopedRequest {
  user?: string | undefined;
  deny?: readonly string[] | undefined;
}

/**
 * @param asked with its user
 * @param of the planner with the tools. Default: the server's
 */
export type Conceal = <Asked extends ScopedRequest>(
  asked: Asked,
  caller: Caller | undefined,
  of?: Pick<Planner, 'view'>,
) => Asked | (Asked & { deny: string[] });

interface Kept {
  readonly view: View;
  readonly policy: Policy;
  readonly second: number;
  readonly names: readonly string[];
}

/** With 2,000 tools the policy takes 7 ms, so results are cached for a moment. */
const KEPT_MS = 1_000;
const MAX_KEPT = 256;

/** @param agents with the policy; without them, nothing is hidden */
export function createConceal(planner: Pick<Planner, 'view'>, agents: Pick<Agents, 'policy'> | undefined): Conceal {
  if (!agents) return (asked) => asked;
  const kept = new Map<string, Kept>();
  const hiddenFrom = (caller: Caller, of: Pick<Planner, 'view'>): readonly string[] => {
    const key = JSON.stringify([caller.user, caller.roles]);
    const now = {
      view: of.view({ user: caller.user }),
      policy: agents.policy(),
      second: Math.floor(Date.now() / KEPT_MS),
    };
    const known = kept.get(key);
    if (known?.view === now.view && known.policy === now.policy && known.second === now.second) return known.names;
    const names = hiddenTools(now.policy, now.view.tools, caller);
    if (kept.size >= MAX_KEPT) kept.clear();
    kept.set(key, { ...now, names });
    return names;
  };
  return (asked, caller, of = planner) => {
    const { user, deny = [] } = asked;
    const hidden = hiddenFrom({ ...caller, user }, of);
    return hidden.length === 0 ? asked : { ...asked, deny: [...deny, ...hidden] };
  };
}
