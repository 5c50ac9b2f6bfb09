/** What stage one shows: the tools, as which lines, under which names. A sheet of a whole view is kept and reused. */
import { renderSummary, type SummaryStyle } from '../catalog/summary.js';
import type { Tool } from '../catalog/tool.js';
import { createLabels, type Labels } from './labels.js';

export interface Sheet {
  readonly tools: readonly Tool[];
  readonly style: SummaryStyle;
  readonly labels: Labels;
  /** All summaries, one a line. */
  readonly text: string;
}

export function createSheet(tools: readonly Tool[], style: SummaryStyle): Sheet {
  const labels = createLabels(tools);
  const lines = tools.map((tool) => renderLine(tool, labels.labelOf(tool), style));
  return { tools, style, labels, text: lines.join('\n') };
}

const rendered = new WeakMap<Tool, Map<string, string>>();

/** Kept, since each request may have a shortlist of its own; a tool has two labels at most. */
function renderLine(tool: Tool, label: string, style: SummaryStyle): string {
  const known = rendered.get(tool) ?? new Map<string, string>();
  rendered.set(tool, known);
  const key = `${style}:${label}`;
  const category = tool.category ?? (label === tool.name ? undefined : tool.origin);
  const line =
    known.get(key) ?? renderSummary({ ...tool, name: label, ...(category === undefined ? {} : { category }) }, style);
  known.set(key, line);
  return line;
}
