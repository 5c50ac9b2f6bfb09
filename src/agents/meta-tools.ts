/**
 * The tools by which an agent finds others, as a model reads them: one text for every adapter. The names of this table
 * stand in the texts, and in what the router says to do next.
 */
import {
  disableInputSchema,
  disableOutputSchema,
  enableInputSchema,
  enableOutputSchema,
  searchInputSchema,
  searchOutputSchema,
} from './contracts.js';

export const META_TOOLS = {
  tool_search: {
    title: 'Find tools',
    description:
      'Finds tools by what they should do. Call it when no tool that you have fits, with a verb and what it is done to. ' +
      'The answer has names and descriptions; enable those you need with tool_enable. Search again with other words ' +
      'where nothing fits.',
    input: searchInputSchema,
    output: searchOutputSchema,
  },
  tool_enable: {
    title: 'Enable tools',
    description:
      'Makes tools callable for some turns, by their names as tool_search gave them; name all that you need at once. ' +
      'Enabling again prolongs. What can not be enabled is in `rejected`, with what to do instead.',
    input: enableInputSchema,
    output: enableOutputSchema,
  },
  tool_disable: {
    title: 'Disable tools',
    description: 'Takes enabled tools away that are not needed any more, to make room for others.',
    input: disableInputSchema,
    output: disableOutputSchema,
  },
} as const;
export type MetaToolName = keyof typeof META_TOOLS;
