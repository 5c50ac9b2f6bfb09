/** Whether the request gives the optional arguments that were written: what the model would write for anything is left out. */
import type { Tool } from '../../catalog/tool.js';
import type { Choice } from '../../model/choices.js';
import { createJsonWriter, type Mark, readYes } from './json-writer.js';
import type { Open, Read } from './read.js';

export const NULL: Choice = { text: 'null', ends: 'plain' };
/**
 * An optional argument stays where the request makes it so many times likelier, in odds beside `null`, than an empty request
 * does. At 2.5, which looked-at cases favoured (4 of 24 given arguments more), 5 of 32 plans of hydrology on the other half got
 * an argument that nobody gave; at 5 three of these are right (`test/bench/plans.mjs --set hydrology --half measure`).
 */
const GIVEN = 5;
/** Where a probability is 0 or 1 to the model. */
const ROUNDED = 0.001;

/** An optional argument that was written: whether the request gives it is asked when all are there. */
export interface Question {
  readonly mark: Mark;
  readonly beginnings: readonly Choice[];
  readonly unsaid: number;
  leaveOut(): void;
}

export async function leaveOutUngiven(questions: readonly Question[], open: Open): Promise<void> {
  const given = (unsaid: number) => (1 - unsaid + ROUNDED) / (unsaid + ROUNDED);
  for (const { mark, beginnings, unsaid, leaveOut } of questions) {
    const unasked = await createJsonWriter(open, mark).probabilityOf(NULL, [...beginnings, NULL]);
    if (given(unsaid) < GIVEN * given(unasked)) leaveOut();
  }
}

/**
 * An item stays from this probability of "yes" on. On looked-at requests with exclusions it leaves out 4 of 4 addresses that
 * were to be spared, and none of 7 that were meant (`test/bench/plans.mjs --set exclusions --half learn`).
 */
const WANTED = 0.45;

/** The arguments without the items that the request leaves out; a list keeps its surest item at least. */
export async function withWantedItems(
  tool: Tool,
  values: Readonly<Record<string, unknown>>,
  { read, context, message }: { read: Read; context: string; message: string },
): Promise<Record<string, unknown>> {
  const wanted: Record<string, unknown> = { ...values };
  for (const [name, list] of Object.entries(values)) {
    if (!Array.isArray(list) || list.length < 2 || !list.every(isSaid)) continue;
    const looked: { item: unknown; yes: number }[] = [];
    for (const item of list) {
      const call = `${tool.name}(${name}: ${JSON.stringify(item)})`;
      const yes = await read('check-item', { context, message, call }, '{"wanted": "', readYes);
      looked.push({ item, yes });
    }
    const surest = Math.max(...looked.map(({ yes }) => yes));
    wanted[name] = looked.filter(({ yes }) => yes >= Math.min(WANTED, surest)).map(({ item }) => item);
  }
  return wanted;
}

function isSaid(item: unknown): boolean {
  return typeof item === 'number' || (typeof item === 'string' && !item.startsWith('${'));
}
