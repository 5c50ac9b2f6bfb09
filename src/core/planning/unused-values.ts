/**
 * Values that a request states and no step of a plan uses: the counterpart of values that nobody gave. A number and a day
 * count by themselves; identifiers, quoted texts and English names where the plan uses another of their kind, since a model
 * likes to stop behind the first of several things.
 */
import { readWritten, type StatedValue, statedValuesOf } from './stated-values.js';

export interface Stated {
  /** How many things of one kind there are, at most. */
  readonly most: number;
  readonly kinds: readonly (readonly StatedValue[])[];
}

export const NOTHING_STATED: Stated = { most: 0, kinds: [] };

/** More is a table, not so many things to do. */
const MOST_VALUES = 40;

/** @param names of tools: they are no values */
export function statedByKind(message: string, names: Iterable<string>): Stated {
  const byKind = new Map<string, Map<string, StatedValue>>();
  for (const value of statedValuesOf(message, names)) {
    const values = byKind.get(value.kind) ?? new Map<string, StatedValue>();
    byKind.set(value.kind, values.set(value.text, value));
  }
  const kinds = [...byKind.values()].map((values) => [...values.values()]);
  const kept = kinds.filter((values) => values.length > 1 || values.some((value) => value.isAlone));
  if (kept.flat().length > MOST_VALUES) return NOTHING_STATED;
  return { most: Math.max(0, ...kept.map((values) => values.length)), kinds: kept };
}

export interface Use {
  /** How many of the stated values stand in the plan. */
  readonly used: number;
  /** What should, and does not. */
  readonly unused: readonly string[];
}

/** @param argumentsText arguments of a plan, as JSON or a part of it; references are no values */
export function useOf({ kinds }: Stated, argumentsText: string): Use {
  if (kinds.length === 0) return { used: 0, unused: [] };
  const written = readWritten(argumentsText);
  const uses = kinds.map((values) => {
    const unused = values.filter((value) => !value.isUsed(written));
    const used = values.length - unused.length;
    return { used, unused: unused.filter(({ isAlone }) => isAlone || used > 0) };
  });
  return {
    used: uses.reduce((sum, { used }) => sum + used, 0),
    unused: uses.flatMap(({ unused }) => unused.map(({ text }) => text)),
  };
}
