/** The choices for one place of a step's arguments: candidates from the rest of the request, and fields of earlier results. */
import { isNumber, isObject, listOf, objectOf } from '../../catalog/schema/json.js';
import { fittedSchemas } from '../../catalog/schema/normalise.js';
import { type Field, fits } from '../../catalog/schema/paths.js';
import type { JsonSchema, Tool } from '../../catalog/tool.js';
import { oncePer } from '../../kept.js';
import type { Choice } from '../../model/choices.js';
import { isUntouched } from '../../set-apart.js';
import { lengthFormOf } from '../durations.js';
import { ATOM, areOverlapping, atomsIn, type Bound, occurrencesOf, quotedIn } from '../numbers.js';
import { isLength } from './computed-numbers.js';
import {
  type Candidate,
  candidatesFor,
  hasForm,
  isList,
  isOpenReference,
  isText,
  type PlainPlace,
  plainSchema,
  type SourceContext,
} from './sources.js';

/**
 * Words of the request that arguments of the step, and of its producers, have taken. Numbers and times map to the name of their
 * argument, since a consumer may reuse them under that name, such as the guests of a search and of a booking.
 */
export type TakenWords = ReadonlyMap<string, string | undefined>;

export interface ChoiceContext {
  readonly root: JsonSchema;
  readonly context: SourceContext;
  readonly taken: TakenWords;
}

export interface Option extends Choice {
  readonly candidate: Candidate;
}

/** All choices for a place: fields of earlier results that fit, and the candidates of the sources. */
export function choicesFor(place: PlainPlace, writing: ChoiceContext): Option[] {
  const known = available(place, writing).map(optionOf);
  const isReferred = place.required || writing.context.handles.has(place.name);
  return isReferred ? [...referencesFor(place.schema, writing), ...known] : known;
}

export function referencesFor(wanted: JsonSchema, { context, taken }: ChoiceContext): Option[] {
  const fitting = context.results.filter(({ reference, schema }) =>
    schema === undefined ? !taken.has(reference) : fits(schema, wanted),
  );
  return fitting.map(({ reference, schema }): Option => {
    const candidate: Candidate = { value: reference, from: 'step' };
    // The model must name the field of a result without a schema: `${s1.` and on.
    return schema === undefined
      ? { text: JSON.stringify(reference).slice(0, -1), ends: 'itself', candidate }
      : optionOf(candidate);
  });
}

/** The arguments of a step that need no choice, and the names of identifiers, which take fields of results though optional. */
export interface Settling extends Pick<SourceContext, 'handles'> {
  readonly settled: ReadonlyMap<string, Candidate>;
}

/** @returns whether an argument of the tool that is not settled, or a field within it, may take a field of a result */
export function takesField(tool: Tool, { handles, settled }: Settling): (field: Field) => boolean {
  const root = fittedSchemas(tool).input;
  const required = listOf(root.required);
  const open = Object.entries(objectOf(root.properties)).flatMap(([name, schema]) => {
    const known = settled.get(name);
    const isOpen = known ? isOpenReference([known.value].flat()[0]) : required.includes(name) || handles.has(name);
    return isOpen ? [plainSchema(schema, root)] : [];
  });
  const takes = (wanted: JsonSchema, produced: JsonSchema): boolean =>
    isObject(wanted.properties) ||
    fits(produced, wanted) ||
    (isList(wanted) && takes(plainSchema(wanted.items, root), produced));
  return ({ schema }) => open.some((wanted) => takes(wanted, schema));
}

export function optionOf(candidate: Candidate): Option {
  return { ...choiceOf(candidate.shown ?? candidate.value), candidate };
}

/** A string stays open: the trie counts all tokens that can end it. */
export function choiceOf(value: unknown): Choice {
  const json = JSON.stringify(value);
  return typeof value === 'string' ? { text: json.slice(0, -1), ends: 'string' } : { text: json, ends: 'plain' };
}

/**
 * Words serve one argument of a step or its producers, unless a required argument has no other candidate. A time window named
 * by its length goes to an argument that takes a length.
 */
function available(place: PlainPlace, { context, taken, root }: ChoiceContext): Candidate[] {
  const isElsewhere =
    !isNumber(place.schema) && !takesLength(place.name, place.schema) && lengthArguments(root).length > 0;
  const lengths = new Set(isElsewhere ? context.said.durations.map(({ text }) => text) : []);
  const isFresh = ({ said, value }: Candidate) =>
    said === undefined || !(lengths.has(said) || taken.has(said) || taken.has(String(value)));
  // An address may stand in a title, too: "Lunch with bo@acme.io".
  const spans = spansOf(context.texts, hasForm(place.schema) ? [] : [...taken.keys()]);
  const apart = context.apart.filter((one) => isUntouched(one, taken.keys()));
  const fresh = candidatesFor(place, { ...context, spans, apart }).filter(isFresh);
  // An optional identifier needs a word of its form in the request.
  if (!place.required && context.handles.get(place.name)?.isGiven === false) return [];
  if (!place.required || fresh.length > 0) return fresh;
  return candidatesFor(place, { ...context, spans: spansOf(context.texts) });
}

/** The arguments that take a length of time. */
export const lengthArguments = oncePer((root: JsonSchema): { name: string; schema: JsonSchema }[] => {
  const all = Object.entries(objectOf(root.properties)).map(([name, schema]) => ({
    name,
    schema: plainSchema(schema, root),
  }));
  return all.filter(({ name, schema }) => takesLength(name, schema));
});

