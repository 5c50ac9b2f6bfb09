/**
 * A small model that does not know how to end a plan writes its last step again and again. Only such a tail is taken away: the
 * same call on the same thing that an earlier step found. Repeats anywhere else, or of what the request itself says, may be meant.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Step } from '../result.js';
import { findReferences, textsIn } from './references.js';

export interface Unrepeated {
  readonly steps: readonly Step[];
  /** Tools of the steps that are left out. */
  readonly repeated: readonly string[];
}

export function withoutRepeats(steps: readonly Step[]): Unrepeated {
  let count = steps.length;
  while (count > 1 && isRepeat(steps[count - 1], steps[count - 2])) count--;
  return { steps: steps.slice(0, count), repeated: steps.slice(count).map(({ tool }) => tool) };
}

function isRepeat(last: Step | undefined, before: Step | undefined): boolean {
  if (!last || !before || last.tool !== before.tool || !usesResults(last)) return false;
  return isDeepStrictEqual(last.arguments, before.arguments);
}

function usesResults(step: Step): boolean {
  return textsIn(step.arguments).some(({ text }) => findReferences(text).length > 0);
}
