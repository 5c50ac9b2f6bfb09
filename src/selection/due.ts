/**
 * The tools without which a plan has not done all that was asked for: the request calls each by a word of its own, which
 * no better match explains. Three tools that all find movies are alternatives, one that translates is a further thing.
 * On closed sets of the benchmarks 0.97 (NESTFUL), 0.97 (ACEBench) and 0.90 (BFCL) of them are needed. Among tools that
 * selection chose the share is 0.5 to 0.8, so there nothing is due.
 */
import type { Tool } from '../catalog/tool.js';
import { CALL_FIELDS, type SearchField } from '../search/fields.js';
import type { RankedTool } from '../search/rank.js';
import { wordsOf } from '../search/words.js';
import { mentionedTools, namesWithProducers, type Offer } from './mentioned.js';
import { isNoun } from './producers/vocabulary.js';

const CALLED_BY = new Set<SearchField | 'learnt'>(CALL_FIELDS);

export function dueTools(offer: Offer): string[] {
  if (offer.selection.mode !== 'passthrough') return [];
  const explained = new Set<string>();
  const due: Tool[] = [];
  for (const { tool, why } of mentionedTools(offer)) {
    const called = why.filter(({ fields }) => fields.some((field) => CALLED_BY.has(field)));
    if (nounsOf(called).every((noun) => explained.has(noun))) continue;
    due.push(tool);
    for (const noun of nounsOf(why)) explained.add(noun);
  }
  return namesWithProducers(due, offer);
}

function nounsOf(why: RankedTool['why']): string[] {
  return why.flatMap(({ asked }) => wordsOf(asked).filter(isNoun));
}
