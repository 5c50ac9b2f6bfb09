/** Tools as MiniSearch indexes them, and the index of a view. */
import MiniSearch, { type Options } from 'minisearch';
import type { View } from '../catalog/scope.js';
import type { Tool } from '../catalog/tool.js';
import { oncePer } from '../kept.js';
import {
  type FieldWeights,
  fieldTexts,
  fieldWeightsSchema,
  SEARCH_FIELDS,
  type SearchField,
  USUAL_WORDS,
} from './fields.js';
import { type Found, type RankedTool, rank, type Segment } from './rank.js';
import { createSynonymTable } from './synonyms.js';
import { stemOf, wordsOf } from './words.js';

/** A tool, and what a word counts in each of its fields. */
interface Entry {
  readonly id: number;
  readonly worth: Readonly<Partial<Record<SearchField, number>>>;
}

/** How much the length of a field counts. */
const LENGTH_SHARE = 0.4;
/** Terms of which a segment keeps what they find, for the next query. */
const MAX_KEPT = 2_000;

/** The index over tools, one tool a step: a caller may pause between any two. */
export function* buildSegment(tools: readonly Tool[], weights: FieldWeights): Generator<void, Segment, void> {
  const index = new MiniSearch<Entry>(optionsFor(weights));
  for (const [id, tool] of tools.entries()) {
    const texts = fieldTexts(tool);
    const lengthOf = (field: SearchField) => wordsOf(texts[field]).length / USUAL_WORDS[field];
    const worthOf = (field: SearchField) => weights[field] / (1 - LENGTH_SHARE + LENGTH_SHARE * lengthOf(field));
    index.add({ ...texts, id, worth: Object.fromEntries(SEARCH_FIELDS.map((field) => [field, worthOf(field)])) });
    yield;
  }
  return toSegment(tools, index);
}

/** The segment that `json` was made of. @throws Error when it is of another form, or of other tools. */
export function restoreSegment(tools: readonly Tool[], weights: FieldWeights, json: string): Segment {
  const index = MiniSearch.loadJSON<Entry>(json, optionsFor(weights));
  if (index.documentCount !== tools.length) throw new Error('it is of other tools');
  return toSegment(tools, index);
}

function optionsFor(weights: FieldWeights): Options<Entry> {
  const fields = SEARCH_FIELDS.filter((field) => weights[field] > 0);
  return { fields, storeFields: ['worth'], tokenize: wordsOf, processTerm: stemOf };
}

/** Terms come as stems, one at a time. */
const EXACT = { tokenize: (text: string) => [text], processTerm: (term: string) => term };

function toSegment(tools: readonly Tool[], index: MiniSearch<Entry>): Segment {
  const kept = new Map<string, Found>();

  function findAnew(term: string): Found {
    const hits = index.search(term, EXACT).map(({ id, match, worth }): [number, number] => {
      const mass = (match[term] ?? []).reduce((sum, field) => sum + worth[field], 0);
      return [id, mass / (1 + mass)];
    });
    if (kept.size >= MAX_KEPT) kept.clear();
    const found = new Map(hits);
    kept.set(term, found);
    return found;
  }

  return {
    tools,
    find: (term) => kept.get(term) ?? findAnew(term),
    near(term) {
      const terms = new Set<string>();
      // A boost of 0 leaves all tools out: only the terms are asked for.
      const boostDocument = (_: number, found: string) => {
        terms.add(found);
        return 0;
      };
      index.search(term, { ...EXACT, prefix: true, fuzzy: 0.25, boostDocument });
      return [...terms];
    },
    toJson: () => JSON.stringify(index),
  };
}

export interface KeywordIndex {
  /** Best first; ties keep the order of the catalogue. An empty list when no word matches. */
  search(query: string, limit: number): RankedTool[];
}

/** A request speaks of what a tool takes, which a search for a tool does not. */
const FIELD_WEIGHTS = fieldWeightsSchema.parse({ parameters: 0.15 });

export function createKeywordIndex(tools: readonly Tool[]): KeywordIndex {
  const layers = [{ segment: runWhole(buildSegment(tools, FIELD_WEIGHTS)) }];
  const synonyms = createSynonymTable();
  return { search: (query, limit) => rank(query, layers, { limit, synonyms }) };
}

/** All steps of a work at once: for few tools. */
export function runWhole<T>(work: Generator<void, T, void>): T {
  for (let step = work.next(); ; step = work.next()) if (step.done) return step.value;
}

/** The index of a view, built at its first use. */
export const keywordIndexOf = oncePer((view: View): KeywordIndex => createKeywordIndex(view.tools));
