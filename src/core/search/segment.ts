/** Tools with their index: what is searched. The system tools are one segment, each user's private tools another. */
import type { Tool } from '../catalog/tool.js';
import { buildPostings } from './build-postings.js';
import type { FieldWeights } from './fields.js';
import { createFoundLists, type FoundLists } from './found-list.js';
import type { Postings } from './postings.js';
import type { Scratch, Sums } from './scratch.js';
import { createSpelling, type Spelling } from './spelling.js';

export interface Segment {
  readonly tools: readonly Tool[];
  readonly postings: Postings;
  /** Term -> its number in the postings. */
  readonly numbers: ReadonlyMap<string, number>;
  readonly spelling: Spelling;
  /** Name and aliases, lower case -> places of the tools that carry them. */
  readonly byName: ReadonlyMap<string, readonly number[]>;
  /** What readings have found in it, kept for the next query. */
  readonly found: FoundLists;
  /** Working space of one search, all zero between searches. */
  readonly scratch: Scratch;
}

/** In slices, like the postings. */
export function* createSegment(tools: readonly Tool[], postings: Postings): Generator<void, Segment, void> {
  const byName = new Map<string, number[]>();
  for (const [place, tool] of tools.entries()) {
    for (const name of new Set([tool.name, ...tool.aliases])) {
      const places = byName.get(name.toLowerCase());
      if (places) places.push(place);
      else byName.set(name.toLowerCase(), [place]);
    }
    yield;
  }
  const numbers = new Map<string, number>();
  for (const [number, term] of postings.terms.entries()) {
    numbers.set(term, number);
    yield;
  }
  const spelling = createSpelling(postings.terms);
  yield;
  const size = tools.length;
  const sums = (): Sums => ({ values: new Float32Array(size), touched: new Uint32Array(size), count: 0 });
  const scratch = {
    total: sums(),
    unit: sums(),
    phrase: sums(),
    found: new Uint8Array(size),
    best: new Uint8Array(size),
  };
  const found = createFoundLists({ postings, numbers, scratch });
  return { tools, postings, numbers, spelling, byName, found, scratch };
}

export function* buildSegment(tools: readonly Tool[], weights: FieldWeights): Generator<void, Segment, void> {
  const postings = yield* buildPostings(tools, weights);
  return yield* createSegment(tools, postings);
}

/** All of a work that is cut into slices, in one go: for few tools, and for tests. */
export function runWhole<T>(work: Generator<void, T, void>): T {
  for (let step = work.next(); ; step = work.next()) if (step.done) return step.value;
}
