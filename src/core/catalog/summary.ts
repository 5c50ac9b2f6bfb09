/** The one line that stands for a tool in stage one. */
import { oneLine } from '../visible-text.js';
import { shownTexts } from './shown.js';
import type { Tool } from './tool.js';

/** From the most informative to the shortest. The ladder in `selection/ladder.ts` goes down one by one. */
export const SUMMARY_STYLES = ['whole', 'sentence', 'names'] as const;
export type SummaryStyle = (typeof SUMMARY_STYLES)[number];

/** An abbreviation ends no sentence, whatever follows it. */
const SENTENCE_END = /(?<!\b(?:[Ee]\.g|[Ii]\.e|vs|cf|approx|incl))[.!?](?=\s+[^a-z\d])|[。！？]/u;

/**
 * `- name [category]: description`, whole, or cut to its first sentence, or `- name` alone. A name without that of the server
 * has the server as its category, where the tool has none.
 */
export function renderSummary(tool: Tool, style: SummaryStyle, name = tool.name): string {
  if (style === 'names') return `- ${name}`;
  const shown = shownTexts(tool);
  const text = oneLine(shown.description);
  const description = style === 'sentence' ? firstSentence(text) : text;
  const group = shown.category ?? (name === tool.name ? undefined : tool.origin);
  const category = group ? ` [${oneLine(group)}]` : '';
  return `- ${name}${category}${description ? `: ${description}` : ''}`;
}

export function firstSentence(text: string): string {
  const end = SENTENCE_END.exec(text);
  return end ? text.slice(0, end.index + 1) : text;
}
