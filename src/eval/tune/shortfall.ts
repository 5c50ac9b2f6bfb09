/** Told as soon as the cost of a case is known: else it shows only when the time is gone that it was too short. */
import type { Spent } from './budget.js';
import type { TunePromptParts } from './tune-parts.js';

/** Halving takes about half of the training cases for each of six candidates; then two prompts see each of the other parts. */
const TRAINING_PASSES = 3;
/** With fewer cases hardly any gain is clear. */
const FEWEST_CASES = 20;

/**
 * What is missing where the time that is left does not do for one decision, in words; undefined where it does.
 *
 * @param cost of one case
 */
export function shortfallOf(
  { budget, reserve, split }: Pick<TunePromptParts, 'budget' | 'reserve' | 'split'>,
  { milliseconds }: Pick<Spent, 'milliseconds'>,
): string | undefined {
  const later = split.choosing.length + split.heldBack.length;
  const needed = milliseconds * (TRAINING_PASSES * split.training.length + 2 * later);
  const left = budget.left().milliseconds - reserve.milliseconds;
  if (needed <= left) return undefined;
  const cases = split.training.length + later;
  const fewer = Math.floor((cases * left) / needed);
  const advice =
    fewer >= FEWEST_CASES
      ? `give a larger --budget, or about ${fewer} of the ${cases} cases by --sample`
      : `it does for about ${Math.max(0, fewer)} of the ${cases} cases, which show hardly any gain: give a larger --budget`;
  return `a decision takes about ${inMinutes(needed)} more; what is left is ${inMinutes(left)}: ${advice}`;
}

function inMinutes(milliseconds: number): string {
  const minutes = Math.max(0, Math.ceil(milliseconds / 60_000));
  return `${minutes} ${minutes === 1 ? 'minute' : 'minutes'}`;
}
