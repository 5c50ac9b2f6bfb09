/** Tools as MiniSearch indexes them: the fields that are searched, and how much a word counts in each. */
import MiniSearch, { type Options } from 'minisearch';
import { z } from 'zod';
import { MAX_DESCRIPTION_CHARACTERS, type Tool } from '../catalog/tool.js';
import { oneLine } from '../visible-text.js';
import { stemOf, wordsOf } from './words.js';

/** Each with the words that it usually has: fixed, so that no tool's numbers tell of another tool. */
const USUAL_WORDS = {
  name: 3,
  aliases: 3,
  keywords: 8,
  title: 3,
  category: 1,
  description: 16,
  parameters: 4,
  examples: 40,
} as const;
export type SearchField = keyof typeof USUAL_WORDS;
export const SEARCH_FIELDS = Object.keys(USUAL_WORDS) as readonly SearchField[];

const weight = z.number().min(0).max(10);

/** Only proportions matter; 0 takes a field out of the index. Half of a catalogue shares names of parameters: 0. */
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
    examples: tool.examples.join('\n'),
  };
}

/** How much a tool is about what was looked for, between 0 and 1, and what of that its free texts alone add. */
export interface Share {
  readonly value: number;
  readonly prose: number;
}

export type Found = ReadonlyMap<number, Share>;

/** Free text of the tool's author: whoever wants a tool to be found writes there what people ask for. */
const PROSE: ReadonlySet<string> = new Set<SearchField>(['title', 'description']);

/** Indexed tools: those of the system, or the private ones of one user. */
export interface Segment {
  readonly tools: readonly Tool[];
  find(term: string): Found;
  /** Terms that begin with the term, or of which it is a slip. */
  near(term: string): readonly string[];
  toJson(): string;
}

/** A tool, and what a word counts in each of its fields. */
interface Entry {
  readonly id: number;
  readonly worth: Readonly<Partial<Record<SearchField, number>>>;
}

const LENGTH_SHARE = 0.4;
/** Terms of which a segment keeps what they find, for the next query. */
const MAX_KEPT = 2_000;

/** Of a term whose slips are looked for: that takes memory by the square of its length. No word that people type is longer. */
const MOST_NEAR_CHARACTERS = 64;

/** The index over tools, half a tool a step: a caller may pause between any two. */
export function* buildSegment(tools: readonly Tool[], weights: FieldWeights): Generator<void, Segment, void> {
  const index = new MiniSearch<Entry>(optionsFor(weights));
  for (const [id, tool] of tools.entries()) {
    const texts = fieldTexts(tool);
    const lengthOf = (field: SearchField) => wordsOf(texts[field]).length / USUAL_WORDS[field];
    const worthOf = (field: SearchField) => weights[field] / (1 - LENGTH_SHARE + LENGTH_SHARE * lengthOf(field));
    const worth = Object.fromEntries(SEARCH_FIELDS.map((field) => [field, worthOf(field)]));
    yield;
    index.add({ ...texts, id, worth });
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
    find: (term) => kept.get(term) ?? findAnew(term),
    near(term) {
      if (term.length > MOST_NEAR_CHARACTERS) return [];
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
