/** Numbers in a request, in words and in digits, with the separators of its language. */
import { runInSlices } from '../in-slices.js';

export interface SaidNumber {
  readonly text: string;
  readonly value: number;
  readonly isPercent?: true;
}

/** Languages in which Recognizers-Text reads numbers in words, with its names for them; its French takes too long (`said.ts`). */
export const CULTURES: Readonly<Record<string, string>> = {
  en: 'en-us',
  zh: 'zh-cn',
  es: 'es-es',
  pt: 'pt-br',
  ja: 'ja-jp',
};

/** Numbers in words and in digits, except those of a day, a time or a duration. */
export async function numbersIn(
  pieces: readonly string[],
  language: string,
  timed: readonly { readonly text: string }[],
): Promise<SaidNumber[]> {
  const culture = CULTURES[language];
  const cardinals = culture === undefined ? await cardinalsIn(language) : undefined;
  const read = cardinals ?? (await recognizedIn(culture ?? 'en-us'));
  const marks = marksOf(language);
  // A bare number may be a year, and a number all the same.
  const times = timed.filter((one) => !/^\d+$/u.test(one.text)).map(({ text }) => text.toLowerCase());
  const finding = findInEach(pieces, (text) => {
    const folded = text.toLowerCase();
    const taken = times.flatMap((time) => occurrencesOf(time, folded));
    const isFree = (start: number, length: number) =>
      !taken.some((one) => start >= one.start && start + length <= one.end);
    const rest = withoutNames(text);
    const words = read(rest).flatMap(({ start, ...one }) => (isFree(start, one.text.length) ? [one] : []));
    const digits = [...rest.matchAll(DIGITS)].flatMap(({ 0: found, index }): SaidNumber[] => {
      if (!isFree(index, found.length)) return [];
      const isPercent = PERCENT.test(text.slice(index + found.length));
      return readDigits(found, marks).map((one) => (isPercent ? { ...one, isPercent } : one));
    });
    return [{ words, digits }];
  });
  const found = await runInSlices(finding);
  const words = found.flatMap((one) => one.words);
  const known = new Set(words.map(({ value }) => value));
  return [...words, ...found.flatMap(({ digits }) => digits.filter(({ value }) => !known.has(value)))];
}

/** With dots for names: of "v2.9.0 m…" Recognizers takes "9.0 m" for nine trillion, of "V-3二十" one number. */
function withoutNames(text: string): string {
  const names = atomsIn(text, NAME_WITH_DIGITS);
  return names.reduce((rest, { start, end }) => rest.slice(0, start) + '·'.repeat(end - start) + rest.slice(end), text);
}

/** Finds numbers in words, with their place. */
type ReadWords = (text: string) => (SaidNumber & { readonly start: number })[];

async function recognizedIn(culture: string): Promise<ReadWords> {
  const { recognizeNumber } = await loadRecognizers();
  return (text) =>
    recognizeNumber(text, culture).flatMap((one) => {
      // Some of its languages write a decimal comma, none a mark between thousands.
      const value = Number(String(one.resolution?.value).replace(',', '.'));
      const isWord = Number.isFinite(value) && !NUMERAL.test(one.text);
      return isWord ? [{ text: one.text, value, start: one.start }] : [];
    });
}

const MAX_CARDINAL = 999;
const kept = new Map<string, ReadWords>();

