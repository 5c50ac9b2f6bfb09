/** The MiniSearch index of tools: its fields, and the weight of a word in each. */
import MiniSearch, { type Options } from 'minisearch';
import SearchableMap from 'minisearch/SearchableMap';
import { z } from 'zod';
import { codesOf } from '../catalog/codes.js';
import { MAX_DESCRIPTION_CHARACTERS, type Tool } from '../catalog/tool.js';
import { oneLine } from '../visible-text.js';
import { stemOf, wordsOf } from './words.js';

/** Typical lengths in words. Averages of the catalogue would let the score of one tool reveal another. */
const TYPICAL_WORDS = {
  name: 3,
  aliases: 3,
  keywords: 8,
  title: 3,
  category: 1,
  description: 16,
  parameters: 4,
  examples: 40,
} as const;
export type SearchField = keyof typeof TYPICAL_WORDS;
export const SEARCH_FIELDS = Object.keys(TYPICAL_WORDS) as readonly SearchField[];

const weight = z.number().min(0).max(10);

/** Only proportions matter; 0 leaves a field out of the index, as it does `parameters`: half of a catalogue shares their names. */
export const fieldWeightsSchema = z
  .strictObject({
    name: weight.default(0.6),
    aliases: weight.default(0.6),
    keywords: weight.default(0.6),
    title: weight.default(0.4),
    category: weight.default(0.2),
    description: weight.default(0.4),
    parameters: weight.default(0),
    examples: weight.default(0.4),
  })
  .refine((weights) => Object.values(weights).some((one) => one > 0), 'one of the weights must be above 0');
export type FieldWeights = z.output<typeof fieldWeightsSchema>;

export function fieldTexts(tool: Tool): Readonly<Record<SearchField, string>> {
  return {
    name: tool.name,
    aliases: tool.aliases.join(' '),
    keywords: tool.keywords.join(' '),
    title: tool.title ?? '',
    category: tool.category ?? '',
    description: oneLine(tool.description),
    parameters: Object.keys(Object(tool.inputSchema.properties)).join(' ').slice(0, MAX_DESCRIPTION_CHARACTERS),
    examples: [...tool.examples, ...codesOf(tool).keys()].join('\n'),
  };
}

/** How well a tool matches a term, between 0 and 1, and the part of it that its free texts alone add. */
export interface Share {
  readonly value: number;
  readonly prose: number;
}

export type Found = ReadonlyMap<number, Share>;

/** Free texts, where an author can write the words of many requests so that the tool is found. */
const PROSE: ReadonlySet<string> = new Set<SearchField>(['title', 'description']);

/** An index of the tools of the system, or of the private tools of one user. */
export interface Segment {
  readonly tools: readonly Tool[];
  find(term: string): Found;
  /** Indexed terms that begin with the term, or are within a typo of it, each with its edits. */
  near(term: string): ReadonlyMap<string, number>;
  toJson(): string;
}

/** A tool, and the weight of a word in each of its fields. */
interface Entry {
  readonly id: number;
  readonly worth: Readonly<Partial<Record<SearchField, number>>>;
}

const LENGTH_SHARE = 0.4;
/** Terms whose matches a segment caches. */
const MAX_KEPT = 2_000;

/** Longest term of fuzzy search, whose memory grows with the square of the length. People type no longer word. */
const MAX_NEAR_CHARACTERS = 64;
/** Edits as a share of the term's length. */
const FUZZY = 0.25;

/** Builds the index in steps of half a tool; a caller may pause between any two. */
export function* buildSegment(tools: readonly Tool[], weights: FieldWeights): Generator<void, Segment, void> {
  const terms: Terms = new SearchableMap();
  const processTerm = (word: string) => {
    const term = stemOf(word);
    terms.set(term, true);
    return term;
  };
  const index = new MiniSearch<Entry>({ ...optionsFor(weights), processTerm });
  for (const [id, tool] of tools.entries()) {
    const texts = fieldTexts(tool);
    const lengthOf = (field: SearchField) => wordsOf(texts[field]).length / TYPICAL_WORDS[field];
    const worthOf = (field: SearchField) => weights[field] / (1 - LENGTH_SHARE + LENGTH_SHARE * lengthOf(field));
    const worth = Object.fromEntries(SEARCH_FIELDS.map((field) => [field, worthOf(field)]));
    yield;
    index.add({ ...texts, id, worth });
    yield;
  }
  return toSegment(tools, index, terms);
}

const entriesSchema = z.looseObject({
  index: z.array(z.tuple([z.string(), z.unknown()])),
  documentIds: z.record(z.string(), z.int()),
  storedFields: z.record(z.string(), z.object({ worth: z.record(z.string(), z.number()) })),
});

/** Restores a segment from its JSON. @throws Error where the JSON has another form, or other entries than one for each tool. */
export function restoreSegment(tools: readonly Tool[], weights: FieldWeights, json: string): Segment {
  const written = JSON.parse(json);
  const entries = entriesSchema.safeParse(written);
  if (!entries.success) throw new Error('its entries have another form');
  const { documentIds, storedFields } = entries.data;
  const ids = new Set(Object.values(documentIds));
  const areOfTools = Object.keys(documentIds).length === tools.length && tools.every((_, id) => ids.has(id));
  if (!areOfTools || !Object.keys(documentIds).every((key) => Object.hasOwn(storedFields, key)))
    throw new Error('it is of other tools');
  const terms: Terms = SearchableMap.from(entries.data.index.map(([term]) => [term, true]));
  return toSegment(tools, MiniSearch.loadJS<Entry>(written, optionsFor(weights)), terms);
}

function optionsFor(weights: FieldWeights): Options<Entry> {
  const fields = SEARCH_FIELDS.filter((field) => weights[field] > 0);
  return { fields, storeFields: ['worth'], tokenize: wordsOf, processTerm: stemOf };
}

/** Options of a search for one stem. */
const EXACT = { tokenize: (text: string) => [text], processTerm: (term: string) => term };

/** All terms of an index, to find those near a term without their tools. */
type Terms = SearchableMap<true>;

function toSegment(tools: readonly Tool[], index: MiniSearch<Entry>, terms: Terms): Segment {
  const kept = new Map<string, Found>();

  function searchTerm(term: string): Found {
    const hits = index.search(term, EXACT).map(({ id, match, worth }): [number, Share] => {
      const fields = match[term] ?? [];
      const shareIn = (some: readonly string[]) => {
        const mass = some.reduce((sum, field) => sum + worth[field], 0);
        return mass / (1 + mass);
      };
      const value = shareIn(fields);
      return [id, { value, prose: value - shareIn(fields.filter((field) => !PROSE.has(field))) }];
    });
    if (kept.size >= MAX_KEPT) kept.clear();
    const found = new Map(hits);
    kept.set(term, found);
    return found;
  }

  return {
    tools,
    find: (term) => kept.get(term) ?? searchTerm(term),
    near(term) {
      const edits = new Map<string, number>();
      if (term.length > MAX_NEAR_CHARACTERS) return edits;
      for (const longer of terms.atPrefix(term).keys()) edits.set(longer, longer.length - term.length);
      for (const [other, [, distance]] of terms.fuzzyGet(term, Math.round(term.length * FUZZY)))
        edits.set(other, Math.min(distance, edits.get(other) ?? distance));
      return edits;
    },
    toJson: () => JSON.stringify(index),
  };
}
