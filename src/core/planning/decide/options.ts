/** The choices for one place of a step's arguments: candidates from the rest of the request, and fields of earlier results. */
import { isObject, typesOf } from '../../catalog/schema/json.js';
import { fits } from '../../catalog/schema/paths.js';
import type { JsonSchema } from '../../catalog/tool.js';
import type { Choice } from '../../model/choices.js';
import { ATOM } from '../numbers.js';
import {
  type Candidate,
  candidatesFor,
  isDuration,
  isNumber,
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
  const known = available(place, writing).map((candidate) => ({ ...choiceOf(candidate.value), candidate }));
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
      : { ...choiceOf(reference), candidate };
  });
}

/** A string stays open: the trie counts all tokens that can end it. */
function choiceOf(value: unknown): Choice {
  const json = JSON.stringify(value);
  return typeof value === 'string' ? { text: json.slice(0, -1), ends: 'string' } : { text: json, ends: 'plain' };
}

/**
 * Words serve one argument of a step or its producers, unless a required argument has no other candidate. A time window named
 * by its length goes to an argument that takes a length.
 */
function available(place: PlainPlace, { context, taken, root }: ChoiceContext): Candidate[] {
  const properties = Object.entries(isObject(root.properties) ? root.properties : {});
  const takesLength = properties.some(([name, schema]) => {
    const plain = plainSchema(schema, root);
    return isNumber(plain) && isDuration(name, plain);
  });
  const lengths = new Set(takesLength && !isNumber(place.schema) ? context.said.durations.map(({ text }) => text) : []);
  const isFresh = ({ said, from, value }: Candidate) =>
    said === undefined || from === 'enum' || !(lengths.has(said) || taken.has(said) || taken.has(String(value)));
  const gone = place.required ? [...taken.keys()] : [...taken.keys(), ...context.said.times.map(({ text }) => text)];
  const spans = spansOf(context.texts.flatMap((text) => withoutWords(text, gone)));
  const fresh = candidatesFor(place, { ...context, spans }).filter(isFresh);
  // An optional identifier needs a word of its form in the request.
  if (!place.required && context.handles.get(place.name) === false) return [];
  if (!place.required || fresh.length > 0) return fresh;
  return candidatesFor(place, { ...context, spans: spansOf(context.texts) });
}

/** Cuts one occurrence of each of the words out of a text, preferably one of the same case. */
function withoutWords(text: string, words: readonly string[]): string[] {
  return words.reduce<string[]>(
    (parts, word) => cutFrom(parts, word) ?? cutFrom(parts, word, folding) ?? parts,
    [text],
  );
}

const folding = (text: string) => text.toLowerCase();

function cutFrom(parts: readonly string[], word: string, form = (text: string) => text): string[] | undefined {
  for (const [place, part] of parts.entries()) {
    const start = form(part).indexOf(form(word));
    if (start >= 0) return parts.toSpliced(place, 1, part.slice(0, start), part.slice(start + word.length));
  }
  return undefined;
}

export function isList(schema: JsonSchema): boolean {
  return typesOf(schema).includes('array') && !typesOf(schema).includes('string');
}

/** Longer runs of words are not candidates. */
const MAX_WORDS = 16;
/** A message of so many words or fewer is a candidate as a whole, too. */
const SHORT_MESSAGE = 40;
/** Characters of each text that are cut into words: pasted text mostly follows. */
const MAX_CHARACTERS = 4000;
/** Most runs for one choice. */
const MAX_SPANS = 4000;

const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' });

/**
 * The runs of words of the texts and what stands in quotation marks, each once.
 *
 * @example spansOf(['rain in Rome']) // ['rain', 'rain in', 'rain in Rome', 'in', 'in Rome', 'Rome']
 */
export function spansOf(texts: readonly string[]): string[] {
  const spans = new Set<string>();
  for (const whole of texts) {
    const text = whole.slice(0, MAX_CHARACTERS);
    for (const [, , ...inner] of text.matchAll(QUOTED)) spans.add(inner.find(Boolean)?.trim() ?? '');
    const bounds = boundsOf(text);
    const longest = bounds.length <= SHORT_MESSAGE ? bounds.length : MAX_WORDS;
    for (const [place, { start }] of bounds.entries()) {
      for (let count = 0; count < longest && spans.size < MAX_SPANS; count++) {
        const last = bounds[place + count];
        if (!last) break;
        spans.add(text.slice(start, last.end));
      }
    }
  }
  return [...spans];
}

/** Text in quotation marks, whatever marks it begins and ends with: `[3, 1].at(-1)`. */
const QUOTED =
  /([`"])(.{1,400}?)\1|(?<![\p{L}\p{N}])'(.{1,400}?)'(?![\p{L}\p{N}])|\p{Pi}(.{1,400}?)\p{Pf}|„(.{1,400}?)[“”]|「(.{1,400}?)」/gu;

interface Bound {
  readonly start: number;
  readonly end: number;
}

/** Scripts without spaces between words may be cut at each character. */
export const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

function boundsOf(text: string): Bound[] {
  const atoms = [...text.matchAll(ATOM)].map(({ 0: atom, index }) => ({ start: index, end: index + atom.length }));
  const rest = [...segmenter.segment(text)].flatMap(({ segment, index, isWordLike }): Bound[] => {
    if (!isWordLike || atoms.some(({ start, end }) => index < end && index + segment.length > start)) return [];
    if (!UNSPACED.test(segment)) return [{ start: index, end: index + segment.length }];
    let start = index;
    return [...segment].map((character) => {
      const bound = { start, end: start + character.length };
      start = bound.end;
      return bound;
    });
  });
  return [...atoms, ...rest].sort((one, other) => one.start - other.start);
}
