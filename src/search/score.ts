/**
 * Scores of the visible tools: the sum over the units of the query. Within a unit the best of its readings counts, and a
 * unit is as rare as the tools are that any reading finds: synonyms are one word (the operator #syn of Turtle and Croft,
 * "Evaluation of an inference network-based retrieval model", 1991).
 */
import type { Layer, WordStatistics } from './layer.js';
import type { Reading } from './readings.js';
import type { Segment, Sums } from './segment.js';

export interface ReadUnit {
  readonly text: string;
  readonly importance: number;
  readonly readings: readonly Reading[];
  /** Tool -> how surely use has taught that the unit means it, between 0 and 1. */
  readonly learnt: ReadonlyMap<string, number>;
}

export interface Scored {
  /** What the query would be worth to a tool that is all about it. */
  readonly potential: number;
  /** Visits each tool that any unit touches, and clears the working space. Must be called once a layer. */
  visit(layer: Layer, visitor: (document: number, sum: number) => void): void;
}

/** Part of the worth of the rarest word that a word takes away which no tool knows. */
const UNKNOWN_SHARE = 0.5;
/** Of a tool that has a word in its name, its title and its keywords. */
const FULL_STRENGTH = 0.6;

/** Nothing is allocated by the size of the catalogue: sums live in the segments' working space until they are visited. */
export function scoreLayers(layers: readonly Layer[], units: readonly ReadUnit[], words: WordStatistics): Scored {
  let potential = 0;
  for (const unit of units) {
    const spreads = layers.map((layer) => raiseByUnit(layer, unit));
    const most = Math.max(...spreads.map((spread) => spread.most));
    const squares = spreads.reduce((sum, spread) => sum + spread.squares, 0);
    // Tools that are much less about a unit than the best one hardly make it less rare.
    const rarity = words.rarityOf(most === 0 ? 0 : squares / (most * most));
    potential += unit.importance * FULL_STRENGTH * (most > 0 ? rarity : UNKNOWN_SHARE * words.rarityOf(1));
    for (const { segment } of layers) addUnit(segment, unit.importance * rarity);
  }
  return {
    potential,
    visit({ segment }, visitor) {
      const { values, touched, count } = segment.scratch.total;
      for (let place = 0; place < count; place++) {
        const document = touched[place] as number;
        const sum = values[document] as number;
        values[document] = 0;
        visitor(document, sum);
      }
      segment.scratch.total.count = 0;
    },
  };
}

/** How surely the tools of a layer are found by a unit. */
interface Spread {
  readonly most: number;
  readonly squares: number;
}

function raiseByUnit(layer: Layer, unit: ReadUnit): Spread {
  for (const reading of unit.readings) raiseByReading(layer, reading);
  for (const [name, weight] of unit.learnt) raiseByName(layer, name, weight);
  const { values, touched, count } = layer.segment.scratch.unit;
  let squares = 0;
  let most = 0;
  for (let place = 0; place < count; place++) {
    const value = values[touched[place] as number] as number;
    squares += value * value;
    if (value > most) most = value;
  }
  return { most, squares };
}

function addUnit({ scratch: { unit, total } }: Segment, worth: number): void {
  for (let place = 0; place < unit.count; place++) {
    const document = unit.touched[place] as number;
    const known = total.values[document] as number;
    if (known === 0) total.touched[total.count++] = document;
    total.values[document] = known + worth * (unit.values[document] as number);
    unit.values[document] = 0;
  }
  unit.count = 0;
}

function raiseByReading(layer: Layer, { terms, weight }: Reading): void {
  const { unit, phrase, found } = layer.segment.scratch;
  const [only] = terms;
  if (terms.length === 1 && only !== undefined) {
    raiseByTerm(layer, only, { weight, sums: unit, found: undefined });
    return;
  }
  for (const term of terms) raiseByTerm(layer, term, { weight, sums: phrase, found });
  for (let place = 0; place < phrase.count; place++) {
    const document = phrase.touched[place] as number;
    // Half of a phrase is worth less than half: a tool of git is not yet one for "git diff".
    const share = (found[document] as number) / terms.length;
    raise(unit, document, share * (phrase.values[document] as number));
    phrase.values[document] = 0;
    found[document] = 0;
  }
  phrase.count = 0;
}

interface Raising {
  weight: number;
  sums: Sums;
  /** Of a phrase: its words are counted here and summed up. Else the best counts. */
  found: Uint8Array | undefined;
}

/** The one loop over entries; all else is by the number of words. */
function raiseByTerm({ segment, visible }: Layer, term: string, { weight, sums, found }: Raising): void {
  const { starts, documents, strengths } = segment.postings;
  const number = segment.numbers.get(term);
  if (number === undefined) return;
  const end = starts[number + 1] as number;
  for (let place = starts[number] as number; place < end; place++) {
    const document = documents[place] as number;
    if (visible !== undefined && visible[document] === 0) continue;
    const value = weight * (strengths[place] as number);
    if (found === undefined) raise(sums, document, value);
    else {
      found[document] = (found[document] as number) + 1;
      raise(sums, document, value + (sums.values[document] as number));
    }
  }
}

function raiseByName({ segment, visible }: Layer, name: string, weight: number): void {
  for (const document of segment.byName.get(name.toLowerCase()) ?? []) {
    const isMeant = segment.tools[document]?.name === name && (visible === undefined || visible[document] === 1);
    if (isMeant) raise(segment.scratch.unit, document, weight);
  }
}

function raise(sums: Sums, document: number, value: number): void {
  const known = sums.values[document] as number;
  if (known === 0) sums.touched[sums.count++] = document;
  if (value > known) sums.values[document] = value;
}
