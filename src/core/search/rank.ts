/**
 * A query -> ranked, explained tools. The score is the share of the query that a tool covers: BM25F's sum over the words,
 * weighted by rarity among the visible tools and divided by the sum of a perfect match. Free texts alone add little, however
 * much of the query they hold. No score depends on a hidden tool: results are those of an index without it.
 */
import { codesIn, codesOf } from '../catalog/codes.js';
import type { View } from '../catalog/scope.js';
import type { Tool } from '../catalog/tool.js';
import { runInSlices } from '../in-slices.js';
import { oncePer } from '../kept.js';
import {
  buildSegment,
  type Found,
  fieldTexts,
  fieldWeightsSchema,
  SEARCH_FIELDS,
  type SearchField,
  type Share,
} from './keyword-index.js';
import { joinLayers, type Layer, type Space } from './layers.js';
import { createSynonymTable, type Meaning, type SynonymTable } from './synonyms.js';
import { type Atom, atomsOf, isFiller, segmentWords, stemOf, wordsOf } from './words.js';

/** `word` is the word of the query, followed by an arrow and the word of the tool where they differ. */
export interface WhyMatched {
  readonly asked: string;
  readonly word: string;
  /** `learnt`: no word matches, but users chose the tool after such queries before. */
  readonly fields: readonly (SearchField | 'learnt')[];
}

/** `score` is between 0 and 1; `why` is computed on access. */
export interface RankedTool {
  readonly tool: Tool;
  readonly score: number;
  readonly why: readonly WhyMatched[];
}

/** Learnt from use: a factor of at least 1 on a tool's score, and the tools of a term, each with a weight from 0 to 1. */
export interface Learnt {
  boost(name: string): number;
  toolsOf(term: string): ReadonlyMap<string, number>;
}

export interface RankOptions {
  /** Most tools of all layers together. */
  limit: number;
  /** Most tools of each layer. Default: `limit`. */
  limits?: readonly number[] | undefined;
  synonyms: SynonymTable;
  learnt?: Learnt | undefined;
}

/** Terms of one meaning and their matches. A learnt one has no terms. */
interface Reading {
  readonly terms: Meaning;
  readonly found: Found;
}

/** A word or phrase of the query with its readings: itself, synonyms, near terms. */
interface Unit {
  readonly asked: string;
  readonly readings: readonly Reading[];
  /** The best match of each tool among the readings. */
  readonly best: Found;
  /** Score of a perfect match of the unit. */
  readonly worth: number;
}

const MAX_UNITS = 40;
/** Weights relative to a word of the query itself. */
const WEIGHTS = { synonym: 0.9, near: 0.3, learnt: 0.6, filler: 0.1, code: 4 };
const MIN_GUESSED_CHARACTERS = 4;
const MAX_NEAR_TERMS = 4;
/** Match of a tool with the word in name, title and keywords. */
const FULL_STRENGTH = 0.6;
/** Weight of a word that no tool has, relative to the rarest known word. */
const UNKNOWN_SHARE = 0.5;

/**
 * An author can fill title and description with words that people ask for. So both together count fully only up to the worth
 * of the two rarest words of a query, and little beyond; queries of two words stay unaffected. Measured by
 * `test/bench/push-words.mjs`: a wrong tool with the request in its description is first less often, and no recall is lost.
 */
const PROSE = { words: 2, share: 0.3, beyond: 0.1 };

