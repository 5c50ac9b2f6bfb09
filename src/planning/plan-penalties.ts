/**
 * What a small model writes too readily in a plan: arguments, and properties inside them, that may be left out; steps behind
 * those of the likely tools; the end of the plan before these are there.
 */
import type { Penalty } from '../model/model.js';
import { openPlaceOf } from './open-place.js';

export interface Needed {
  /** What is required in the arguments of a tool at this path; undefined where that is not known. */
  requiredAt(tool: string, path: readonly string[]): readonly string[] | undefined;
  /** Tools that the request speaks of; where there is none, nothing is known about the steps. */
  readonly likely: readonly string[];
}

/**
 * In nats: odds of 7 to 1. Looked at on plans for NESTFUL: arguments that the request asks for had 1.7 to 4.4, invented
 * ones -6.9 to 1.5, required ones 4 to 14.
 */
const OPTIONAL = 2;
/** Odds of 150 to 1: of seven plans for NESTFUL that ended too early, 2 nats kept one from it, and 5 all but one. */
const TOO_EARLY = 5;

/** How the text of a plan should not go on unless the model is sure, for each way in which a token may begin. */
export function planPenalties(text: string, { requiredAt, likely }: Needed): Penalty[] {
  const place = openPlaceOf(text);
  // Behind the arguments, and behind the step.
  if (place === undefined)
    return text.endsWith('}') ? ['', '}'].flatMap((ending) => nextStep(text, ending, likely)) : [];
  const { tool, levels, inText } = place;
  const penalties: Penalty[] = [];
  // One token may end a text, a list and an object, and begin what comes next.
  let ending = inText ? '"' : '';
  for (const { path, written } of [...levels].reverse()) {
    const required = written && requiredAt(tool, path);
    if (required?.every((name) => written?.includes(name))) penalties.push({ beginning: `${ending},`, nats: OPTIONAL });
    ending += written ? '}' : ']';
  }
  return [...penalties, ...nextStep(text, `${ending}}`, likely)];
}

/** A plan that has as many steps as there are likely tools may end without one of them: it has others in their place. */
function nextStep(text: string, ending: string, likely: readonly string[]): Penalty[] {
  if (likely.length === 0) return [];
  const written = new Set<string>();
  let steps = 0;
  for (const [, tool = ''] of text.matchAll(/"tool":"([^"]+)"/gu)) {
    written.add(tool);
    steps++;
  }
  if (likely.every((tool) => written.has(tool))) return [{ beginning: `${ending},`, nats: OPTIONAL }];
  return steps < likely.length ? [{ beginning: `${ending}]`, nats: TOO_EARLY }] : [];
}
