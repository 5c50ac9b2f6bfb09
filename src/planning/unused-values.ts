/**
 * Values that a request states and no step of a plan uses: the counterpart of values that nobody gave. A number and a day
 * count by themselves; identifiers, quoted texts and English names where the plan uses another of their kind, since a model
 * likes to stop behind the first of several things. Of the 1,273 plans that BFCL, ACEBench, NESTFUL and the fixtures hold to
 * be right, 2 % leave such a value out; of those without the calls that repeat a tool, two thirds do.
 */
import { datesIn, isSameDay, type SaidDate } from './said-dates.js';
import { isInOtherUnits, readingsIn } from './said-numbers.js';

export interface Stated {
  /** How many things of one kind there are, at most. */
  readonly most: number;
  readonly kinds: readonly Kind[];
}

interface Kind {
  /** Whether one value has to be used though no other of its kind is. */
  readonly isAlone: boolean;
  readonly values: readonly StatedValue[];
}

interface StatedValue {
  /** Equal for values of one kind. */
  readonly kind: string;
  readonly isAlone?: true;
  readonly text: string;
  isUsed(written: Written): boolean;
}

export const NOTHING_STATED: Stated = { most: 0, kinds: [] };

/** Of a plan. */
interface Written {
  readonly plain: string;
  readonly numbers: readonly number[];
  readonly dates: readonly SaidDate[];
}

/** What is longer holds a document or data; what it states is not told from that. In UTF-16 units. */
const LONGEST = 4000;
/** A table, not so many things to do. */
const MOST_OF_KIND = 32;

/** @param names of tools: they are no values */
export function statedValues(message: string, names: Iterable<string>): Stated {
  if (message.length > LONGEST) return NOTHING_STATED;
  const text = message.normalize('NFKC').replace(/^\s*(["'])(.*)\1\s*$/su, '$2');
  const dates = datesIn(text);
  const undated = dates.reduce((rest, date) => rest.replaceAll(date.text, ' | '), text).replace(TIME, ' | ');
  const known = new Set([...names].map(plainOf));
  const byKind = new Map<string, Map<string, StatedValue>>();
  const found = [
    ...dates.filter(isAskedFor(text)).map(statedDate),
    ...quotedIn(undated),
    ...tokensIn(withoutFormulas(undated)),
    ...joinedIn(undated),
  ];
  for (const value of found) {
    if (known.has(plainOf(value.text))) continue;
    const values = byKind.get(value.kind) ?? new Map<string, StatedValue>();
    byKind.set(value.kind, values.set(value.text, value));
  }
  const kinds = [...byKind.values()].map((values) => ({
    isAlone: [...values.values()].some((value) => value.isAlone),
    values: [...values.values()],
  }));
  const kept = kinds.filter(({ isAlone, values: { length } }) => (isAlone || length > 1) && length <= MOST_OF_KIND);
  return { most: Math.max(0, ...kept.map(({ values }) => values.length)), kinds: kept };
}

export interface Use {
  /** How many of the stated values stand in the plan. */
  readonly used: number;
  /** What should, and does not. */
  readonly unused: readonly string[];
}

/** @param argumentsText arguments of a plan, as JSON or a part of it */
export function useOf({ kinds }: Stated, argumentsText: string): Use {
  if (kinds.length === 0) return { used: 0, unused: [] };
  const values = argumentsText.replace(/\$\{[^}]*\}/gu, '');
  const written = { plain: plainOf(values), numbers: readingsIn(values).flat(2), dates: datesIn(values) };
  const uses = kinds.map(({ isAlone, values }) => {
    const unused = values.filter((value) => !value.isUsed(written)).map(({ text }) => text);
    const used = values.length - unused.length;
    return { used, unused: isAlone || used > 0 ? unused : [] };
  });
  return { used: uses.reduce((sum, { used }) => sum + used, 0), unused: uses.flatMap(({ unused }) => unused) };
}

/** Each tool writes them in its own way: years, days of a month, clocks. */
const TIME =
  /(?<![\w.,$-])(?:(?:19|20)\d\d(?![\w.,]\d)|\d{1,2}(?:st|nd|rd|th)\b|\d{1,4}[年月日号点]|T?\d{1,2}:\d{2}(?::\d{2})?)(?!\w)/giu;

/** "Today is ..." tells what other words mean. */
function isAskedFor(text: string): (date: SaidDate) => boolean {
  const told = /\b(?:today|now)(?:'s date|'s)?(?: is|:|,)?\s*$|今天是?\s*$/iu;
  return (date) => !told.test(text.slice(0, text.indexOf(date.text)));
}

function statedDate(date: SaidDate): StatedValue {
  const isUsed = ({ dates, numbers }: Written) =>
    dates.some((one) => isSameDay(one, date)) || numbers.some((number) => number >= FIRST_EPOCH);
  return { kind: 'day', isAlone: true, text: date.text, isUsed };
}

/** Seconds since 1970, of 2001: a number that may be any day. */
const FIRST_EPOCH = 1e9;

function plainOf(text: string): string {
  return text.toLowerCase().replace(/[\s_-]+/gu, '');
}

function isIn(text: string): StatedValue['isUsed'] {
  const plain = plainOf(text);
  return (written) => written.plain.includes(plain);
}

const QUOTED = /“([^”\n]+)”|‘([^’\n]+)’|「([^」\n]+)」|《([^》\n]+)》|"([^"\n]+)"|(?<!\w)'([^'\n]+)'(?!\w)/gu;
/** Formulas and code are rewritten on the way into an argument. */
const PLAIN_TEXT = /^[\p{L}\p{N}][\p{L}\p{N}\s.,&:_/-]{0,59}$/u;

