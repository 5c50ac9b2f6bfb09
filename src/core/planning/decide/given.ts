/** Decides what the request gives: it leaves out arguments and items of which it says nothing, or that any request gets. */
import type { Choice } from '../../model/choices.js';
import { oddsOf } from './check-fit.js';
import { createJsonWriter, type JsonWriter, type Mark } from './json-writer.js';
import { choiceOf } from './options.js';
import type { Open } from './read.js';
import type { Place } from './sources.js';

export const NULL: Choice = { text: 'null', ends: 'plain' };
/** `""` says nothing, so that the quotation mark counts alone. */
export const QUOTE: Choice = { text: '"', ends: 'itself' };
/**
 * An optional argument stays if its value is `ratio` times as likely as `null`, and if that is `unasked` times as much as under an
 * empty request. Of 59 development requests for one call, on catalogues of fixtures and of real MCP servers, this keeps 46 of 54
 * arguments that the request gives and 5 of some 45 others. A boolean with a default can say the other value alone, which counts
 * against both `null` and the default: of 32 switches of unseen requests (`test/bench/switches`) 27 are right in place of 25.
 *
 * A lookup without a word finds anything, so its value needs to be no likelier than `null`. But it needs `implied` times as much as
 * under what the tool that waits for it says of itself, which is the call that resolves an incident, so `status: "resolved"` finds
 * none to resolve. In `test/bench/effects`, 22 of 25 lookups before an effect have no wrong state, in place of 8 of 23. Before
 * these were looked at, the factor was 1: 15 of 23.
 */
const GIVEN = { ratio: 2, lookup: 1, unasked: 8, implied: 4 };
/** Keeps ratios finite. */
const LEAST = 1e-9;

/** A choice that made a part of a value, where it stands, and all that could stand there, also what says nothing. */
interface Decision {
  readonly mark: Mark;
  readonly choices: readonly Choice[];
  readonly choice: Choice;
}

/** Probabilities of a value, and of each choice that says nothing in its place, `null` first. */
interface Likelihoods {
  readonly value: number;
  readonly unsaid: readonly number[];
}

/** A written optional argument. */
export interface OptionalValue {
  readonly name: string;
  /** Undefined until it is written as a whole. */
  readonly value?: unknown;
  /** Whether only words of the request give it, such as a day: no other request gets it. */
  readonly isComputed?: boolean;
  /** The first has what says nothing among its choices. Of a list they end with its first item. */
  readonly decisions: Decision[];
  /** What says nothing in its place: first `null`, then the default of a boolean. */
  readonly unsaid: readonly Choice[];
  /** Undefined until it is compared with what says nothing. */
  likelihoods?: Likelihoods;
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
  { writer, item }: { writer: JsonWriter; item?: number | undefined },
): Promise<boolean> {
  const unsaid = beginnings.length === 0 ? 1 : await writer.probabilityOf(NULL, [...beginnings, NULL]);
  if (unsaid <= NULL_ABOVE[item && !required ? 'item' : 'argument']) return false;
  writer.force(NULL.text);
  return true;
}

/** The likeliest of the choices, which counts as a part of the optional value. It writes nothing. */
export async function choose<T extends Choice>(
  choices: readonly T[],
  { writer, optional }: { writer: JsonWriter; optional?: OptionalValue | undefined },
): Promise<{ chosen: T; probability: number } | undefined> {
  const [best] = await writer.rank(choices);
  const chosen = choices.find(({ text }) => text === best?.name);
  if (!best || !chosen) return undefined;
  optional?.decisions.push({ mark: writer.mark(), choices: [...choices, ...optional.unsaid], choice: chosen });
  return { chosen, probability: best.probability };
}

/** Whether the model finds the value likelier than `null`, which else takes its place, so that its words are free again. */
export async function isLikelyGiven(
  optional: OptionalValue,
  { writer, open, isLookup }: { writer: JsonWriter; open: Open; isLookup: boolean },
): Promise<boolean> {
  const [first] = optional.decisions;
  optional.likelihoods ??= await readLikelihoods(optional, open);
  const { value, unsaid } = optional.likelihoods;
  if (!first || ratioOf({ value, unsaid: unsaid.slice(0, 1) }) >= (isLookup ? GIVEN.lookup : GIVEN.ratio)) return true;
  writer.back(first.mark);
  writer.force(NULL.text);
  return false;
}