/** Whether the value is a length of time. */
export function takesLength(name: string, schema: JsonSchema): boolean {
  return isNumber(schema) ? isLength(name, schema) : isText(schema) && lengthFormOf(schema) !== undefined;
}

/** Longer runs of words are not candidates. */
const MAX_WORDS = 16;
/** A message of so many words or fewer is a candidate as a whole, too. */
const SHORT_MESSAGE = 40;
/** Characters of each text that are cut into words: pasted text mostly follows. */
export const MAX_CHARACTERS = 4000;
/** Most runs for one choice. */
const MAX_SPANS = 4000;

const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' });

/**
 * The runs of words of the texts, the parts of a path, and what stands in quotation marks, each once.
 *
 * @param gone words that are no part of a run: one occurrence of each in each text, preferably of the same case
 * @example spansOf(['rain in Rome']) // ['rain', 'rain in', 'rain in Rome', 'in', 'in Rome', 'Rome']
 */
export function spansOf(texts: readonly string[], gone: readonly string[] = []): string[] {
  const spans = new Set<string>();
  for (const whole of texts) {
    const text = whole.slice(0, MAX_CHARACTERS);
    const taken = placesOf(gone, text);
    const isFree = (run: Bound) => !taken.some((one) => areOverlapping(one, run));
    const add = (run: Bound) => isFree(run) && spans.size < MAX_SPANS && spans.add(text.slice(run.start, run.end));
    for (const quoted of quotedIn(text)) add(quoted);
    for (const part of pathPartsIn(text)) add(part);
    const bounds = wordBounds(text);
    const longest = bounds.length <= SHORT_MESSAGE ? bounds.length : MAX_WORDS;
    for (const [place, { start }] of bounds.entries())
      for (const { end } of bounds.slice(place, place + longest))
        if (!add({ start, end: closedEnd(text, { start, end }) })) break;
  }
  return [...spans];
}

/** Marks that open something, with those that close it. */
const CLOSERS = new Map(
  Object.entries({
    '(': ')',
    '[': ']',
    '{': '}',
    '（': '）',
    '【': '】',
    '「': '」',
    '《': '》',
    '«': '»',
    '“': '”',
    '„': '“',
  }),
);
for (const quote of ['"', "'", '`']) CLOSERS.set(quote, quote);
const CLOSING = new Set(CLOSERS.values());
const isQuote = (mark: string) => CLOSERS.get(mark) === mark;

/** The end of a run, with the marks behind it that close what opens within: `status = 'stuck'`, `Foundation (2021)`. */
function closedEnd(text: string, { start, end }: Bound): number {
  if (!CLOSING.has(text[end] ?? '')) return end;
  const open: string[] = [];
  for (let place = start; place < text.length; place++) {
    const mark = text[place] ?? '';
    const closer = CLOSERS.get(mark);
    if (mark === open.at(-1) && !(isQuote(mark) && isInWord(text[place + 1]))) open.pop();
    else if (place >= end) return place;
    else if (closer !== undefined && !(isQuote(mark) && isInWord(text[place - 1]))) open.push(closer);
  }
  return text.length;
}

/** Words that have gone from a text: more are no request of a person. */
const MOST_GONE = 200;

/** One place of each of the words, none within that of another; preferably not inside a longer word. */
function placesOf(words: readonly string[], text: string): Bound[] {
  const places: Bound[] = [];
  const folded = text.toLowerCase();
  for (const word of [...new Set(words)].slice(0, MOST_GONE)) {
    const found = [...occurrencesOf(word, text), ...occurrencesOf(word.toLowerCase(), folded)];
    const free = found.filter((one) => !places.some((other) => areOverlapping(one, other)));
    const place = free.find((one) => isWholeIn(text, one)) ?? free[0];
    if (place) places.push(place);
  }
  return places;
}

/** Whether the place does not begin or end inside a word. */
export function isWholeIn(text: string, { start, end }: Bound): boolean {
  return !isInWord(text[start - 1]) && !isInWord(text[end]);
}

function isInWord(character = ''): boolean {
  return /[\p{L}\p{N}]/u.test(character) && !UNSPACED.test(character);
}

/** Most parts of a path whose runs are candidates. */
const MAX_PARTS = 8;

/** The runs of parts within a path: `acme` and `billing` of `acme/billing`. */
function pathPartsIn(text: string): Bound[] {
  return [...text.matchAll(ATOM)].flatMap(({ 0: atom, index }) => {
    const parts = [...atom.matchAll(/[^/:]+/gu)].slice(0, MAX_PARTS);
    const bounds = parts.map((part) => ({ start: index + part.index, end: index + part.index + part[0].length }));
    if (bounds.length < 2) return [];
    return bounds.flatMap(({ start }, place) => bounds.slice(place).map(({ end }) => ({ start, end })));
  });
}

/** Scripts without spaces between words may be cut at each character. */
export const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

/** The words of a text, in order; a single character in scripts without spaces. */
export function wordBounds(text: string): Bound[] {
  const atoms = atomsIn(text);
  const rest = [...segmenter.segment(text)].flatMap(({ segment, index, isWordLike }): Bound[] => {
    if (!isWordLike || atoms.some(({ start, end }) => index < end && index + segment.length > start)) return [];
    // `#` is a part of a name, as within an atom.
    let start = text[index - 1] === '#' ? index - 1 : index;
    let end = index;
    if (!UNSPACED.test(segment)) return [{ start, end: end + segment.length }];
    return [...segment].map((character) => {
      end += character.length;
      const bound = { start, end };
      start = end;
      return bound;
    });
  });
  return [...atoms, ...rest].sort((one, other) => one.start - other.start);
}
