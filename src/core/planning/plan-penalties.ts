/**
 * What a small model writes too readily in a plan: arguments, and properties inside them, that may be left out; steps behind
 * those of the likely tools; the end of the plan before the due tools are there, and what the request states.
 */
import type { Penalties, Penalty } from '../model/model.js';
import { openPlaceOf } from './open-place.js';
import { NOTHING_STATED, type Stated, useOf } from './unused-values.js';

export interface Needed {
  /** What is required in the arguments of a tool at this path; undefined where that is not known. */
  requiredAt(tool: string, path: readonly string[]): readonly string[] | undefined;
  /** Tools that the request speaks of; behind all of them a further step may be left out. */
  readonly likely: readonly string[];
  /** Tools without which a plan has not done all that was asked for. */
  readonly due: readonly string[];
  /** Values that belong into some step. Default: none. */
  readonly stated?: Stated;
}

/**
 * In nats: odds of 7 to 1. Looked at on plans for NESTFUL: arguments that the request asks for had 1.7 to 4.4, invented
 * ones -6.9 to 1.5, required ones 4 to 14.
 */
const OPTIONAL = 2;
/** Odds of 150 to 1: of seven plans for NESTFUL that ended too early, 2 nats kept one from it, and 5 all but one. */
const TOO_EARLY = 5;

/** How the text of a plan should not go on unless the model is sure. */
export function planPenalties(needed: Needed): Penalties {
  const { likely, due, stated = NOTHING_STATED } = needed;
  return {
    id: JSON.stringify([OPTIONAL, TOO_EARLY, likely, due, ...stated.kinds]),
    at: (text) => penaltiesAt(text, { ...needed, stated }),
  };
}

/** For each way in which a token may begin. */
function penaltiesAt(text: string, needed: Required<Needed>): Penalty[] {
  const place = openPlaceOf(text);
  // Behind the arguments, and behind the step.
  if (place === undefined) return text.endsWith('}') ? behindStep(text, ['', '}'], needed) : [];
  const { tool, levels, inText } = place;
  const penalties: Penalty[] = [];
  // One token may end a text, a list and an object, and begin what comes next.
  let ending = inText ? '"' : '';
  for (const { path, written } of [...levels].reverse()) {
    const required = written && needed.requiredAt(tool, path);
    if (required?.every((name) => written?.includes(name))) penalties.push({ beginning: `${ending},`, nats: OPTIONAL });
    ending += written ? '}' : ']';
  }
  return [...penalties, ...behindStep(text, [`${ending}}`], needed)];
}

/** How a step begins. */
const FRAME = /"id":"[^"]*","tool":"([^"]+)"/gu;

/**
 * A plan that has as many steps as there are due tools may end without one of them: it has others in their place.
 *
 * @param endings what is still to be written of the step
 */
function behindStep(text: string, endings: readonly string[], { likely, due, stated }: Required<Needed>): Penalty[] {
  const frames = [...text.matchAll(FRAME)];
  const steps = frames.map(([, tool = '']) => tool);
  const isThere = (tool: string) => steps.includes(tool);
  const all = (mark: string, nats: number) => endings.map((ending) => ({ beginning: ending + mark, nats }));
  const isDue = steps.length < due.length && !due.every(isThere);
  if (isDue || isUnfinished(text, { lastStep: frames.at(-1)?.index ?? 0, isFirst: frames.length === 1, stated }))
    return all(']', TOO_EARLY);
  return likely.length > 0 && likely.every(isThere) ? all(',', OPTIONAL) : [];
}

/** A step that used none of the stated values shows that there is no place for the others; the first may only find something. */
function isUnfinished(
  text: string,
  { lastStep, isFirst, stated }: { lastStep: number; isFirst: boolean; stated: Stated },
): boolean {
  const usedIn = (part: string) => useOf(stated, part.replace(FRAME, ''));
  const { used, unused } = usedIn(text);
  return unused.length > 0 && (isFirst || used > usedIn(text.slice(0, lastStep)).used);
}
