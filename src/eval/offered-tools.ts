/** Which tools a case may use, where that is not the whole catalogue. */
import type { View } from '../core/catalog/scope.js';
import type { EvaluationCase } from './case.js';
import { randomFor, sampleOf } from './random.js';

export interface Offer {
  /** `only`: the case's candidates and the distractors. */
  candidates: 'all' | 'only';
  /** Other tools besides, by chance. */
  distractors: number;
  seed: number;
}

/** Undefined: all that the caller sees. */
export function offeredTools(
  one: EvaluationCase,
  view: View,
  { candidates, distractors, seed }: Offer,
): string[] | undefined {
  if (candidates === 'all') return undefined;
  return withOthers(one.candidates ?? [], view, { count: distractors, seed, id: one.id });
}

/** The expected tools and others, up to so many in all: planning is judged without what selection does. */
export function toolsForPlanning(
  one: EvaluationCase,
  view: View,
  { maxTools, seed }: { maxTools: number; seed: number },
): string[] {
  const needed = [...new Set(one.expected.tools)];
  return withOthers(needed, view, { count: Math.max(0, maxTools - needed.length), seed, id: one.id });
}

/** The order tells nothing: a view has the catalogue's. */
function withOthers(
  names: readonly string[],
  view: View,
  { count, seed, id }: { count: number; seed: number; id: string },
): string[] {
  const given = new Set(names);
  const others = view.tools.map((tool) => tool.name).filter((name) => !given.has(name));
  return [...given, ...sampleOf(others, count, randomFor(seed, id))];
}
