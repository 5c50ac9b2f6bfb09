/**
 * The tools without which a plan has not done all that was asked for: the request calls each by a word of its own, which
 * no better match explains. Three tools that all find movies are alternatives, one that translates is a further thing,
 * also in a long request that speaks more of others. With the needed tools among 8, 0.98 (NESTFUL), 0.93 (BFCL)
 * and 0.77 (ACEBench) of them are needed. Among tools that selection chose the share is 0.5 to 0.8, so there nothing is due.
 */
import type { Tool } from '../catalog/tool.js';
import { CALL_FIELDS, type SearchField } from '../search/fields.js';
import type { RankedTool } from '../search/rank.js';
import { stemOf } from '../search/stem.js';
import { wordsOf } from '../search/words.js';
import { mentionedTools, namesWithProducers, type Offer } from './mentioned.js';
import { nounsIn } from './producers/vocabulary.js';

const CALLED_BY = new Set<SearchField | 'learnt'>(CALL_FIELDS);

export function dueTools(offer: Offer): string[] {
  if (offer.selection.mode !== 'passthrough') return [];
  const mentions = mentionedTools(offer).map((mention) => ({ ...mention, called: calledBy(mention) }));
  const explained = new Set<string>();
  const due: Tool[] = [];
  for (const mention of mentions) {
    const others = mentions.filter((other) => other !== mention).flatMap(({ called }) => called);
    if (!mention.isClear && !callsItsAction(mention, others)) continue;
    if (mention.called.every((word) => explained.has(word))) continue;
    due.push(mention.tool);
    for (const noun of nounsOf(mention.why)) explained.add(noun);
  }
  return namesWithProducers(due, offer);
}

/** Words of the request. */
function calledBy({ why }: RankedTool): string[] {
  return nounsOf(why.filter(({ fields }) => fields.some((field) => CALLED_BY.has(field))));
}

/** Whether the first word of its name is asked for, as in `convert_currency`, and calls no other tool. */
function callsItsAction({ tool, called }: Called, others: readonly string[]): boolean {
  const [action = ''] = wordsOf(tool.name);
  return called.some((word) => stemOf(word) === stemOf(action) && !others.includes(word));
}

type Called = Pick<RankedTool, 'tool'> & { called: readonly string[] };

function nounsOf(why: RankedTool['why']): string[] {
  return why.flatMap(({ asked }) => nounsIn(asked));
}
