/**
 * Finds the values for which a request wants a call, apart from those that it names only to leave them alone. The model sorts
 * all values at once, since each has to stand in one of two lists. A question about one value at a time does not tell them apart:
 * on development requests with things to be kept it has an area under the curve of 0.6, and this one of 1.00.
 */
import { listOf } from '../../catalog/schema/json.js';
import { fittedSchemas } from '../../catalog/schema/normalise.js';
import type { Tool } from '../../catalog/tool.js';
import type { Choice } from '../../model/choices.js';
import type { SourceName } from '../../result.js';
import { saysText } from '../ground.js';
import { ATOM, occurrencesOf, quotedIn, type SaidNumber } from '../numbers.js';
import type { SaidTime } from '../times.js';
import { oddsOf } from './check-fit.js';
import { choose } from './given.js';
import { createJsonWriter, type JsonWriter, NEXT } from './json-writer.js';
import {
  choiceOf,
  choicesFor,
  isWholeIn,
  MAX_CHARACTERS,
  type Option,
  optionOf,
  spansOf,
  type TakenWords,
} from './options.js';
import type { Deciding } from './read.js';
import { type Candidate, folded, plainSchema, type SourceContext, wordsOf } from './sources.js';

type Scalar = string | number;

interface Call {
  readonly tool: Tool;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly from: Readonly<Record<string, SourceName>>;
  readonly taken: TakenWords;
  /** Words that are one thing, not a list. */
  readonly wholes: readonly string[];
}

type Asking = Pick<Deciding, 'read' | 'context' | 'message'>;
type Repeating = Asking & { readonly one: number };
type SaidValues = Pick<SourceContext, 'said' | 'texts'>;

const OPENING = '{"called for": [';
const END: Choice = { text: '], "left alone": ', ends: 'itself' };

/**
 * A request wants a further call from these odds of a further value on, times the square root of the odds that it asks for several
 * things, if it rather asks for one: two opinions on one decision. Of 53 further values of development requests with a probability
 * above 0.3, 22 of 23 that are wanted have 6.4 or more, names of another role apart. Of the others, a price that is to stay has 5.1
 * and the rest at most 2.8.
 *
 * From the probability `certain` of one thing on, no value is looked at: 39 of 107 development requests for one call lie there, and
 * none of 46 for several calls of a tool.
 */
const FURTHER = { odds: 5.6, certain: 0.98 };

/** @param one probability that the request asks for one thing, between 0 and 1 */
export function mayRepeat(one: number): boolean {
  return one < FURTHER.certain;
}

/** @returns whether words of the request give a value; one that the schema lists, if the texts have it as it is listed */
export function requestedIn(texts: readonly string[]): (value: unknown, from: SourceName | undefined) => boolean {
  const said = texts.map((text) => ({ text, letters: folded(text) }));
  return (value, from) => {
    if (from !== 'enum') return from === 'request' || from === 'computed';
    return typeof value === 'string' && said.some((one) => saysText(one, value));
  };
}

/** Most arguments of a call that are looked at. */
const MAX_LOOKED = 3;

/** A call that the request wants once more with the next value of an argument: "Bergen" of "weather in Oslo and in Bergen". */
export interface Repeated {
  readonly tool: Tool;
  readonly argument: string;
  /** The value of this call: the first part if the call has a whole list as one value. */
  readonly value: Scalar;
  /** The words of the request that give the value. */
  readonly words: string;
  readonly next: Candidate;
  readonly call: Pick<Call, 'arguments' | 'from'>;
}

/**
 * Looks at the arguments with words of the request in their order, or at that of the earlier calls.
 *
 * @param earlier calls of the same ask
 * @returns undefined if the request wants no further call, or the next value serves another argument of this one
 */
