/** The terms of a field of a tool: stems of its words, and keywords and aliases of several words as one term besides. */
import type { Tool } from '../catalog/tool.js';
import { fieldTexts, type SearchField } from './fields.js';
import { stemOf } from './stem.js';
import { withoutArticles } from './synonyms.js';
import { splitIdentifier, wordsOf } from './words.js';

export interface Term {
  readonly term: string;
  /** As it is written. */
  readonly shown: string;
  /** Of the weight of its field. */
  readonly share: number;
}

/** What a word of a keyword of several counts: "check in" says little of checking. */
const PART_OF_PHRASE = 0.4;

/** @param text of the field. */
export function termsOf(tool: Tool, field: SearchField, text: string): Term[] {
  const terms = (words: readonly string[], share: number) =>
    words.map((word) => ({ term: stemOf(word), shown: word, share }));
  if (field !== 'keywords' && field !== 'aliases') return terms(wordsOf(text), 1);
  return tool[field].flatMap((entry) => {
    const words = wordsOf(entry);
    const parts = withoutArticles(splitIdentifier(entry));
    if (parts.length < 2 || words.length === 0) return terms(words, 1);
    // An alias is a name, and the words of a name count whole.
    const share = field === 'keywords' ? PART_OF_PHRASE : 1;
    return [...terms(words, share), { term: parts.map(stemOf).join(' '), shown: parts.join(' '), share: 1 }];
  });
}

const written = new WeakMap<Tool, Map<string, string>>();

/**
 * A term as the tool itself writes it first in a field that has it. From the tool alone: the words of hidden tools are told
 * to nobody. Kept for each term that was asked for, since the same tools are found again and again.
 */
export function writtenForm(tool: Tool, term: string, field: SearchField): string {
  const forms = written.get(tool) ?? new Map<string, string>();
  written.set(tool, forms);
  const known = forms.get(term);
  if (known !== undefined) return known;
  const found = termsOf(tool, field, fieldTexts(tool)[field]).find((one) => one.term === term)?.shown ?? term;
  forms.set(term, found);
  return found;
}
