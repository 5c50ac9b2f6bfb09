/**
 * Scores of the visible tools: the sum over the units of the query. Within a unit the best of its readings counts, and a
 * unit is as rare as the tools are that any reading finds: synonyms are one word (the operator #syn of Turtle and Croft,
 * "Evaluation of an inference network-based retrieval model", 1991). Units that say most go first, and when the rest can
 * bring no further tool among the best, it only adds to those that are there (MaxScore: Turtle and Flood, "Query
 * evaluation: strategies and optimizations", 1995).
 */
import type { Best } from './best.js';
import { type FoundList, placeOf } from './found-list.js';
import type { Layer, WordStatistics } from './layer.js';
import { type FoundUnit, spreadOf } from './memory.js';
import type { Sums } from './scratch.js';

export interface ReadUnit extends FoundUnit {
  readonly text: string;
  readonly importance: number;
  /** Tool -> how surely use has taught that the unit means it, between 0 and 1. */
  readonly learnt: ReadonlyMap<string, number>;
}

export interface Weighed {
  /** What the query would be worth to a tool that is all about it. */
  readonly potential: number;
  /** Those that say most first. */
  readonly parts: readonly Part[];
}

interface Part {
  /** One a layer. */
  readonly lists: readonly FoundList[];
  /** What a tool gets that is found for sure. */
  readonly worth: number;
  /** Most that any tool gets. */
  readonly bound: number;
}

/** Part of the worth of the rarest word that a word takes away which no tool knows. */
const UNKNOWN_SHARE = 0.5;
/** Of a tool that has a word in its name, its title and its keywords. */
const FULL_STRENGTH = 0.6;

export function weigh(layers: readonly Layer[], units: readonly ReadUnit[], words: WordStatistics): Weighed {
  let potential = 0;
  const parts = units.map((unit): Part => {
    const { lists, spread } = withLearnt(layers, unit);
    const { most, squares } = spread;
    // Tools that are much less about a unit than the best one hardly make it less rare.
    const rarity = words.rarityOf(most === 0 ? 0 : squares / (most * most));
    potential += unit.importance * FULL_STRENGTH * (most > 0 ? rarity : UNKNOWN_SHARE * words.rarityOf(1));
    const worth = unit.importance * rarity;
    return { lists, worth, bound: worth * most };
  });
  return { potential, parts: parts.sort((one, other) => other.bound - one.bound) };
}

export interface CollectOptions {
  /** The layer, and its place among those that were weighed. */
  layer: Layer;
  place: number;
  /** How many `best` keeps. */
  limit: number;
  /** From the sum of a tool to its score. Absent: as `potential` says, so that not all tools need be looked at. */
  scoreOf?: ((document: number, sum: number) => number) | undefined;
}

/** Puts the best tools of a layer into `best`. Sums live in the segment's working space until they are read. */
export function collect({ potential, parts }: Weighed, best: Best<number>, options: CollectOptions): void {
  const { layer, place, limit, scoreOf } = options;
  const { total } = layer.segment.scratch;
  let rest = parts.reduce((sum, { bound }) => sum + bound, 0);
  let isComplete = false;
  for (const { lists, worth, bound } of parts) {
    const list = lists[place];
    if (!list) continue;
    if (isComplete) addToThere(total, list, worth);
    else addAll(layer, list, worth);
    rest -= bound;
    isComplete ||= scoreOf === undefined && isOutOfReach(total, rest, limit);
  }
  for (let entry = 0; entry < total.count; entry++) {
    const document = total.touched[entry] as number;
    const sum = total.values[document] as number;
    total.values[document] = 0;
    const score = scoreOf ? scoreOf(document, sum) : sum / potential;
    if (best.takes(score)) best.add(score, document);
  }
  total.count = 0;
}

function addAll({ segment, visible }: Layer, { documents, values: found }: FoundList, worth: number): void {
  const { total } = segment.scratch;
  const { values, touched } = total;
  let { count } = total;
  for (let place = 0; place < documents.length; place++) {
    const document = documents[place] as number;
    if (visible !== undefined && visible[document] === 0) continue;
    const known = values[document] as number;
    if (known === 0) touched[count++] = document;
    values[document] = known + worth * (found[place] as number);
  }
  total.count = count;
}

/** A look-up costs so many steps along a list. */
const LOOKUP_STEPS = 16;

function addToThere({ values, touched, count }: Sums, list: FoundList, worth: number): void {
  const { documents, values: found } = list;
  if (count * LOOKUP_STEPS < documents.length) {
    for (let entry = 0; entry < count; entry++) {
      const document = touched[entry] as number;
      const place = placeOf(list, document);
      if (place >= 0) values[document] = (values[document] as number) + worth * (found[place] as number);
    }
    return;
  }
  for (let place = 0; place < documents.length; place++) {
    const document = documents[place] as number;
    const known = values[document] as number;
    if (known !== 0) values[document] = known + worth * (found[place] as number);
  }
}

/** Sums are rounded: what is this near is not told apart. */
const ROUNDING = 1.0001;

/** Whether a tool that has nothing yet stays behind so many others with all of the rest. */
function isOutOfReach({ values, touched, count }: Sums, rest: number, limit: number): boolean {
  if (count < limit || limit === 0) return false;
  const reach = rest * ROUNDING;
  let ahead = 0;
  for (let entry = 0; entry < count && ahead < limit; entry++) {
    if ((values[touched[entry] as number] as number) > reach) ahead += 1;
  }
  return ahead >= limit;
}

function withLearnt(layers: readonly Layer[], unit: ReadUnit): Pick<FoundUnit, 'lists' | 'spread'> {
  if (unit.learnt.size === 0) return unit;
  const lists = layers.map((layer, place) => raisedByName(layer, unit.lists[place], unit.learnt));
  return { lists, spread: spreadOf(layers, lists) };
}

function raisedByName({ segment }: Layer, list: FoundList | undefined, learnt: ReadUnit['learnt']): FoundList {
  const raised = new Map<number, number>();
  for (const [name, weight] of learnt) {
    for (const document of segment.byName.get(name.toLowerCase()) ?? []) {
      if (segment.tools[document]?.name === name) raised.set(document, weight);
    }
  }
  const { documents, values, readings } = list ?? EMPTY;
  const higher = values.slice();
  for (const [place, document] of documents.entries()) {
    higher[place] = Math.max(higher[place] as number, raised.get(document) ?? 0);
    raised.delete(document);
  }
  return {
    documents: Uint32Array.from([...documents, ...raised.keys()]),
    values: Float32Array.from([...higher, ...raised.values()]),
    readings,
  };
}

const EMPTY: FoundList = {
  documents: new Uint32Array(),
  values: new Float32Array(),
  readings: new Uint8Array(),
};
