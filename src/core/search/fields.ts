/** The fields of a tool that are searched, and how much a word counts in each. */
import { z } from 'zod';
import { oneLine } from '../catalog/summary.js';
import type { Tool } from '../catalog/tool.js';

/** Eight at most: an entry of the index has a bit for each. */
export const SEARCH_FIELDS = [
  'name',
  'aliases',
  'keywords',
  'title',
  'category',
  'description',
  'parameters',
  'examples',
] as const;
export type SearchField = (typeof SEARCH_FIELDS)[number];

/** What a tool is called by; a description speaks of much else. */
export const CALL_FIELDS: readonly SearchField[] = ['name', 'aliases', 'keywords', 'title'];

const weight = z.number().min(0).max(10);

/**
 * How much a word counts where it stands; 0 takes the field out of the index. Only the proportions matter. Names of
 * parameters (`path`, `id`, `limit`) are shared by half of a catalogue and say little: off by default.
 */
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

/** Text of each field, as it is cut into words. */
export function fieldTexts(tool: Tool): Readonly<Record<SearchField, string>> {
  const properties = tool.inputSchema.properties;
  return {
    name: tool.name,
    aliases: tool.aliases.join(' '),
    keywords: tool.keywords.join(' '),
    title: tool.title ?? '',
    category: tool.category ?? '',
    description: oneLine(tool.description),
    examples: tool.examples.join('\n'),
    parameters: typeof properties === 'object' && properties !== null ? Object.keys(properties).join(' ') : '',
  };
}
