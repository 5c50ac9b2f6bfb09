/**
 * The summaries of selection. The ladder goes from whole descriptions to first sentences, names alone, a keyword shortlist,
 * and shards. The trace names the rung and counts the tools that it leaves out.
 */
import type { View } from '../catalog/scope.js';
import { renderSummary, SUMMARY_STYLES, type SummaryStyle } from '../catalog/summary.js';
import type { Tool } from '../catalog/tool.js';
import { oncePer } from '../kept.js';
import type { Model } from '../model/model.js';
import { keywordSearchOf } from '../search/rank.js';

/** Names of tools in a prompt; all other code uses full names. */
export interface Labels {
  labelOf(tool: Tool): string;
  toolOf(label: string): Tool | undefined;
  /** The name for "no tool fits"; never the name of a tool. */
  readonly none: string;
}

/** Tools as lines of a prompt, with the labels of the model's answer. */
export interface Sheet {
  readonly tools: readonly Tool[];
  readonly style: SummaryStyle;
  readonly labels: Labels;
  readonly text: string;
}

interface Summaries {
  readonly rung: SummaryStyle | 'shortlist' | 'shards';
  /** One sheet; on the rung `shards` several, which the model reads in parallel. */
  readonly sheets: readonly Sheet[];
  readonly leftOut: number;
}

interface SheetBudget {
  readonly model: Model;
  readonly summaryTokens: number;
}

/** With fewer keyword matches the request does not use the words of the catalogue, so shards follow. */
const MIN_MATCHES = 5;
/**
 * Tools of the keyword shortlist, and of the second look after names alone. On 30 tasks of LiveMCPBench (527 tools) recall is
 * 0.407 by names alone, 0.490 with the second look, 0.471 from the shortlist (`--set summaryTokens=2000`).
 */
export const SHORTLIST_TOOLS = 40;
/** Styles of a second look, which never shows whole descriptions. */
export const SHORT_STYLES = ['sentence', 'names'] as const;
/** Shards are cut by the average tokens of a tool; the slack leaves room for long names. */
const SHARD_SLACK = 1.1;

/** The highest rung that fits the budget. As long as the whole view fits, every request sees the same sheets. */
export async function climb(view: View, query: string, budget: SheetBudget): Promise<Summaries> {
  const stable = sheetsOfView(view, budget);
  const [first] = stable;
  if (first && stable.length === 1) return { rung: first.style, sheets: stable, leftOut: 0 };
  const search = await keywordSearchOf(view);
  const matches = await search(query, SHORTLIST_TOOLS);
  if (matches.length < MIN_MATCHES) return { rung: 'shards', sheets: stable, leftOut: 0 };
  const sheet = fittingSheet(
    matches.map(({ tool }) => tool),
    budget,
  );
  return { rung: 'shortlist', sheets: [sheet], leftOut: view.tools.length - sheet.tools.length };
}

/** @param tools best first; it halves the list until at least the names fit */
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
  return {
    tools,
    style,
    labels,
    text: tools.map((tool) => renderSummary(tool, style, labels.labelOf(tool))).join('\n'),
  };
}

const keptSheets = oncePer((_: View) => new Map<string, readonly Sheet[]>());

/** One sheet of all tools in the first style that fits; else names alone, in as few shards as possible. */
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
    // A text that is far too long needs no token count.
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

/**
 * Labels omit the prefix of a server (`github__`, `spotify_`) if the rest stays unique. The prefix repeats the category,
 * and the model would have to choose it before it reads what distinguishes the tools.
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
