/**
 * What the words of queries mean and find for one audience, kept from query to query. It is bounded, and holds nothing of
 * a person: what use has taught is added afterwards.
 */
import { type FoundList, keyOf } from './found-list.js';
import { createWordStatistics, type Layer, type WordStatistics } from './layer.js';
import type { Unit } from './query.js';
import type { Reading } from './reading.js';
import { isGuessed, readingsOf } from './readings.js';
import type { SynonymTable } from './synonyms.js';

export interface FoundUnit extends ReadingsOfUnit {
  /** One a layer. */
  readonly lists: readonly FoundList[];
}

interface ReadingsOfUnit {
  readonly readings: readonly Reading[];
  readonly spread: Spread;
}

/** How surely the visible tools are found by a unit. */
export interface Spread {
  readonly most: number;
  readonly squares: number;
}

export interface Memory {
  readonly statistics: WordStatistics;
  find(unit: Unit): FoundUnit;
}

const MAX_UNITS = 4_000;

const memories = new WeakMap<Layer, { layers: readonly Layer[]; synonyms: SynonymTable; memory: Memory }>();

/** The same layers, which an index keeps for an audience, have the same memory as long as the synonyms stay. */
export function memoryOf(layers: readonly Layer[], synonyms: SynonymTable): Memory {
  const [first] = layers;
  const known = first && memories.get(first);
  if (known && known.synonyms === synonyms && isSame(known.layers, layers)) return known.memory;
  const memory = createMemory(layers, synonyms);
  if (first) memories.set(first, { layers, synonyms, memory });
  return memory;
}

function isSame(one: readonly Layer[], other: readonly Layer[]): boolean {
  return one.length === other.length && one.every((layer, place) => layer === other[place]);
}

function createMemory(layers: readonly Layer[], synonyms: SynonymTable): Memory {
  const statistics = createWordStatistics(layers);
  const parts = { statistics, synonyms, segments: layers.map(({ segment }) => segment) };
  // Without the lists, which the segments keep for all audiences.
  const units = new Map<string, ReadingsOfUnit & { readonly key: string }>();

  function readAnew(unit: Unit) {
    const readings = readingsOf(unit, parts);
    const key = keyOf(readings);
    return { readings, key, spread: spreadOf(layers, listsOf(key, readings)) };
  }

  function listsOf(key: string, readings: readonly Reading[]): FoundList[] {
    return layers.map(({ segment }) => segment.found.find(key, readings));
  }

  return {
    statistics,
    find(unit) {
      // All that readings depend on, besides the tools and the synonyms.
      const name = `${unit.text}\n${unit.own.join(' ')}\n${unit.phrase ?? ''}\n${isGuessed(unit)}`;
      const known = units.get(name) ?? readAnew(unit);
      if (units.size >= MAX_UNITS) units.clear();
      units.set(name, known);
      return { ...known, lists: listsOf(known.key, known.readings) };
    },
  };
}

/** As in `readings.ts`: for V8, these are never whole numbers. */
const SHAPE: Spread = { most: 0.5, squares: 0.5 };

/** Of the tools that may be seen. */
export function spreadOf(layers: readonly Layer[], lists: readonly FoundList[]): Spread {
  const spreads = lists.map((list, place) => spreadWithin(list, layers[place]?.visible));
  return {
    ...SHAPE,
    most: Math.max(0, ...spreads.map(({ most }) => most)),
    squares: spreads.reduce((sum, { squares }) => sum + squares, 0),
  };
}

function spreadWithin({ documents, values }: FoundList, visible: Uint8Array | undefined): Spread {
  let most = 0;
  let squares = 0;
  for (let entry = 0; entry < values.length; entry++) {
    if (visible !== undefined && visible[documents[entry] as number] === 0) continue;
    const value = values[entry] as number;
    squares += value * value;
    if (value > most) most = value;
  }
  return { ...SHAPE, most, squares };
}
