/**
 * Other summaries of the tools, by options of the planner: shorter ones by `summaryTokens`, so that the ladder stands on
 * first sentences or on names alone; and in another order by `summaryOrder`.
 */
import type { Catalog } from '../../core/catalog/catalog.js';
import { renderSummary, SUMMARY_STYLES } from '../../core/catalog/summary.js';
import type { Options } from '../../core/config/options.js';
import { inOrder } from '../../core/selection/summary-order.js';
import { type Admitter, type Candidate, toCandidate, type Variant } from './variant.js';

export interface SummaryCandidateParts extends Admitter {
  best: Variant;
  catalogs: readonly Catalog[];
  /** Of the run; those of the best variant come on top. */
  options: Pick<Options, 'summaryTokens' | 'summaryOrder'>;
  countTokens: (text: string) => number;
}

/** The least that the option takes. */
const MIN_SUMMARY_TOKENS = 200;
/** Lines may be a little longer than here, for the group of a shortened name. */
const ROOM = 1.1;

const ORDERS: readonly { summaryOrder: Options['summaryOrder']; inWords: string }[] = [
  { summaryOrder: 'catalog', inWords: 'as in the catalogue' },
  { summaryOrder: 'category', inWords: 'group by group' },
  { summaryOrder: 'name', inWords: 'by name' },
  { summaryOrder: 'reverse', inWords: 'the last first' },
];

export function summaryCandidates(parts: SummaryCandidateParts): Candidate[] {
  return [...shorterOnes(parts), ...otherOrders(parts)].map(({ about, ...options }) => {
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

/** Those by which some catalogue is read in another order than now. */
function otherOrders({ best, catalogs, options }: SummaryCandidateParts): Change[] {
  const namesIn = (order: Options['summaryOrder']) =>
    JSON.stringify(catalogs.map(({ tools }) => inOrder(tools, order).map(({ name }) => name)));
  const known = new Set([namesIn(best.options.summaryOrder ?? options.summaryOrder)]);
  return ORDERS.flatMap(({ summaryOrder, inWords }) => {
    const names = namesIn(summaryOrder);
    if (known.has(names)) return [];
    known.add(names);
    return [{ about: `summaries: ${inWords} (summaryOrder ${summaryOrder})`, summaryOrder }];
  });
}