export async function findRepeated(
  call: Call,
  earlier: readonly Repeated[],
  asking: Repeating & { values: Omit<SourceContext, 'results'> },
): Promise<Repeated | undefined> {
  const { tool, arguments: values, from, taken } = call;
  const { texts } = asking.values;
  const isRequested = requestedIn(texts);
  const quoted = texts.flatMap((text) =>
    quotedIn(text.slice(0, MAX_CHARACTERS)).map(({ start, end }) => text.slice(start, end)),
  );
  const wholes = new Set([...call.wholes, ...quoted]);
  const root = fittedSchemas(tool).input;
  const said = Object.keys(from).filter((name) => {
    const listed = from[name] === 'enum' ? listOf(plainSchema(Object(root.properties)[name], root).enum) : undefined;
    const isNamed = (value: unknown) => isRequested(value, from[name]);
    return isNamed(values[name]) && (!listed || listed.filter(isNamed).length > 1);
  });
  const before = earlier.filter((one) => one.tool === tool);
  // The call has one, so the request gives more than its form tells.
  const handles = new Map([...asking.values.handles].map(([name, handle]) => [name, { ...handle, isGiven: true }]));
  const context = { ...asking.values, handles, results: [] };
  const looked = before.length > 0 ? before.slice(-1).map((one) => one.argument) : said.slice(0, MAX_LOOKED);
  for (const argument of looked) {
    const value = values[argument];
    if (!isScalar(value)) continue;
    const called = [...before.map((one) => one.value), value];
    const place = { name: argument, schema: plainSchema(Object(root.properties)[argument], root), required: false };
    const gone = new Map(called.map((one) => [String(one), undefined]));
    const [own] = choicesFor(place, { root, context, taken: new Map() }).filter((one) => one.candidate.value === value);
    // "From Monday to Friday" is one window.
    const isOther = ({ candidate: { value, from, said } }: Option) =>
      isRequested(value, from) &&
      !called.some((one) => one === value) &&
      (said === undefined || said !== own?.candidate.said);
    const others = choicesFor(place, { root, context, taken: gone }).filter(isOther);
    const found = await sortValues(tool, argument, asking, async (writer) => {
      const isWhole = before.length > 0 || from[argument] === 'computed' || wholes.has(String(value));
      const parts = isWhole ? undefined : await findParts(value, asking.one, writer);
      if (parts || others.length === 0) return parts;
      const next = await nextOf(called, others, asking.one, writer);
      return next && !isTaken(next, taken) ? { value, next } : undefined;
    });
    const words = own && found?.value === value ? wordsOf(own.candidate) : String(found?.value);
    if (found) return { tool, argument, ...found, words, call };
  }
  return undefined;
}

/** The first two values of a list that became one value: "B101" and "B102" of "B101, B102 und B104". */
async function findParts(
  whole: Scalar,
  one: number,
  writer: JsonWriter,
): Promise<Pick<Repeated, 'value' | 'next'> | undefined> {
  if (typeof whole === 'number') return undefined;
  const atoms = whole.match(ATOM) ?? [];
  // A path is one value.
  const isPart = (span: string) => span !== whole && !atoms.some((atom) => atom !== span && atom.includes(span));
  const parts = spansOf([whole]).filter(isPart);
  if (parts.length === 0) return undefined;
  const start = writer.mark();
  const value = await chosenOf([whole, ...parts], writer);
  if (value === undefined || value === whole) return undefined;
  const others = parts.filter((one) => !one.includes(value) && !value.includes(one));
  const next = await nextOf(
    [value],
    others.map((part) => optionOf({ value: part, from: 'request' })),
    one,
    writer,
  );
  writer.back(start);
  return next && { value, next };
}

async function nextOf(
  called: readonly Scalar[],
  others: readonly Option[],
  one: number,
  writer: JsonWriter,
): Promise<Candidate | undefined> {
  writer.force(called.map((value) => JSON.stringify(value)).join(NEXT.text));
  // Several things may be calls of several tools.
  const weight = Math.min(Math.sqrt(oddsOf(1 - one)), 1);
  if (oddsOf(await probabilityOfNext(writer)) * weight < FURTHER.odds) return undefined;
  writer.force(NEXT.text);
  return (await choose(others, { writer }))?.chosen.candidate;
}

function isTaken(next: Candidate, taken: TakenWords): boolean {
  const words = folded(wordsOf(next));
  const isWithin = (one: string, other: string) => one === other || (/\P{N}/u.test(one) && other.includes(one));
  return [...taken.keys()].map(folded).some((own) => isWithin(own, words) || isWithin(words, own));
}

/**
 * Arguments of a call whose value, said once, the next call has for an argument of which both have one: in "set A to 63
 * and B to 58" the 58 is no second level of A. Not where the next call has one of its own: "from Oslo to Rome and on to Bern".
 */
