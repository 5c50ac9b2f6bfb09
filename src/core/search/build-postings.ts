/**
 * Tools -> postings, in slices: a generator that can be left between any two tools, so that a rebuild stops nobody.
 * Strengths are BM25F (Robertson, Zaragoza and Taylor, "Simple BM25 extension to multiple weighted fields", 2004), with
 * fixed pivots in place of average lengths: so no tool's numbers tell of another tool.
 */
import type { Tool } from '../catalog/tool.js';
import { type FieldWeights, fieldTexts, SEARCH_FIELDS, type SearchField } from './fields.js';
import type { Postings } from './postings.js';
import { termsOf } from './terms.js';
import { wordsOf } from './words.js';

/** How soon repetition stops to count, against weights of about 0.5. */
const SATURATION = 1;
/** What the second and each further time in one field counts, against the first. */
const REPEATED = 0.3;
/** How much the length of a field counts, and the length in words that is neither short nor long. */
const LENGTH_SHARE = 0.4;
const PIVOTS: Readonly<Record<SearchField, number>> = {
  name: 3,
  aliases: 3,
  keywords: 8,
  title: 3,
  category: 1,
  description: 16,
  parameters: 4,
  examples: 40,
};

interface Entry {
  /** Sum over fields of weight x frequency, against length. */
  mass: number;
  fields: number;
}

interface TermEntries {
  documents: number[];
  strengths: number[];
  fields: number[];
}

export function* buildPostings(tools: readonly Tool[], weights: FieldWeights): Generator<void, Postings, void> {
  const byTerm = new Map<string, TermEntries>();
  for (const [document, tool] of tools.entries()) {
    addTool(byTerm, document, entriesOf(tool, weights));
    yield;
  }
  return yield* flatten(byTerm);
}

function entriesOf(tool: Tool, weights: FieldWeights): Map<string, Entry> {
  const entries = new Map<string, Entry>();
  const texts = fieldTexts(tool);
  for (const [number, field] of SEARCH_FIELDS.entries()) {
    if (weights[field] === 0) continue;
    const length = wordsOf(texts[field]).length;
    const step = weights[field] / (1 - LENGTH_SHARE + (LENGTH_SHARE * length) / PIVOTS[field]);
    for (const { term, share } of termsOf(tool, field, texts[field])) {
      const entry = entries.get(term) ?? { mass: 0, fields: 0 };
      entries.set(term, entry);
      entry.mass += share * step * ((entry.fields & (1 << number)) === 0 ? 1 : REPEATED);
      entry.fields |= 1 << number;
    }
  }
  return entries;
}

function addTool(byTerm: Map<string, TermEntries>, document: number, entries: ReadonlyMap<string, Entry>): void {
  for (const [term, { mass, fields }] of entries) {
    const known = byTerm.get(term) ?? { documents: [], strengths: [], fields: [] };
    byTerm.set(term, known);
    known.documents.push(document);
    known.strengths.push(mass / (SATURATION + mass));
    known.fields.push(fields);
  }
}

function* flatten(byTerm: ReadonlyMap<string, TermEntries>): Generator<void, Postings, void> {
  const terms = [...byTerm.keys()].sort();
  const total = [...byTerm.values()].reduce((sum, { documents }) => sum + documents.length, 0);
  yield;
  const postings = {
    terms,
    starts: new Uint32Array(terms.length + 1),
    documents: new Uint32Array(total),
    strengths: new Float32Array(total),
    fields: new Uint8Array(total),
  };
  let place = 0;
  for (const [number, term] of terms.entries()) {
    const entries = byTerm.get(term);
    if (!entries) continue;
    postings.documents.set(entries.documents, place);
    postings.strengths.set(entries.strengths, place);
    postings.fields.set(entries.fields, place);
    place += entries.documents.length;
    postings.starts[number + 1] = place;
    yield;
  }
  return postings;
}
