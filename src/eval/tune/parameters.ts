/** Candidates with a smaller `summaryTokens`, which shortens tool summaries to first sentences or names. */
import { renderSummary, SUMMARY_STYLES } from '../../core/catalog/summary.js';
import { type Candidate, type Round, toCandidate } from './candidates.js';

/** Minimum of the option. */
const MIN_SUMMARY_TOKENS = 200;
/** Margin for the group of a shortened name, which makes lines longer than here. */
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
    // Otherwise a longer style fits as well, and nothing would change.
    if (summaryTokens >= Math.min(longer, present)) return [];
    const inWords = style === 'names' ? 'names alone' : 'first sentences';
    const about = `summaries: ${inWords} (summaryTokens ${summaryTokens})`;
    return [toCandidate({ kind: 'summaries', about, options: { ...best.options, summaryTokens } }, round)];
  });
}
