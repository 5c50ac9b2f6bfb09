/** Shorter summaries, by the option `summaryTokens`: the ladder then stands on first sentences, or on names alone. */
import type { Catalog } from '../../catalog/catalog.js';
import { renderSummary, SUMMARY_STYLES } from '../../catalog/summary.js';
import type { Options } from '../../config/options.js';
import { type Admitter, type Candidate, toCandidate, type Variant } from './variant.js';

export interface SummaryCandidateParts extends Admitter {
  best: Variant;
  catalogs: Iterable<Catalog>;
  options: Pick<Options, 'summaryTokens'>;
  countTokens: (text: string) => number;
}

/** The least that the option takes. */
const MIN_SUMMARY_TOKENS = 200;
/** Lines may be a little longer than here, for the group of a shortened name. */
const ROOM = 1.1;

export function summaryCandidates({
  best,
  catalogs,
  options,
  countTokens,
  ...admitter
}: SummaryCandidateParts): Candidate[] {
  const all = [...catalogs];
  const tokensOf = (style: (typeof SUMMARY_STYLES)[number]) =>
    Math.max(
      ...all.map(({ tools }) =>
        Math.ceil(countTokens(tools.map((tool) => renderSummary(tool, style)).join('\n')) * ROOM),
      ),
    );
  return SUMMARY_STYLES.slice(1).flatMap((style, place) => {
    const summaryTokens = Math.max(MIN_SUMMARY_TOKENS, tokensOf(style));
    const longer = tokensOf(SUMMARY_STYLES[place] ?? 'whole') / ROOM;
    // Else a longer style fits as well, and nothing would change.
    if (summaryTokens >= Math.min(longer, options.summaryTokens)) return [];
    const about = `summaries: ${style === 'names' ? 'names alone' : 'first sentences'} (summaryTokens ${summaryTokens})`;
    const { draft, text, caseIds } = best;
    return [
      toCandidate(
        { kind: 'summaries', about, draft, text, caseIds, options: { ...best.options, summaryTokens } },
        admitter,
      ),
    ];
  });
}
