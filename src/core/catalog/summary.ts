/** One line a tool: all that a model sees of it in stage one. */
import { oneLine } from '../visible-text.js';
import type { Tool } from './tool.js';

/** From the most telling to the shortest. The ladder in `selection/ladder.ts` goes down one by one. */
export const SUMMARY_STYLES = ['whole', 'sentence', 'names'] as const;
export type SummaryStyle = (typeof SUMMARY_STYLES)[number];

/** Not behind an abbreviation, whatever follows it. */
const SENTENCE_END = /(?<!\b(?:[Ee]\.g|[Ii]\.e|vs|cf|approx|incl))[.!?](?=\s+[^a-z\d])|[。！？]/u;

/** `- name [category]: description`, whole, or cut to its first sentence, or `- name` alone. */
export function renderSummary(tool: Tool, style: SummaryStyle): string {
  if (style === 'names') return `- ${tool.name}`;
  const text = oneLine(tool.description);
  const description = style === 'sentence' ? firstSentence(text) : text;
  const category = tool.category ? ` [${oneLine(tool.category)}]` : '';
  return `- ${tool.name}${category}${description ? `: ${description}` : ''}`;
}

export function firstSentence(text: string): string {
  const end = SENTENCE_END.exec(text);
  return end ? text.slice(0, end.index + 1) : text;
}
