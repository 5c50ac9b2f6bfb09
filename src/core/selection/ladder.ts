/**
 * The summaries fit, or a ladder is climbed: whole descriptions, first sentences, names alone, the keyword matches of
 * the request, shards. Which rung was taken and what it left out is told.
 */
import type { View } from '../catalog/scope.js';
import { renderSummary, SUMMARY_STYLES, type SummaryStyle } from '../catalog/summary.js';
import type { Tool } from '../catalog/tool.js';
import type { Options } from '../config/options.js';
import type { Model } from '../model/model.js';
import { keywordIndexOf } from '../search/keyword-index.js';
import { inGroups } from './groups.js';
import { createSheet, type Sheet } from './sheet.js';
import { inOrder } from './summary-order.js';

export const RUNGS = [...SUMMARY_STYLES, 'shortlist', 'shards'] as const;
export type Rung = (typeof RUNGS)[number];

export interface Footing {
  readonly rung: Rung;
  /** One sheet; several, to be read side by side, on the rung `shards`. */
  readonly sheets: readonly Sheet[];
  /** Visible tools that stand on no sheet. */
  readonly leftOut: number;
}

export type LadderLimits = Pick<Options, 'summaryTokens' | 'summaryOrder' | 'shortlistTools'>;

/** Fewer keyword matches than this say that the words of the request are not those of the catalogue. */
const MIN_MATCHES = 5;

type Stable = { rung: Rung; sheet: Sheet } | undefined;
const stableSheets = new WeakMap<View, Map<string, Stable>>();

export function climb(view: View, query: string, { limits, model }: { limits: LadderLimits; model: Model }): Footing {
  const stable = stableSheet(view, limits, model);
  if (stable) return { rung: stable.rung, sheets: [stable.sheet], leftOut: 0 };
  const matches = keywordIndexOf(view).search(query, limits.shortlistTools);
  if (matches.length >= MIN_MATCHES) {
    const sheet = fittingSheet(
      matches.map((match) => match.tool),
      { limits, model },
    );
    return { rung: 'shortlist', sheets: [sheet], leftOut: view.tools.length - sheet.tools.length };
  }
  return { rung: 'shards', sheets: shardSheets(view, limits, model), leftOut: 0 };
}

/** The first rung on which all tools stand; found once a view. */
function stableSheet(view: View, limits: LadderLimits, model: Model): Stable {
  const key = `${model.id}:${limits.summaryTokens}:${limits.summaryOrder}`;
  const known = stableSheets.get(view) ?? new Map<string, Stable>();
  stableSheets.set(view, known);
  if (!known.has(key)) {
    known.set(key, undefined);
    const tools = inOrder(view.tools, limits.summaryOrder);
    for (const style of SUMMARY_STYLES) {
      const sheet = createSheet(tools, style);
      if (!fits(sheet.text, limits.summaryTokens, model)) continue;
      known.set(key, { rung: style, sheet });
      break;
    }
  }
  return known.get(key);
}

/**
 * The tools in the first style in which they fit; where they don't by their names alone, so many of the first that do.
 *
 * @param tools best first
 */
export function fittingSheet(
  tools: readonly Tool[],
  {
    limits,
    model,
    styles = SUMMARY_STYLES,
  }: { limits: Pick<LadderLimits, 'summaryTokens'>; model: Model; styles?: readonly SummaryStyle[] },
): Sheet {
  const style = styles.find((one) => {
    const tokens = tools.reduce((sum, tool) => sum + lineTokens(tool, one, model), 0);
    return tokens <= limits.summaryTokens;
  });
  if (style || tools.length <= 1) return createSheet(tools, style ?? 'names');
  return fittingSheet(tools.slice(0, Math.floor(tools.length / 2)), { limits, model, styles });
}

const countedLines = new WeakMap<Tool, Map<string, number>>();

/** Of a tool's line at its longest, with the break; counted once, since each request has a shortlist of its own. */
function lineTokens(tool: Tool, style: SummaryStyle, model: Model): number {
  const known = countedLines.get(tool) ?? new Map<string, number>();
  countedLines.set(tool, known);
  const key = `${model.id}:${style}`;
  const tokens =
    known.get(key) ??
    model.countTokens(`${renderSummary({ ...tool, category: tool.category ?? tool.origin }, style)}\n`);
  known.set(key, tokens);
  return tokens;
}

const shardCache = new WeakMap<View, Map<string, readonly Sheet[]>>();

/** Names alone, cut into as few sheets as fit; the same for every request, so each is read once. */
function shardSheets(view: View, limits: LadderLimits, model: Model): readonly Sheet[] {
  const key = `${model.id}:${limits.summaryTokens}:${limits.summaryOrder}`;
  const known = shardCache.get(view) ?? new Map<string, readonly Sheet[]>();
  shardCache.set(view, known);
  const made = known.get(key);
  if (made) return made;
  const tools = inOrder(view.tools, limits.summaryOrder);
  const total = model.countTokens(createSheet(tools, 'names').text);
  const count = Math.ceil((total * 1.1) / limits.summaryTokens);
  const size = Math.ceil(tools.length / count);
  const sheets = inGroups(tools, size).map((some) => createSheet(some, 'names'));
  known.set(key, sheets);
  return sheets;
}

/** A text of four times as many characters as tokens are allowed need not be counted when it is far off. */
function fits(text: string, tokens: number, model: Model): boolean {
  return text.length <= tokens * 12 && model.countTokens(text) <= tokens;
}