/** The optional values that another request would get nearly as well. @param open reads that request */
export async function findNotGiven(
  optionals: Iterable<OptionalValue>,
  by: 'unasked' | 'implied',
  open: Open,
): Promise<OptionalValue[]> {
  const found: OptionalValue[] = [];
  // From the last one back, each place is a prefix of what the model has already read.
  for (const optional of [...optionals].reverse()) {
    if (by === 'unasked' && optional.isComputed) continue;
    const { likelihoods } = optional;
    const other = ratioOf(await readLikelihoods(optional, open));
    if (!likelihoods || ratioOf(likelihoods) < GIVEN[by] * other) found.push(optional);
  }
  return found;
}

/** An optional identifier that another tool finds, where it stands, and the odds that the model writes a value for it. */
export interface Awaiting {
  readonly name: string;
  readonly mark: Mark;
  readonly odds: number;
}

/** Below these odds of a value, an empty request is not read. */
const WORTH_A_LOOK = 0.05;

/** The odds that the model writes a value and not `null`. It writes nothing. */
export async function valueOdds(writer: JsonWriter): Promise<number> {
  return oddsOf(1 - (await writer.likelihoodOf(NULL, [NULL, QUOTE])));
}

/**
 * The identifiers for which the request names something to look up: the model would write a value, which nobody gave, and
 * `GIVEN.unasked` times as likely as under an empty request. Of 8 such arguments of development requests all have 9 times or more,
 * and of 9 others none.
 */
export async function findAwaited(places: readonly Awaiting[], open: Open): Promise<string[]> {
  const found: string[] = [];
  for (const { name, mark, odds } of places)
    if (odds >= WORTH_A_LOOK && odds >= GIVEN.unasked * (await valueOdds(createJsonWriter(open, mark))))
      found.push(name);
  return found;
}

/** A text in the model's own words that the schema says, too, and where it stands. */
export interface Example {
  readonly name: string;
  readonly text: string;
  readonly mark: Mark;
  /** Its probability among all texts, between 0 and 1. */
  readonly share: number;
}

/** It writes nothing. @param place.mark where the text begins */
export async function readExample(place: Omit<Example, 'share'>, open: Open): Promise<Example> {
  const writer = createJsonWriter(open, place.mark);
  const choice = choiceOf(place.text);
  const likelihood = await writer.likelihoodOf(choice, [choice, NULL]);
  return { ...place, share: likelihood / Math.max(await writer.likelihoodOf(QUOTE, [QUOTE, NULL]), LEAST) };
}

/**
 * The examples that any request with a value gets as well, so that nobody gave them: of "the platform team" the model makes
 * "payments", since the schema says "e.g. payments".
 *
 * @param open reads an empty request
 */
export async function findCopied(examples: readonly Example[], open: Open): Promise<Example[]> {
  const found: Example[] = [];
  for (const example of examples) {
    const unasked = await readExample(example, open);
    if (example.share <= unasked.share) found.push(example);
  }
  return found;
}

async function readLikelihoods({ decisions, unsaid }: OptionalValue, open: Open): Promise<Likelihoods> {
  let value = 1;
  for (const { mark, choices, choice } of decisions.toReversed())
    value *= await createJsonWriter(open, mark).likelihoodOf(choice, choices);
  const nothing: number[] = [];
  for (const { mark, choices } of decisions.slice(0, 1))
    for (const one of unsaid) nothing.push(await createJsonWriter(open, mark).likelihoodOf(one, choices));
  return { value, unsaid: nothing };
}

/** How many times likelier the value is than what says nothing. */
function ratioOf({ value, unsaid }: Likelihoods): number {
  const nothing = unsaid.reduce((sum, one) => sum + one, 0);
  return Math.max(value, LEAST) / Math.max(nothing, LEAST);
}

/**
 * Up to this probability of `null`, one of the values of the request is the identifier. Of 27 requests in eight languages it reads
 * 11 of 12 numbers of things ("счёт 1440") as such, and 1 of 15 amounts, years and counts of people.
 */
const VALUE_UNSAID = 0.1;

/** What the request says that may be an identifier, or one of a list. @property words what else it may mean */
export interface Doubtful {
  readonly values: readonly (string | number)[];
  readonly words: readonly string[];
  readonly isList: boolean;
}

/** Whether one of the values is the identifier that the tool of the reading requires. */
export async function isIdentifierAmong(
  name: string,
  { values, words, isList }: Doubtful,
  open: Open,
): Promise<boolean> {
  const writer = createJsonWriter(open);
  writer.force(`${JSON.stringify(name)}: ${isList ? '[' : ''}`);
  const all = [...new Set([...values, ...words])].map(choiceOf);
  if ((await writer.probabilityOf(NULL, [...all, NULL])) > VALUE_UNSAID) return false;
  const [best] = await writer.rank(all);
  return values.some((value) => choiceOf(value).text === best?.name);
}
