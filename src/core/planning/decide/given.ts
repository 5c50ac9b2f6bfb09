/** Removes optional arguments and items that the request does not give, such as those that the model writes for any request. */
import type { Tool } from '../../catalog/tool.js';
import type { Choice } from '../../model/choices.js';
import type { SaidNumber } from '../numbers.js';
import { createJsonWriter, type Mark, readYes } from './json-writer.js';
import type { Open, Read } from './read.js';

export const NULL: Choice = { text: 'null', ends: 'plain' };
/**
 * An optional argument stays if its odds against `null` are this many times those under an empty request. At 2.5, which the
 * development cases favoured (4 of 24 given arguments more), 5 of 32 plans of hydrology on the other half got an argument that
 * the request did not give; at 5 three of these are right (`test/bench/plans.mjs --set hydrology --half measure`).
 */
const GIVEN = 5;
/**
 * A value of a closed list or a boolean stays if its own odds are this many times those under an empty request. That keeps 56
 * of 61 such values that development requests give, and 4 of 34 that they do not; the odds against `null` keep 53 and 5.
 */
const VALUE_GIVEN = 10;
/** Keeps odds finite if a probability is 0 or 1. */
const SMOOTHING = 0.001;

/** A written optional argument. When all arguments are there, the model decides whether the request gives it. */
export interface OptionalValue {
  readonly mark: Mark;
  readonly beginnings: readonly Choice[];
  /** Probability of `null`, between 0 and 1. */
  readonly unsaid: number;
  /** The chosen value of a closed list, with its probability among the beginnings and `null`. */
  closed?: { readonly choice: Choice; readonly probability: number };
  leaveOut(): void;
}

export async function removeNotGiven(optional: readonly OptionalValue[], open: Open): Promise<void> {
  const odds = (probability: number) => (probability + SMOOTHING) / (1 - probability + SMOOTHING);
  for (const { mark, beginnings, unsaid, closed, leaveOut } of optional) {
    const unasked = await createJsonWriter(open, mark).probabilityOf(closed?.choice ?? NULL, [...beginnings, NULL]);
    const isGiven = closed
      ? odds(closed.probability) >= VALUE_GIVEN * odds(unasked)
      : odds(1 - unsaid) >= GIVEN * odds(1 - unasked);
    if (!isGiven) leaveOut();
  }
}

/**
 * Up to this probability of `null`, a number of the request is the identifier. Of 27 requests in eight languages it reads 11 of
 * 12 numbers of things ("счёт 1440") as such, and 1 of 15 amounts, years and counts of people.
 */
const NUMBER_UNSAID = 0.1;

/** Whether one of the numbers in digits is the identifier that the tool of the reading requires. */
export async function isNumberIdentifier(
  name: string,
  { open, numbers }: { open: Open; numbers: readonly SaidNumber[] },
): Promise<boolean> {
  const inDigits = numbers.filter(({ text }) => /\p{Nd}/u.test(text));
  const values = new Set(inDigits.map(({ value }) => String(value)));
  if (values.size === 0) return false;
  const writer = createJsonWriter(open);
  writer.force(`${JSON.stringify(name)}: `);
  const choices = [...values].map((text): Choice => ({ text, ends: 'plain' }));
  return (await writer.probabilityOf(NULL, [...choices, NULL])) <= NUMBER_UNSAID;
}

/**
 * An item stays from this probability of "yes" on. On development requests with exclusions it removes 4 of 4 addresses that the
 * request excludes, and none of 7 that it includes (`test/bench/plans.mjs --set exclusions --half learn`).
 */
const WANTED = 0.45;

/** The arguments without items that the request excludes; a list keeps at least its likeliest item. */
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