export function takenByNext({ call }: Repeated, next: Repeated['call'], values: SaidValues): string[] {
  const both = Object.keys(next.arguments).filter((name) => name in call.arguments);
  const isOfNext = (value: unknown) =>
    both.some((name) => next.arguments[name] === value && call.arguments[name] !== value) && isSaidOnce(value, values);
  return Object.keys(call.arguments).filter((name) => !(name in next.arguments) && isOfNext(call.arguments[name]));
}

/** Whether the request names the value at one place, in words or in digits. */
function isSaidOnce(value: unknown, { said, texts }: SaidValues): boolean {
  const text = String(value).toLowerCase();
  const isDay = ({ start: { date } }: SaidTime) => date !== undefined && text.startsWith(date);
  const isWord = (one: SaidNumber) => one.value === value && one.text !== text;
  const places = texts.flatMap((one) =>
    occurrencesOf(text, one.toLowerCase()).filter((place) => isWholeIn(one, place)),
  );
  return [...places, ...said.numbers.filter(isWord), ...said.times.filter(isDay)].length === 1;
}

/**
 * What the request says once holds for each call: the arguments of the earlier one that the next one lacks.
 *
 * @param own names of arguments that are of the earlier call alone
 */
export function withShared<T extends Repeated['call']>(next: T, { call }: Repeated, own: readonly string[]): T {
  const isShared = (name: string) => !(name in next.arguments || own.includes(name)) && call.from[name] !== 'step';
  const shared = Object.keys(call.arguments).filter(isShared);
  const of = (values: Readonly<Record<string, unknown>>) =>
    Object.fromEntries(shared.map((name) => [name, values[name]]));
  return {
    ...next,
    arguments: { ...next.arguments, ...of(call.arguments) },
    from: { ...next.from, ...of(call.from) },
  };
}

/**
 * From this probability on, the next item of a list is wanted, too. In 11 development requests with lists, in seven languages,
 * the 10 wanted items have at least 0.948, and the 6 others at most 0.402.
 */
const WANTED = 0.7;

/** The arguments without items that the request leaves alone. A list keeps its first item, with which the model began it. */
export async function withServedItems(
  tool: Tool,
  values: Readonly<Record<string, unknown>>,
  asking: Asking,
): Promise<Record<string, unknown>> {
  const served: Record<string, unknown> = { ...values };
  for (const [name, list] of Object.entries(values)) {
    if (!Array.isArray(list) || list.length < 2 || !list.every(isSaid)) continue;
    served[name] = await sortValues(tool, name, asking, async (writer) => {
      const wanted = new Set(list.slice(0, 1));
      writer.force(JSON.stringify(list[0]));
      while (wanted.size < list.length && (await probabilityOfNext(writer)) >= WANTED) {
        writer.force(NEXT.text);
        const next = await chosenOf(
          list.filter((item) => !wanted.has(item)),
          writer,
        );
        // Items too long to choose among stay as they are.
        if (next === undefined) return list;
        wanted.add(next);
        writer.force(JSON.stringify(next));
      }
      return list.filter((item) => wanted.has(item));
    });
  }
  return served;
}

function sortValues<T>(
  tool: Tool,
  name: string,
  { read, context, message }: Asking,
  use: (writer: JsonWriter) => Promise<T>,
): Promise<T> {
  const values = { call: `${tool.name}(${name})`, context, message };
  return read('sort-values', values, OPENING, (open) => use(createJsonWriter(open)));
}

/** The likeliest of the values; undefined if they are too long to choose among. */
async function chosenOf<T extends Scalar>(values: readonly T[], writer: JsonWriter): Promise<T | undefined> {
  const choices = values.map((value) => ({ ...choiceOf(value), value }));
  return (await choose(choices, { writer }))?.chosen.value;
}

function probabilityOfNext(writer: JsonWriter): Promise<number> {
  return writer.probabilityOf(NEXT, [NEXT, END]);
}

function isScalar(value: unknown): value is Scalar {
  return typeof value === 'number' || typeof value === 'string';
}

function isSaid(item: unknown): item is Scalar {
  return isScalar(item) && !String(item).startsWith('${');
}
