/**
 * The tools with which an agent finds others, in the words that models read: one text for all adapters. The texts, and
 * the router's advice on what to do next, use the names of this table.
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

// The name under which a client sees a tool. Model APIs accept 1 to 64 letters, digits, _ and -; a single invalid name
// makes many clients drop the whole list.

const FITTING = /^[\w-]{1,64}$/;
/** A name that already ends like a digest gets one, too; otherwise a tool could take the shown name of another. */
const LIKE_DIGESTED = /_[0-9a-f]{8}$/;
const MAX_WORDS = 55;

/**
 * The tool's own name, where it is valid, free, and does not end like a digest. Otherwise its beginning and a digest of
 * the whole name, which is unique and stable for each tool.
 */
export function clientName(name: string, taken: ReadonlySet<string>): string {
  if (FITTING.test(name) && !LIKE_DIGESTED.test(name) && !taken.has(name)) return name;
  const digest = createHash('sha256').update(name).digest('hex').slice(0, 8);
  const words = name.replace(/[^A-Za-z0-9-]+/g, '_').slice(0, MAX_WORDS);
  return `${words.replace(/^_+|(?<!_)_+$/g, '') || 'tool'}_${digest}`;
}
