/**
 * The tools without which a plan has not done all that was asked for: the request calls each by a word of its own, which
 * no better match explains. Three tools that all find movies are alternatives, one that translates is a further thing,
 * also in a long request that speaks more of others. With the needed tools among 8, 0.98 (NESTFUL), 0.93 (BFCL)
 * and 0.77 (ACEBench) of them are needed. Among tools that selection chose the share is 0.5 to 0.8, so there nothing is due.
 */
import type { Tool } from '../catalog/tool.js';
import { CALL_FIELDS, type SearchField } from '../search/fields.js';
import type { RankedTool } from '../search/rank.js';
import { stemOf, wordsOf } from '../search/words.js';
import { CLEARLY_MENTIONED, mentionedTools, namesWithProducers, nounsAsked, type Offer } from './mentioned.js';

export function dueTools(offer: Offer): string[] {
  return offer.selection.mode === 'passthrough' ? calledTools(offer) : [];
}

/** The tools that the request calls so, whoever handed them on, and the producers that they need. */
export function calledTools(offer: Offer): string[] {
  const mentions = mentionedTools(offer).map((mention) => ({ ...mention, called: calledBy(mention.match) }));
  const explained = new Set<string>();
  const due: Tool[] = [];
  for (const { match, share, called } of mentions) {
    const others = mentions.filter((other) => other.match !== match).flatMap((other) => other.called);
    if (share < CLEARLY_MENTIONED && !isActionAsked(match.tool, { called, others })) continue;
    if (called.every((word) => explained.has(word))) continue;
    due.push(match.tool);
    for (const noun of nounsAsked(match.why)) explained.add(noun);
  }
  return namesWithProducers(due, offer);
}

const CALLED_BY = new Set<SearchField | 'learnt'>(CALL_FIELDS);

function calledBy({ why }: RankedTool): string[] {
  return nounsAsked(why.filter(({ fields }) => fields.some((field) => CALLED_BY.has(field))));
}

/**
 * Whether what it does is asked for, and by a word that calls no other tool: the first of its name and of its description,
 * as in `convert_currency`: "Converts an amount".
 */
function isActionAsked(
  { name, description }: Tool,
  { called, others }: { called: readonly string[]; others: readonly string[] },
): boolean {
  const [action, described] = [name, description].map((text) => stemOf(wordsOf(text)[0] ?? ''));
  return action === described && called.some((word) => stemOf(word) === action && !others.includes(word));
}