function quotedIn(text: string): StatedValue[] {
  const quoted = [...text.matchAll(QUOTED)].map(([, ...forms]) => forms.find(Boolean)?.trim() ?? '');
  return quoted.filter((one) => PLAIN_TEXT.test(one)).map((one) => ({ kind: '"', text: one, isUsed: isIn(one) }));
}

function withoutFormulas(text: string): string {
  return text.replace(QUOTED, (quoted) => (PLAIN_TEXT.test(quoted.slice(1, -1).trim()) ? quoted : ' | '));
}

const TOKEN = /\d+(?:,\d{3})+(?:\.\d+)?|[A-Za-z0-9](?:[\w.@:/+-]*[A-Za-z0-9])?/gu;
/** `3D`, `4K`. */
const NO_QUANTITY = /^\d[A-Z]$/u;
const MAIL = /^[^@]+@[^@]+\.[^@]+$/u;
const ADDRESS = /^\d+(?:\.\d+){2,}$/u;
/** `80bpm`, `2nd`. */
const WITH_UNIT = /^\d[\d.,]*-?[A-Za-z]+$/u;

function tokensIn(text: string): StatedValue[] {
  return [...text.matchAll(TOKEN)].flatMap(({ 0: token, index }) => {
    if (MAIL.test(token)) return { kind: '@', text: token, isUsed: isIn(token) };
    const isMixed = /\d/u.test(token) && /[A-Za-z]/u.test(token) && !WITH_UNIT.test(token);
    if (isMixed || ADDRESS.test(token)) return { kind: shapeOf(token), text: token, isUsed: isIn(token) };
    if (NO_QUANTITY.test(token) || text[index - 1] === '^' || isLineNumber(text, index, token)) return [];
    return numbersIn(token).map((number) => saidNumber(number, text, index + token.indexOf(number)));
  });
}

function isLineNumber(text: string, place: number, number: string): boolean {
  return /(?:^|\n)\s*$/u.test(text.slice(0, place)) && /^[.)、:]/u.test(text.slice(place + number.length));
}

function shapeOf(identifier: string): string {
  return identifier.replace(/[A-Za-z]+/gu, 'a').replace(/\d+/gu, '9');
}

function numbersIn(token: string): string[] {
  return token.match(/\d+(?:,\d{3})*(?:\.\d+)?/gu) ?? [];
}

const UNIT =
  /^\s*-?(?!(?:and|or|to|for|from|in|on|at|with|of|by|is|are|as|then|but)\b|[和与及或到至是为的])([A-Za-z%]+|\p{Script=Han}{1,2})/u;
const CURRENCY = /[$€£¥]\s?$/u;

function saidNumber(number: string, text: string, place: number): StatedValue {
  const currency = CURRENCY.exec(text.slice(0, place))?.[0].trim();
  const [, unit = ''] = UNIT.exec(text.slice(place + number.length)) ?? [];
  const said = readingsIn(number).flat(2);
  return {
    isAlone: true,
    kind: `number ${currency ?? unit.toLowerCase().replace(/s$/u, '')}`,
    text: number,
    isUsed: ({ plain, numbers }) =>
      plain.includes(number) || numbers.some((one) => said.some((other) => isInOtherUnits(one, other))),
  };
}

const NAME = String.raw`\p{Lu}[\p{L}’']*(?:\s(?:(?:of|the|of\sthe)\s)?\p{Lu}[\p{L}’']*)*`;
const JOINT = String.raw`,?\s(?:and|or|vs\.?|versus|&)\s(?:(?:in|for|the|with|of|to)\s)?`;
/** "Rome and Athens", "in Rome, Athens and in Paris"; not the first word of a sentence, which is written so anyway. */
const JOINED = new RegExp(
  String.raw`(?<![.!?"']\s|^|[\p{L}\p{N}])(?:${NAME},\s)*${NAME}${JOINT}${NAME}(?![\p{L}\p{N}])`,
  'gu',
);
const NO_NAME =
  /^(?:I(?:['’]\w+)?|(?:Janu|Febru)ary|March|April|May|Ju(?:ne|ly)|August|(?:Septem|Octo|Novem|Decem)ber|\w+day)$/u;

function joinedIn(text: string): StatedValue[] {
  return [...text.matchAll(JOINED)].flatMap(({ 0: joined, index }) => {
    const names = joined.split(new RegExp(`${JOINT}|,\\s`, 'u')).filter((name) => !NO_NAME.test(name));
    return names.map((name) => ({ kind: `& ${index}`, text: name, isUsed: isIn(name) }));
  });
}
