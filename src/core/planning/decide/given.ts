/** Decides what the request gives: it leaves out arguments and items of which it says nothing, or that any request gets. */
import type { Choice } from '../../model/choices.js';
import type { SaidNumber } from '../numbers.js';
import { createJsonWriter, type JsonWriter, type Mark } from './json-writer.js';
import type { Open } from './read.js';
import type { Place } from './sources.js';

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

/**
 * Above this probability of `null` an argument is omitted, or the user is asked if it is required: in the gold steps of the
 * development cases, 0.8 loses 3 of 88 required ones. A list ends where its next item is `null` with more than 0.15.
 */
const NULL_ABOVE = { argument: 0.8, item: 0.15 };

/** Whether the request gives no value for the place; it then writes `null`. */
export async function writesNull(
  { required }: Pick<Place, 'required'>,
  beginnings: readonly Choice[],
  { writer, item, optional }: { writer: JsonWriter; item?: number | undefined; optional: OptionalValue[] },
): Promise<boolean> {
  const unsaid = beginnings.length === 0 ? 1 : await writer.probabilityOf(NULL, [...beginnings, NULL]);
  if (unsaid > NULL_ABOVE[item && !required ? 'item' : 'argument']) {
    writer.force(NULL.text);
    return true;
  }
  if (!required && item === undefined) optional.push({ mark: writer.mark(), beginnings, unsaid, leaveOut: () => {} });
  return false;
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
