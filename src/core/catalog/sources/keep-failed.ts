/** What a source gave, with what it gave before in the place of what could not be read of it now. */
import { originOf, type ParsedReading } from './entries.js';
import type { SourceFailure } from './source.js';

export interface GoodReading {
  readonly spec: string;
  readonly name: string;
  readonly parsed: ParsedReading;
}

export type Outcome = (GoodReading | { readonly spec: string; readonly parsed?: undefined }) & {
  readonly failures: readonly SourceFailure[];
  /** Of `failures`, those in whose place stands what was given before. */
  readonly kept?: readonly SourceFailure[];
};

/** A source that failed stays whole as it was; where one of its servers did, that one alone. */
export function keepFailed(outcome: Outcome, before: GoodReading | undefined): Outcome {
  const { spec, failures } = outcome;
  if (before?.spec !== spec || failures.length === 0) return outcome;
  if (!outcome.parsed) return { ...before, failures, kept: failures };
  const given = new Set(before.parsed.tools.map(({ place }) => originOf(place)));
  const kept = failures.filter(({ source }) => given.has(source));
  return { ...outcome, parsed: join(outcome.parsed, { before: before.parsed, kept, order: [...given] }), kept };
}

type Before = { before: ParsedReading; kept: readonly SourceFailure[]; order: readonly string[] };

/** Servers stand in the order of before, since a model reads a list anew from where it differs; new ones behind. */
function join(fresh: ParsedReading, { before, kept, order }: Before): ParsedReading {
  const isKept = (place: string) => kept.some(({ source }) => source === originOf(place));
  const tools = [...fresh.tools, ...before.tools.filter(({ place }) => isKept(place))];
  const rank = (place: string) => (order.includes(originOf(place)) ? order.indexOf(originOf(place)) : order.length);
  return {
    tools: tools.sort((one, other) => rank(one.place) - rank(other.place)),
    rules: fresh.rules,
    issues: [...fresh.issues, ...before.issues.filter(({ entry }) => isKept(entry))],
  };
}
