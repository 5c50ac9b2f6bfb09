/** Shorter summaries of the tools, by `summaryTokens`: the ladder then stands on first sentences or on names alone. */
import type { Catalog } from '../../core/catalog/catalog.js';
import { renderSummary, SUMMARY_STYLES } from '../../core/catalog/summary.js';
import type { Options } from '../../core/options.js';
import { type Admitter, type Candidate, toCandidate, type Variant } from './variant.js';

export interface SummaryCandidateParts extends Admitter {
  best: Variant;
  catalogs: readonly Catalog[];
  /** Of the run; those of the best variant come on top. */
  options: Pick<Options, 'summaryTokens'>;
  countTokens: (text: string) => number;
}

/** The least that the option takes. */
const MIN_SUMMARY_TOKENS = 200;
/** Lines may be a little longer than here, for the group of a shortened name. */
const ROOM = 1.1;

export function summaryCandidates(parts: SummaryCandidateParts): Candidate[] {
  return shorterOnes(parts).map(({ about, ...options }) => {
    const { best, gate, growth, maxGrowth } = parts;
    const { draft, text, caseIds } = best;
    const variant = { kind: 'summaries' as const, about, draft, text, caseIds };
    return toCandidate({ ...variant, options: { ...best.options, ...options } }, { gate, growth, maxGrowth });
  });
}

type Change = Partial<SummaryCandidateParts['options']> & { about: string };

function shorterOnes({ best, catalogs, options, countTokens }: SummaryCandidateParts): Change[] {
  const present = best.options.summaryTokens ?? options.summaryTokens;
  const tokensOf = (style: (typeof SUMMARY_STYLES)[number]) => {
    const texts = catalogs.map(({ tools }) => tools.map((tool) => renderSummary(tool, style)).join('\n'));
    return Math.max(...texts.map((text) => Math.ceil(countTokens(text) * ROOM)));
  };
  return SUMMARY_STYLES.slice(1).flatMap((style, place) => {
    const summaryTokens = Math.max(MIN_SUMMARY_TOKENS, tokensOf(style));
    const longer = tokensOf(SUMMARY_STYLES[place] ?? 'whole') / ROOM;
    // Else a longer style fits as well, and nothing would change.
    if (summaryTokens >= Math.min(longer, present)) return [];
    const inWords = style === 'names' ? 'names alone' : 'first sentences';
    return [{ about: `summaries: ${inWords} (summaryTokens ${summaryTokens})`, summaryTokens }];
  });
}