/** Best first; ties keep the order of the layers and of their catalogues. A caller may pause after each word of the query. */
export function* rank(
  query: string,
  layers: readonly Layer[],
  options: RankOptions,
): Generator<void, RankedTool[], void> {
  const { limit, limits, learnt } = options;
  const space = joinLayers(layers);
  const units = codeUnits(query, space);
  const phrases = phrasesIn(atomsOf(query), options.synonyms).slice(0, MAX_UNITS);
  for (const phrase of phrases) {
    units.push(toUnit(phrase, space, options));
    yield;
  }
  const potential = units.reduce((sum, { worth }) => sum + worth * FULL_STRENGTH, 0);
  const sums = new Map<number, Share>();
  for (const { best, worth } of units) for (const [place, share] of best) addTo(sums, place, share, worth);
  const limitOfProse = proseLimit(units);
  const hits = [...sums].map(([place, { value, prose }]) => {
    const sum = value - Math.max(0, prose - limitOfProse) * (1 - PROSE.beyond);
    return { place, sum: sum * (learnt?.boost(space.toolAt(place).name) ?? 1) };
  });
  hits.sort((one, other) => other.sum - one.sum || one.place - other.place);
  const free = layers.map((_, layer) => limits?.[layer] ?? limit);
  const best = limits ? hits.filter(({ place }) => (free[space.layerOf(place)] as number)-- > 0) : hits;
  return best.slice(0, limit).map(({ place, sum }) => ({
    tool: space.toolAt(place),
    score: Math.round(Math.min(1, sum / potential) * 1000) / 1000,
    get why() {
      return explain(units, place, space.toolAt(place));
    },
  }));
}

function proseLimit(units: readonly Unit[]): number {
  const worths = units.map(({ worth }) => worth).sort((one, other) => other - one);
  return worths.slice(0, PROSE.words).reduce((sum, worth) => sum + PROSE.share * worth, 0);
}

/** A request names values of arguments; a search for a tool does not. */
const REQUEST_WEIGHTS = fieldWeightsSchema.parse({ parameters: 0.15 });

/** Best first; ties keep their order. An empty list when no word matches. */
type KeywordSearch = (query: string, limit: number) => Promise<RankedTool[]>;

function* buildKeywordSearch(tools: readonly Tool[]): Generator<void, KeywordSearch, void> {
  const layers = [{ segment: yield* buildSegment(tools, REQUEST_WEIGHTS) }];
  const synonyms = createSynonymTable();
  return (query, limit) => runInSlices(rank(query, layers, { limit, synonyms }));
}

/** The keyword search of a view. It is built once, in slices, at its first use; each list of names makes another view. */
export const keywordSearchOf = oncePer((view: View) => runInSlices(buildKeywordSearch(view.tools)));

/** Splits a query into known phrases and single words. Phrases with the same keys count once. */
function phrasesIn(atoms: readonly Atom[], synonyms: SynonymTable): (readonly Atom[])[] {
  const phrases: (readonly Atom[])[] = [];
  let run = '';
  for (let place = 0; place <= atoms.length; ) {
    const length = synonyms.phraseAt(atoms, place)?.length ?? 1;
    const phrase = atoms.slice(place, place + length);
    place += length;
    // Of a script without spaces, the segmenter decides what is a word.
    if (length === 1 && phrase[0]?.isSpaceless) run += phrase[0].text;
    else {
      phrases.push(...wordsOf(run).map(atomsOf), phrase);
      run = '';
    }
  }
  const byKeys = new Map(phrases.map((phrase) => [phrase.map(({ key }) => key).join(' '), phrase]));
  return [...byKeys.values()].filter(({ length }) => length > 0);
}

/** A code says more than a word: nearly always, the tool that is meant shows one of its form. Unknown forms say nothing. */
function codeUnits(query: string, space: Space): Unit[] {
  return [...codesIn(query)].flatMap(([form, asked]) => {
    const best = space.find(form);
    const worth = WEIGHTS.code * rarityOf(best.size, space.size);
    return best.size > 0 ? [{ asked, readings: [{ terms: [form], found: best }], best, worth }] : [];
  });
}

/** The best reading counts; the rarity of a unit comes from the tools that any reading finds. */
function toUnit(atoms: readonly Atom[], space: Space, { synonyms, learnt }: RankOptions): Unit {
  const isSpaceless = atoms.every((atom) => atom.isSpaceless);
  const asked = atoms.map(({ text }) => text).join(isSpaceless ? '' : ' ');
  const own = isSpaceless ? segmentWords(asked) : atoms.map(({ key }) => key);
  const known = synonyms.phraseAt(atoms, 0);
  const meanings = known?.length === atoms.length ? known.meanings : [];
  const read = (terms: Meaning, weight: number) => ({ terms, found: findTerms(space, terms, weight) });
  const readings = [read(own, 1), ...meanings.map((terms) => read(terms, WEIGHTS.synonym))];
  const isKnown = readings.some(({ found }) => found.size > 0);
  const isFilled = own.every(isFiller);
  if (!isKnown && !isFilled && own.length === 1 && (own[0] ?? '').length >= MIN_GUESSED_CHARACTERS)
    readings.push(...nearReadings(space, own[0] ?? ''));
  const lists = own.map((term) => learnt?.toolsOf(term) ?? new Map<string, number>());
  const learntTools = highest(lists, (value) => value);
  if (learntTools.size > 0)
    readings.push({ terms: [], found: space.places(({ name }) => WEIGHTS.learnt * (learntTools.get(name) ?? 0)) });
  const best = highest(
    readings.map(({ found }) => found),
    ({ value }) => value,
  );
  const worth = rarityOf(best.size, space.size);
  return { asked, readings, best, worth: isFilled ? WEIGHTS.filler * worth : worth };
}

