/**
 * The tools by which an agent finds others, as a model reads them: one text for every adapter. The names of this table
 * stand in the texts, and in what the router says to do next.
 */

import { createHash } from 'node:crypto';
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

// The name under which a client sees a tool. Model APIs take 1 to 64 letters, digits, _ and -; one name that does not
// fit makes many clients drop the whole list.

const FITTING = /^[\w-]{1,64}$/;
/** A name that ends as if it had a digest gets one of its own, or a tool could take the shown name of another. */
const LIKE_DIGESTED = /_[0-9a-f]{8}$/;
const MAX_WORDS = 55;

/**
 * The tool's own name where it fits, and is taken neither by one of Winnow's own tools nor by the form of a digested name; else as much of it as fits and a
 * digest of the whole, so that two tools never meet under one name and a tool always has the same.
 */
export function clientName(name: string, taken: ReadonlySet<string>): string {
  if (FITTING.test(name) && !LIKE_DIGESTED.test(name) && !taken.has(name)) return name;
  const digest = createHash('sha256').update(name).digest('hex').slice(0, 8);
  const words = name.replace(/[^A-Za-z0-9-]+/g, '_').slice(0, MAX_WORDS);
  return `${words.replace(/^_+|_+$/g, '') || 'tool'}_${digest}`;
}