/** Reads the whole numbers up to 999 as n2words writes them, in both genders; undefined for a language that it lacks. */
async function cardinalsIn(language: string): Promise<ReadWords | undefined> {
  const known = kept.get(language);
  if (known) return known;
  const { region } = new Intl.Locale(language).maximize();
  const library: { toCardinal?: (value: number, options?: { gender: string }) => string } = await import(
    `n2words/${language}-${region}`
  ).catch(() => ({}));
  const { toCardinal } = library;
  if (!toCardinal) return undefined;
  const formsOf = (value: number) => [toCardinal(value, { gender: 'feminine' }), toCardinal(value)];
  const values = new Map(
    Array.from({ length: MAX_CARDINAL + 1 }, (_, value) =>
      formsOf(value).map((form) => [form.toLowerCase(), value] as const),
    ).flat(),
  );
  const longestFirst = [...values.keys()].sort((one, other) => other.length - one.length);
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])(?:${longestFirst.join('|')})(?![\\p{L}\\p{N}])`, 'giu');
  const read: ReadWords = (text) =>
    [...text.matchAll(pattern)].map(({ 0: found, index }) => ({
      text: found,
      value: values.get(found.toLowerCase()) ?? 0,
      start: index,
    }));
  kept.set(language, read);
  return read;
}

/** Where a part of a text begins, and where what follows it does. */
export interface Bound {
  readonly start: number;
  readonly end: number;
}

export function areOverlapping(one: Bound, other: Bound): boolean {
  return one.start < other.end && other.start < one.end;
}

export function occurrencesOf(part: string, text: string): Bound[] {
  const places = [];
  for (let start = text.indexOf(part); start >= 0 && part !== ''; start = text.indexOf(part, start + part.length))
    places.push({ start, end: start + part.length });
  return places;
}

const NAME_WITH_DIGITS = /^(?![#~]?\d[\d.]*-?\p{L}+$)(?=.*\p{L})(?=.*\d)/u;
/** With marks between, such as `1,250.50`. */
const DIGITS = /(?<![\p{Script=Latin}\d.,])-?\d+(?:[.,]\d+)*(?!\d)/gu;
const PERCENT = /^\s?[%％٪]/u;
const NUMERAL = /^-?\d+(?:[.,]\d+)*$/u;

interface Marks {
  readonly group: string;
  readonly decimal: string;
}

function marksOf(language: string): Marks {
  const parts = new Intl.NumberFormat(language).formatToParts(12_345.6);
  return { group: ',', decimal: '.', ...Object.fromEntries(parts.map(({ type, value }) => [type, value])) };
}

/** `1.250,50` by the marks of the language; `3,5` in one with a decimal point is that number, or two. */
function readDigits(text: string, { group, decimal }: Marks): SaidNumber[] {
  const [whole = '', fraction, ...rest] = text.split(decimal);
  const groups = whole.split(group);
  const isGrouped = groups.slice(1).every(({ length }) => length === 3) && (groups.length === 1 || groups[0] !== '');
  if (isGrouped && rest.length === 0 && !/[.,]/u.test(groups.join('') + (fraction ?? '')))
    return [{ text, value: Number(`${groups.join('')}.${fraction ?? 0}`) }];
  const all = text.split(/[.,]/u).map((part) => ({ text: part, value: Number(part) }));
  if (all.length > 2) return all;
  return [{ text, value: Number(text.replace(',', '.')) }, ...(text.includes(',') ? all : [])];
}

/** What is found in each, in their order. */
export function* findInEach<T>(
  pieces: readonly string[],
  find: (piece: string) => readonly T[],
): Generator<void, T[], void> {
  const found: T[] = [];
  for (const piece of pieces) {
    found.push(...find(piece));
    yield;
  }
  return found;
}

export async function loadRecognizers() {
  return (await import('@microsoft/recognizers-text-suite')).default;
}

/** An address, a path, a code or a day is one word, whatever marks it holds. */
export const ATOM = /[#/~+]?[\p{Script=Latin}\p{N}_]+(?:[@/._:\\+-]+[\p{Script=Latin}\p{N}_]+)*/gu;

export function atomsIn(text: string, pattern = /(?:)/u): Bound[] {
  return [...text.matchAll(ATOM)].flatMap(({ 0: atom, index }) =>
    pattern.test(atom) ? [{ start: index, end: index + atom.length }] : [],
  );
}

/** Text in quotation marks, whatever marks it begins and ends with: `[3, 1].at(-1)`. */
const QUOTED =
  /([`"])(.{1,400}?)\1|(?<![\p{L}\p{N}])'(.{1,400}?)'(?![\p{L}\p{N}])|\p{Pi}(.{1,400}?)\p{Pf}|„(.{1,400}?)[“”]|「(.{1,400}?)」/gu;

export function quotedIn(text: string): Bound[] {
  return [...text.matchAll(QUOTED)].flatMap((match) => {
    const inner = match.slice(2).find(Boolean)?.trim() ?? '';
    const start = text.indexOf(inner, match.index + 1);
    return inner === '' ? [] : [{ start, end: start + inner.length }];
  });
}

/**
 * Whether the words stand nowhere but in a longer text or across its end: "two P" of "two P-100" is no time of day, and
 * `DP-0721-02` holds no day.
 *
 * @param bounds of the longer texts
 */
export function isWithin(said: string, text: string, bounds: readonly Bound[]): boolean {
  const isCut = (one: Bound) =>
    bounds.some((other) => areOverlapping(one, other) && (one.start > other.start || one.end < other.end));
  const places = occurrencesOf(said, text);
  return places.length > 0 && places.every(isCut);
}
