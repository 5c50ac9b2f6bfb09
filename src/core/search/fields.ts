/** The fields of a tool that are searched, and how much a word counts in each. */
import { z } from 'zod';
import { oneLine } from '../catalog/summary.js';
import type { Tool } from '../catalog/tool.js';

/** Each with the words that it usually has: fixed, so that no tool's numbers tell of another tool. */
export const USUAL_WORDS = {
  name: 3,
  aliases: 3,
  keywords: 8,
  title: 3,
  category: 1,
  description: 16,
  parameters: 4,
  examples: 40,
} as const;
export type SearchField = keyof typeof USUAL_WORDS;
export const SEARCH_FIELDS = Object.keys(USUAL_WORDS) as readonly SearchField[];

const weight = z.number().min(0).max(10);

/** Only proportions matter; 0 takes a field out of the index. Half of a catalogue shares names of parameters: 0. */
export const fieldWeightsSchema = z
  .strictObject({
    name: weight.default(0.6),
    aliases: weight.default(0.6),
    keywords: weight.default(0.6),
    title: weight.default(0.4),
    category: weight.default(0.2),
    description: weight.default(0.4),
    parameters: weight.default(0),
    examples: weight.default(0.4),
  })
  .refine((weights) => Object.values(weights).some((one) => one > 0), 'one of the weights must be above 0');
export type FieldWeights = z.output<typeof fieldWeightsSchema>;

/** Text of each field, before it is cut into words. */
export function fieldTexts(tool: Tool): Readonly<Record<SearchField, string>> {
  return {
    name: tool.name,
    aliases: tool.aliases.join(' '),
    keywords: tool.keywords.join(' '),
    title: tool.title ?? '',
    category: tool.category ?? '',
    description: oneLine(tool.description),
    parameters: Object.keys(Object(tool.inputSchema.properties)).join(' '),
    examples: tool.examples.join('\n'),
  };
}
