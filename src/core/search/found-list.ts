/**
 * What readings find in a segment: each tool by the reading that finds it most surely. Nothing in it depends on who asks,
 * so it is kept: the words of queries come again, though queries seldom do.
 */
import { lowerBoundOf, type Postings } from './postings.js';
import type { Reading } from './reading.js';
import type { Scratch, Sums } from './scratch.js';

/** The part of a segment that is read. */
interface IndexedTools {
  readonly postings: Postings;
  readonly numbers: ReadonlyMap<string, number>;
  readonly scratch: Scratch;
}

export interface FoundList {
  /** Ascending. */
  readonly documents: Uint32Array;
  /** Between 0 and 1, never 0: how surely each is found. */
  readonly values: Float32Array;
  /** Place of the reading that finds it so. */
  readonly readings: Uint8Array;
}

export interface FoundLists {
  /** @param key of `keyOf` for the readings */
  find(key: string, readings: readonly Reading[]): FoundList;
  /** Of the lists that are kept. */
  entries(): number;
}

export interface FoundListOptions {
  /** Entries of the lists that are kept; nine bytes each. Default: 2,000,000. */
  maxEntries?: number;
}

/** Equal keys for equal readings. */
export function keyOf(readings: readonly Reading[]): string {
  return readings.map(({ weight, terms }) => `${weight} ${terms.join(' ')}`).join('\n');
}

export function createFoundLists(index: IndexedTools, { maxEntries = 2_000_000 }: FoundListOptions = {}): FoundLists {
  const kept = new Map<string, FoundList>();
  let entries = 0;
  return {
    find(key, readings) {
      const known = kept.get(key);
      if (known) return known;
      const list = findBy(index, readings);
      kept.set(key, list);
      entries += list.documents.length;
      // The oldest go first: those that are asked for often are soon there again.
      for (const [oldest, { documents }] of kept) {
        if (entries <= maxEntries) break;
        kept.delete(oldest);
        entries -= documents.length;
      }
      return list;
    },
    entries: () => entries,
  };
}

/** The place of a document in the list, or -1. */
export function placeOf({ documents }: FoundList, document: number): number {
  const place = lowerBoundOf(documents, document, 0, documents.length);
  return place < documents.length && documents[place] === document ? place : -1;
}

/** Nothing is allocated by the size of the catalogue: sums live in the segment's working space until they are read. */
function findBy(index: IndexedTools, readings: readonly Reading[]): FoundList {
  for (const [place, reading] of readings.entries()) {
    if (reading.terms.length === 1) raiseByTerm(index, reading, place);
    else raiseByPhrase(index, reading, place);
  }
  const { unit, best } = index.scratch;
  const documents = sorted(unit);
  const values = new Float32Array(documents.length);
  const found = new Uint8Array(documents.length);
  for (let place = 0; place < documents.length; place++) {
    const document = documents[place] as number;
    values[place] = unit.values[document] as number;
    found[place] = best[document] as number;
    unit.values[document] = 0;
  }
  unit.count = 0;
  return { documents, values, readings: found };
}

/** Where most were raised, looking at all is faster than sorting. */
function sorted({ touched, values, count }: Sums): Uint32Array {
  if (count * 32 < values.length) return touched.slice(0, count).sort();
  const documents = new Uint32Array(count);
  let next = 0;
  for (let document = 0; next < count; document++) if (values[document] !== 0) documents[next++] = document;
  return documents;
}

/** With `raiseByPhrase` the loops over entries; all else is by the number of words. */
function raiseByTerm({ postings, numbers, scratch }: IndexedTools, { terms, weight }: Reading, reading: number): void {
  const number = numbers.get(terms[0] ?? '');
  if (number === undefined) return;
  const { starts, documents, strengths } = postings;
  const { values, touched } = scratch.unit;
  let { count } = scratch.unit;
  const end = starts[number + 1] as number;
  for (let place = starts[number] as number; place < end; place++) {
    const document = documents[place] as number;
    // As it is kept: compared with more digits, an equal one would count as more.
    const value = Math.fround(weight * (strengths[place] as number));
    const known = values[document] as number;
    if (value <= known) continue;
    if (known === 0) touched[count++] = document;
    values[document] = value;
    scratch.best[document] = reading;
  }
  scratch.unit.count = count;
}

function raiseByPhrase(
  { postings, numbers, scratch }: IndexedTools,
  { terms, weight }: Reading,
  reading: number,
): void {
  const { unit, phrase, found, best } = scratch;
  const { starts, documents, strengths } = postings;
  for (const term of terms) {
    const number = numbers.get(term);
    if (number === undefined) continue;
    const end = starts[number + 1] as number;
    for (let place = starts[number] as number; place < end; place++) {
      const document = documents[place] as number;
      const known = phrase.values[document] as number;
      if (known === 0) phrase.touched[phrase.count++] = document;
      phrase.values[document] = known + weight * (strengths[place] as number);
      found[document] = (found[document] as number) + 1;
    }
  }
  for (let entry = 0; entry < phrase.count; entry++) {
    const document = phrase.touched[entry] as number;
    // Half of a phrase is worth less than half: a tool of git is not yet one for "git diff".
    const share = (found[document] as number) / terms.length;
    const value = Math.fround(share * (phrase.values[document] as number));
    const known = unit.values[document] as number;
    phrase.values[document] = 0;
    found[document] = 0;
    if (value <= known) continue;
    if (known === 0) unit.touched[unit.count++] = document;
    unit.values[document] = value;
    best[document] = reading;
  }
  phrase.count = 0;
}
