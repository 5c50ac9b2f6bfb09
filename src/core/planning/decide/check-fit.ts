/** Whether a tool does what is asked for, in one reading that ranks "yes" against "no". */
import { shownTexts } from '../../catalog/shown.js';
import type { Tool } from '../../catalog/tool.js';
import { oneLine } from '../../visible-text.js';
import { cutText } from '../issues.js';
import { renderKey } from '../render-tool.js';
import { readEither } from './json-writer.js';
import type { Deciding, Open } from './read.js';

export interface Fit {
  /** Probability of "yes", between 0 and 1. */
  readonly fits: number;
  /** Ratio of its odds to those under an empty request. */
  readonly lift: number;
}

const OPENING = '{"does it": "';
const MAX_DESCRIPTION = 160;
const readYes = (open: Open) => readEither(open, 'yes', 'no');

export async function readFit(tool: Tool, ask: string, { context, read, readUnasked }: Deciding): Promise<Fit> {
  const values = { context, message: ask, tool: renderCandidate(tool) };
  const fits = await read('check-fit', values, OPENING, readYes);
  const unasked = await readUnasked('check-fit', values, OPENING, readYes);
  return { fits, lift: oddsOf(fits) / oddsOf(unasked) };
}

/** Finite, since 0 and 1 count as 0.001 and 0.999. */
export function oddsOf(probability: number): number {
  const bounded = Math.min(Math.max(probability, 0.001), 0.999);
  return bounded / (1 - bounded);
}

/** `name(arguments): description`, on one line. */
export function renderCandidate(tool: Tool): string {
  const { name, inputSchema } = tool;
  const names = Object.keys(Object(inputSchema.properties)).map(renderKey);
  const text = oneLine(shownTexts(tool).description);
  const shown = cutText(text, MAX_DESCRIPTION);
  return `${name}(${names.join(', ')})${shown ? `: ${shown}` : ''}`;
}
