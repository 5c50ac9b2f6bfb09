/**
 * What a unit of a query means in words that the visible tools have: itself, its synonyms, and where neither is known,
 * the words that begin with it or that it is a slip of.
 */
import type { WordStatistics } from './layer.js';
import { lowerBound } from './postings.js';
import type { Unit } from './query.js';
import type { Reading } from './reading.js';
import type { Segment } from './segment.js';
import { stemOf } from './stem.js';
import type { SynonymTable } from './synonyms.js';

export interface ReadingParts {
  statistics: WordStatistics;
  segments: readonly Segment[];
  synonyms: SynonymTable;
}

const BEGINNING_WEIGHT = 0.6;
const SLIP_WEIGHTS = [1, 0.8, 0.6];
/** Below it a word is no beginning of another, nor a slip of one: too many are near. */
const MIN_BEGINNING = 4;
const MIN_SLIPPED = 4;
/** What says little is not guessed at. */
const MIN_GUESSED = 0.2;
const MAX_NEAR = 8;
const MAX_READINGS = 16;
/** Of the surest reading of a slip; less sure ones are further away. */
const NEAREST_SHARE = 0.6;

export function readingsOf(unit: Unit, parts: ReadingParts): Reading[] {
  const certain = certainReadings(unit, parts);
  const [term = ''] = unit.own;
  if (certain.length > 0 || unit.own.length > 1 || !isGuessed(unit)) return certain;
  const beginnings = beginningsOf(term, parts);
  const isSlip = unit.text.length >= MIN_SLIPPED && !CALENDAR.has(term);
  return beginnings.length === 0 && isSlip ? slipsOf(term, parts) : beginnings;
}

/** They stand in every other request, and are no slips of what tools are called. */
const CALENDAR = new Set(
  `january february march april june july august september october november december
   monday tuesday wednesday thursday friday saturday sunday`
    .split(/\s+/u)
    .map(stemOf),
);

/** Whether the unit says enough to be guessed at where no tool knows it. */
export function isGuessed({ importance }: Unit): boolean {
  return importance >= MIN_GUESSED;
}

function certainReadings({ own, phrase, synonyms }: Unit, parts: ReadingParts): Reading[] {
  const whole = phrase === undefined ? [] : [toReading([phrase], 1, parts)];
  const others = synonyms.map(({ terms, weight }) => toReading(terms, weight, parts));
  return [...whole, toReading(own, 1, parts), ...others]
    .filter((reading) => reading !== undefined)
    .slice(0, MAX_READINGS);
}

/**
 * Its weight is no whole number, and it is there as long as the program: else V8 takes the weights of each new index for
 * whole ones, and compiles half of the search anew, again and again, when they are not.
 */
const SHAPE: Reading = { terms: [], weight: 0.5 };

/** A phrase of which half is unknown is worth half. */
function toReading(meant: readonly string[], weight: number, { statistics }: ReadingParts): Reading | undefined {
  const terms = meant.filter((term) => statistics.toolsWith(term) > 0);
  return terms.length > 0 ? { ...SHAPE, terms, weight: weight / meant.length } : undefined;
}

function beginningsOf(term: string, parts: ReadingParts): Reading[] {
  if (term.length < MIN_BEGINNING) return [];
  const found = parts.segments.flatMap(({ postings: { terms } }) => {
    const end = lowerBound(terms, `${term}\u{ffff}`);
    return terms.slice(lowerBound(terms, term), end);
  });
  return knownReadings(
    found.map((word) => ({ word, weight: BEGINNING_WEIGHT })),
    parts,
  );
}

/** Slips of words of the tools, and of words that have synonyms there. */
function slipsOf(term: string, parts: ReadingParts): Reading[] {
  const near = parts.segments.flatMap(({ spelling }) => spelling.near(term));
  const meant = parts.synonyms.near(term);
  const words = knownReadings(
    near.map(({ word, slips }) => ({ word, weight: SLIP_WEIGHTS[slips] ?? 0 })),
    parts,
  );
  const synonyms = meant.flatMap(({ word, slips }) =>
    (parts.synonyms.phraseAt([word], 0)?.meanings ?? []).map(({ terms, weight }) =>
      toReading(terms, weight * (SLIP_WEIGHTS[slips] ?? 0), parts),
    ),
  );
  return nearest([...words, ...synonyms.filter((reading) => reading !== undefined)]);
}

/** Two slips are not thought of where one is enough. */
function nearest(readings: readonly Reading[]): Reading[] {
  const best = Math.max(...readings.map(({ weight }) => weight));
  return readings.filter(({ weight }) => weight >= best * NEAREST_SHARE).slice(0, MAX_READINGS);
}

function knownReadings(words: readonly { word: string; weight: number }[], parts: ReadingParts): Reading[] {
  const unique = new Map(words.map(({ word, weight }) => [word, weight]));
  return [...unique]
    .map(([word, weight]) => toReading([word], weight, parts))
    .filter((reading) => reading !== undefined)
    .slice(0, MAX_NEAR);
}
