/**
 * A small model that does not know how to end a plan writes its last step again. The same call with the same arguments
 * finds nothing new: references to it go to the first. Calls without arguments stay, since rolling a dice twice is two rolls.
 */
import { isObject } from '../catalog/schema/json.js';
import type { DraftStep } from './check-plan.js';
import { renameReferences } from './references.js';

export interface Unrepeated {
  readonly steps: readonly DraftStep[];
  /** Tools of the steps that are left out. */
  readonly repeated: readonly string[];
}

export function withoutRepeats(draft: readonly DraftStep[]): Unrepeated {
  const first = new Map<string, string>();
  const renamed = new Map<string, string>();
  const steps: DraftStep[] = [];
  const repeated: string[] = [];
  for (const step of draft) {
    const values = renameReferences(step.arguments, renamed);
    const key = JSON.stringify([step.tool, sorted(values)]);
    const same = Object.keys(values).length > 0 ? first.get(key) : undefined;
    if (same === undefined) {
      first.set(key, step.id);
      const dependsOn = step.dependsOn?.map((id) => renamed.get(id) ?? id);
      steps.push({ ...step, arguments: values, ...(dependsOn ? { dependsOn } : {}) });
    } else {
      renamed.set(step.id, same);
      repeated.push(step.tool);
    }
  }
  return { steps, repeated };
}

/** The order in which properties are written says nothing. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  return Object.entries(value)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, inner]) => [key, sorted(inner)]);
}
