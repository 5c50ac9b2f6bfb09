/** Shorter summaries of the tools, by `summaryTokens`: the ladder then stands on first sentences or on names alone. */
import { renderSummary, SUMMARY_STYLES } from '../../core/catalog/summary.js';
import { type Candidate, type Round, toCandidate } from './candidates.js';

/** The least that the option takes. */
const MIN_SUMMARY_TOKENS = 200;
/** Lines may be a little longer than here, for the group of a shortened name. */
const ROOM = 1.1;

export function parameterCandidates(round: Round): Candidate[] {
  const { prompt, best, options, catalogs, model } = round;
  if (prompt !== 'select-tools') return [];
  const present = best.options.summaryTokens ?? options.summaryTokens;
  const tokensOf = (style: (typeof SUMMARY_STYLES)[number]) => {
    const texts = [...catalogs.values()].map(({ tools }) => tools.map((tool) => renderSummary(tool, style)).join('\n'));
    return Math.max(...texts.map((text) => Math.ceil(model.countTokens(text) * ROOM)));
  };
  return SUMMARY_STYLES.slice(1).flatMap((style, place) => {
    const summaryTokens = Math.max(MIN_SUMMARY_TOKENS, tokensOf(style));
    const longer = tokensOf(SUMMARY_STYLES[place] ?? 'whole') / ROOM;
    // Else a longer style fits as well, and nothing would change.
    if (summaryTokens >= Math.min(longer, present)) return [];
    const inWords = style === 'names' ? 'names alone' : 'first sentences';
    const about = `summaries: ${inWords} (summaryTokens ${summaryTokens})`;
    return [toCandidate({ kind: 'summaries', about, options: { ...best.options, summaryTokens } }, round)];
  });
}