/** The readings of the nearest terms that visible tools have. A term may be a word of all tools, so that many would cost much. */
function nearReadings(space: Space, term: string): Reading[] {
  const readings: Reading[] = [];
  for (const near of space.near(term)) {
    const found = findTerms(space, [near], WEIGHTS.near);
    if (found.size > 0) readings.push({ terms: [near], found });
    if (readings.length === MAX_NEAR_TERMS) break;
  }
  return readings;
}

/** The matches of a phrase: each of its words has an equal share of the weight. */
function findTerms(space: Space, terms: Meaning, weight: number): Found {
  const share = weight / terms.length;
  if (share === 1) return space.find(terms[0] ?? '');
  const sums = new Map<number, Share>();
  for (const term of terms) for (const [place, one] of space.find(term)) addTo(sums, place, one, share);
  return sums;
}

function addTo(sums: Map<number, Share>, place: number, { value, prose }: Share, weight: number): void {
  const sum = sums.get(place);
  sums.set(place, { value: (sum?.value ?? 0) + weight * value, prose: (sum?.prose ?? 0) + weight * prose });
}

function highest<Key, Value>(
  lists: readonly ReadonlyMap<Key, Value>[],
  sizeOf: (value: Value) => number,
): ReadonlyMap<Key, Value> {
  const [first, ...others] = lists.filter(({ size }) => size > 0);
  if (!first || others.length === 0) return first ?? new Map();
  const values = new Map(first);
  for (const list of others)
    for (const [key, value] of list) {
      const known = values.get(key);
      if (known === undefined || sizeOf(value) > sizeOf(known)) values.set(key, value);
    }
  return values;
}

/** The weight of Robertson and Spärck Jones for a unit that `count` of `size` visible tools have, never below 0. */
function rarityOf(count: number, size: number): number {
  if (count === 0) return UNKNOWN_SHARE * rarityOf(1, size);
  return Math.log(1 + (size - Math.min(count, size) + 0.5) / (count + 0.5));
}

/** Explains by the reading that counted most. It shows only words of this tool, so no word of a hidden tool leaks. */
function explain(units: readonly Unit[], place: number, tool: Tool): WhyMatched[] {
  const written = termsOf(tool);
  return units.flatMap(({ asked, best, readings }): WhyMatched[] => {
    const share = best.get(place);
    const terms = share && readings.find(({ found }) => found.get(place) === share)?.terms;
    if (!terms) return [];
    if (terms.length === 0) return [{ asked, word: asked, fields: ['learnt'] }];
    const matches = written.filter(({ term }) => terms.includes(term));
    const fields = [...new Set(matches.map(({ field }) => field))];
    const shown = terms.flatMap((term) => matches.find((match) => match.term === term)?.word ?? []).join(' ');
    return [{ asked, word: asked === shown ? asked : `${asked} → ${shown}`, fields }];
  });
}

const termsOf = oncePer((tool: Tool): readonly { field: SearchField; word: string; term: string }[] => {
  const texts = fieldTexts(tool);
  const toTerms = (field: SearchField) => wordsOf(texts[field]).map((word) => ({ field, word, term: stemOf(word) }));
  const codes = [...codesOf(tool)].map(([term, word]) => ({ field: 'examples', word, term }) as const);
  return [...codes, ...SEARCH_FIELDS.flatMap(toTerms)];
});
