/** A planner's answer as a reply. What a planner throws its caller gets; it is then left without an answer. */

import { toWinnowError } from '../../../src/core/errors.js';
import type { OptionsInput } from '../../../src/core/options.js';
import type { Planner } from '../../../src/core/planner.js';
import type { Selection } from '../../../src/core/result.js';
import type { Reply, Trial } from './contestant.js';

/** A day, for what is measured is not time. */
export const LONGEST_MS = 86_400_000;
/** One way of planning behind every choice: plans by deciding are measured by `plans.mjs`. */
export const WITHOUT_TIME_LIMITS = { timeoutMs: LONGEST_MS, planning: 'write' } satisfies OptionsInput;

export async function askPlanner(planner: Planner, { request, wantsPlan }: Trial): Promise<Reply> {
  try {
    if (!wantsPlan) return fromSelection(await planner.select(request));
    const result = await planner.plan(request);
    const steps = result.kind === 'plan' ? result.steps : [];
    return { ...fromSelection(result.selection), steps, abstained: result.kind !== 'plan' };
  } catch (thrown) {
    const { code, issues, message } = toWinnowError(thrown);
    return { kind: 'unanswered', reason: `${code}: ${issues[0] ?? message}` };
  }
}

function fromSelection({ mode, tools }: Selection): Extract<Reply, { kind: 'answered' }> {
  return { kind: 'answered', tools: tools.map(({ name }) => name), abstained: mode === 'none', mode };
}
