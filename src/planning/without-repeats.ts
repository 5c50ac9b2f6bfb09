/**
 * A small model that does not know how to end a plan writes its last step again and again. Only such a tail is taken away: the
 * same call on the same thing that an earlier step found. Repeats anywhere else, or of what the request itself says, may be meant.
 */
import { isObject } from '../catalog/schema/json.js';
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
  return last !== undefined && before !== undefined && usesResults(last) && callOf(last) === callOf(before);
}

function usesResults(step: Step): boolean {
  return textsIn(step.arguments).some(({ text }) => findReferences(text).length > 0);
}

function callOf(step: Step): string {
  return JSON.stringify([step.tool, sorted(step.arguments)]);
}

/** The order in which properties are written says nothing. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  return Object.entries(value)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, inner]) => [key, sorted(inner)]);
}
