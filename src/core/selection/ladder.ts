/**
 * What stage one shows the model. The ladder goes from whole descriptions to first sentences, names alone, a keyword
 * shortlist, and shards. The trace names the rung and how many tools it leaves out.
 */
import type { View } from '../catalog/scope.js';
import { renderSummary, SUMMARY_STYLES, type SummaryStyle } from '../catalog/summary.js';
import type { Tool } from '../catalog/tool.js';
import { oncePer } from '../kept.js';
import type { Model } from '../model/model.js';
import { keywordSearchOf } from '../search/rank.js';

/** The names that the model reads. Outside the model only full names exist. */
export interface Labels {
  labelOf(tool: Tool): string;
  toolOf(label: string): Tool | undefined;
  /** The name that stands for "no tool fits"; never a tool's. */
  readonly none: string;
}

/** Tools as lines of a prompt, and the names that the model answers with. */
export interface Sheet {
  readonly tools: readonly Tool[];
  readonly style: SummaryStyle;
  readonly labels: Labels;
  readonly text: string;
}

export interface Footing {
  readonly rung: SummaryStyle | 'shortlist' | 'shards';
  /** One sheet; several, read side by side, on the rung `shards`. */
  readonly sheets: readonly Sheet[];
  readonly leftOut: number;
}

export interface SheetBudget {
  readonly model: Model;
  readonly summaryTokens: number;
}

/** Fewer keyword matches mean that the request does not use the catalogue's words: shards follow. */
const MIN_MATCHES = 5;
/**
 * Size of the keyword shortlist, and of the second look behind names alone. On 30 tasks of LiveMCPBench (527 tools) recall is
 * 0.407 by names alone, 0.490 with the second look, 0.471 from the shortlist (`--set summaryTokens=2000`).
 */
export const SHORTLIST_TOOLS = 40;
/** Sentences or names: a shortlist and a final choice never show whole descriptions. */
export const SHORT_STYLES = ['sentence', 'names'] as const;
/** Shards are cut by an average of tokens a tool; this leaves room for long names. */
const SHARD_SLACK = 1.1;

/** The highest rung on which the summaries fit the budget. A whole view gives the same sheets for every request. */
export async function climb(view: View, query: string, budget: SheetBudget): Promise<Footing> {
  const stable = sheetsOfView(view, budget);
  const [first] = stable;
  if (first && stable.length === 1) return { rung: first.style, sheets: stable, leftOut: 0 };
  const search = await keywordSearchOf(view);
  const matches = search(query, SHORTLIST_TOOLS);
  if (matches.length < MIN_MATCHES) return { rung: 'shards', sheets: stable, leftOut: 0 };
  const sheet = fittingSheet(
    matches.map(({ tool }) => tool),
    budget,
  );
  return { rung: 'shortlist', sheets: [sheet], leftOut: view.tools.length - sheet.tools.length };
}

/** @param tools best first: where even their names do not fit, the first half stays, and so on. */
export function fittingSheet(
  tools: readonly Tool[],
  budget: SheetBudget,
  styles: readonly SummaryStyle[] = SUMMARY_STYLES,
): Sheet {
  const fitting = firstFitting(tools, budget, styles);
  if (fitting || tools.length <= 1) return fitting ?? createSheet(tools, 'names');
  return fittingSheet(tools.slice(0, Math.floor(tools.length / 2)), budget, styles);
}

export function createSheet(tools: readonly Tool[], style: SummaryStyle): Sheet {
  const labels = createLabels(tools);
  return { tools, style, labels, text: tools.map((tool) => renderLine(tool, labels.labelOf(tool), style)).join('\n') };
}

const keptSheets = oncePer((_: View) => new Map<string, readonly Sheet[]>());

/** One sheet of all tools in the first style that fits; else names alone, cut into as few shards as fit. */
function sheetsOfView(view: View, budget: SheetBudget): readonly Sheet[] {
  const kept = keptSheets(view);
  const key = `${budget.model.id}:${budget.summaryTokens}`;
  const sheet = kept.has(key) ? undefined : firstFitting(view.tools, budget, SUMMARY_STYLES);
  const sheets = kept.get(key) ?? (sheet ? [sheet] : shardsOf(view.tools, budget));
  kept.set(key, sheets);
  return sheets;
}

function firstFitting(
  tools: readonly Tool[],
  { model, summaryTokens }: SheetBudget,
  styles: readonly SummaryStyle[],
): Sheet | undefined {
  for (const style of styles) {
    const sheet = createSheet(tools, style);
    // Nobody counts the tokens of a text that is far too long.
    if (sheet.text.length <= summaryTokens * 12 && model.countTokens(sheet.text) <= summaryTokens) return sheet;
  }
  return undefined;
}

function shardsOf(tools: readonly Tool[], { model, summaryTokens }: SheetBudget): Sheet[] {
  const total = model.countTokens(createSheet(tools, 'names').text);
  const count = Math.ceil((total * SHARD_SLACK) / summaryTokens);
  const size = Math.ceil(tools.length / count);
  return Array.from({ length: Math.ceil(tools.length / size) }, (_, place) =>
    createSheet(tools.slice(place * size, (place + 1) * size), 'names'),
  );
}

/** A tool whose label lost the server's name shows it as its group. */
function renderLine(tool: Tool, label: string, style: SummaryStyle): string {
  const category = tool.category ?? (label === tool.name ? undefined : tool.origin);
  return renderSummary({ ...tool, name: label, ...(category === undefined ? {} : { category }) }, style);
}

/**
 * A server's name in front of all its tools (`github__`, `spotify_`) costs the model's first, blindest choice and says nothing
 * that the group does not say. Labels leave it out where the rest stays unique.
 */
export function createLabels(tools: readonly Tool[]): Labels {
  const short = new Map(tools.map((tool) => [tool, withoutOrigin(tool)]));
  const counts = new Map<string, number>();
  for (const label of [...short.values(), ...tools.map((tool) => tool.name)])
    counts.set(label, (counts.get(label) ?? 0) + 1);
  const labels = new Map<Tool, string>();
  for (const [tool, label] of short)
    labels.set(tool, label !== tool.name && counts.get(label) === 1 ? label : tool.name);
  const byLabel = new Map([...labels].map(([tool, label]) => [label, tool]));
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  let none = 'none';
  while (byLabel.has(none) || byName.has(none)) none = `${none}_of_these`;
  return {
    none,
    labelOf: (tool) => labels.get(tool) ?? tool.name,
    toolOf: (label) => byLabel.get(label) ?? byName.get(label),
  };
}

function withoutOrigin({ name, origin }: Tool): string {
  if (origin === '' || !name.toLowerCase().startsWith(origin.toLowerCase())) return name;
  const rest = /^[_\-./:]+(.{2,})$/u.exec(name.slice(origin.length));
  return rest?.[1] ?? name;
}
