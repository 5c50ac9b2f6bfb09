/**
 * Values that a request states: numbers, days, identifiers, quoted texts, English names joined by "and". Left out is what
 * is no value of a single argument in most requests: small counts, spans of time, marks of lists, addresses of pages, what
 * an argument takes in another form. None where the request excludes or replaces something: then a value may be named that
 * no step should use.
 */
import { datesIn, isSameDay, type SaidDate } from './said-dates.js';
import { isInOtherUnits, readingsIn } from './said-numbers.js';

export interface StatedValue {
  /** Equal for values of one kind. */
  readonly kind: string;
  /** Whether it has to be used though no other of its kind is. */
  readonly isAlone?: boolean;
  readonly text: string;
  isUsed(written: WrittenValues): boolean;
}

/** The arguments of a plan. */
export interface WrittenValues {
  readonly plain: string;
  readonly numbers: readonly number[];
  readonly dates: readonly SaidDate[];
}

/** @param argumentsText arguments, as JSON or a part of it */
export function readWritten(argumentsText: string): WrittenValues {
  const text = argumentsText.normalize('NFKC').replace(/\$\{[^}]*\}/gu, '');
  return { plain: plainOf(text), numbers: readingsIn(text).flat(2), dates: datesIn(text) };
}

/** What is longer holds a document or data; what it states is not told from that. In UTF-16 units. */
const LONGEST = 4000;
const EXCLUDES =
  /\b(?:not|no|never|except|but|without|excluding|rather|instead|other\sthan|unlike|\w+n['’]t)\b|不[要是用想]|别[再把给发删取改用动去]|除了|除外|而非|以外|之外|代替|改[成为]|换成/iu;

/** @param names of tools: they are no values */
export function statedValuesOf(message: string, names: Iterable<string>): StatedValue[] {
  if (message.length > LONGEST || EXCLUDES.test(message)) return [];
  const text = message
    .normalize('NFKC')
    .replace(/^\s*(["'])(.*)\1\s*$/su, '$2')
    .replace(PAGE, ' | ');
  const dates = datesIn(text);
  const undated = dates.reduce((rest, date) => rest.replaceAll(date.text, ' | '), text).replace(TIME, ' | ');
  const known = new Set([...names].map(plainOf));
  const values = [
    ...dates.filter(isAskedFor(text)).map(statedDate),
    ...quotedIn(undated),
    ...tokensIn(withoutFormulas(undated)),
    ...joinedIn(undated),
  ];
  return values.filter((value) => !known.has(plainOf(value.text)));
}

const PAGE = /\bhttps?:\/\/\S+/giu;
/** Each tool writes them in its own way: years, days of a month, clocks, spans of time and lengths in two units. */
const TIME =
  /(?<![\w.,$-])(?:(?:19|20)\d\d(?![\w.,]\d)|\d{1,2}(?:st|nd|rd|th)\b|\d{1,4}[年月日号点天周时分秒晚]|\d+(?:\.\d+)?\s?(?:个月|小时|星期)|T?\d{1,2}:\d{2}(?::\d{2})?|\d+(?:\.\d+)?[\s-]?(?:[ap]\.?m\b|(?:second|sec|minute|min|hour|hr|h|day|night|week|month|year|yr|foot|feet|ft|inch)(?:e?s)?\b)|\d+\/\d+)(?!\w)/giu;

/** "Today is ..." tells what other words mean. */
function isAskedFor(text: string): (date: SaidDate) => boolean {
  const told = /(?:\b(?:today|now|it|date|time)(?:['’]s)?(?:\sdate)?(?:\sis)?|今天|日期|时间|现在)[\s:,=是]*$/iu;
  return (date) => !told.test(text.slice(0, text.indexOf(date.text)));
}

function statedDate(date: SaidDate): StatedValue {
  const parts = date.days.map((day) => day.split('-').map(Number));
  const isUsed = ({ dates, numbers }: WrittenValues) =>
    dates.some((one) => isSameDay(one, date)) ||
    numbers.some(isEpoch) ||
    parts.some((monthAndDay) => monthAndDay.every((part) => numbers.includes(part)));
  return { kind: 'day', isAlone: true, text: date.text, isUsed };
}

/** Seconds or milliseconds since 1970, of 2001 to 2096: a number that may be any day. */
function isEpoch(number: number): boolean {
  return [1, 1000].some((unit) => number >= 1e9 * unit && number < 4e9 * unit);
}

function plainOf(text: string): string {
  return text.toLowerCase().replace(/[\s._-]+/gu, '');
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
    const before = text.slice(Math.max(0, index - NEAR), index);
    const after = text.slice(index + token.length, index + token.length + NEAR);
    // The old value of two: from 20 to 25.
    if (/\bfrom\s\S{0,3}$|从$/iu.test(before)) return [];
    if (MAIL.test(token)) return { kind: '@', text: token, isUsed: isIn(token) };
    const isMixed = /\d/u.test(token) && /[A-Za-z]/u.test(token) && !WITH_UNIT.test(token);
    if (isMixed || ADDRESS.test(token)) return { kind: shapeOf(token), text: token, isUsed: isIn(token) };
    if (NO_QUANTITY.test(token) || isMark(before, after)) return [];
    return numbersIn(token).map((number) => saidNumber(number, text, index + token.indexOf(number)));
  });
}

/** How much of the text beside a value is looked at. In UTF-16 units. */
const NEAR = 12;

/** A power, and what counts the things of a list: `m^3`, `2)`, `2、`, `step 2`, `第2`. */
function isMark(before: string, after: string): boolean {
  return (
    /\^$|第$|(?:step|option|item|part|task|question|no\.?|number|page|version|top|first|last)\s$/iu.test(before) ||
    /^[)、]|^\s?off\b/iu.test(after) ||
    (/(?:^|\n)\s*$/u.test(before) && /^[.:]\s/u.test(after))
  );
}

function shapeOf(identifier: string): string {
  return identifier.replace(/[A-Za-z]+/gu, 'a').replace(/\d+/gu, '9');
}

function numbersIn(token: string): string[] {
  return token.match(/\d+(?:,\d{3})*(?:\.\d+)?/gu) ?? [];
}

const UNIT =
  /^\s*-?(?!(?:and|or|to|for|from|in|on|at|with|of|by|is|are|as|then)\b|[和与及或到至是为的])([A-Za-z%]+|\p{Script=Han}{1,2})/u;
const CURRENCY = /[$€£¥]\s?$/u;
/** Of people, of things, of the newest: it says which or how many, and may stand in no argument. */
const MOST_COUNTED = 12;

function saidNumber(number: string, text: string, place: number): StatedValue {
  const currency = CURRENCY.exec(text.slice(Math.max(0, place - 2), place))?.[0].trim();
  const [, unit = ''] = UNIT.exec(text.slice(place + number.length, place + number.length + 2 * NEAR)) ?? [];
  const said = readingsIn(number).flat(2);
  const isCount = currency === undefined && said.every((one) => Number.isInteger(one) && one <= MOST_COUNTED);
  const kind = currency ?? unit.toLowerCase().replace(/s$/u, '');
  return {
    isAlone: !isCount,
    // Counts without a unit have nothing in common.
    kind: isCount && kind === '' ? `count ${place}` : `number ${kind}`,
    text: number,
    isUsed: ({ plain, numbers }) =>
      plain.includes(plainOf(number)) || numbers.some((one) => said.some((other) => isInOtherUnits(one, other))),
  };
}

const NAME = String.raw`\p{Lu}[\p{L}’']*(?:\s(?:(?:of|the|of\sthe)\s)?\p{Lu}[\p{L}’']*)*`;
const JOINT = String.raw`,?\sand\s(?:(?:in|for|the|with|of|to)\s)?`;
/** "Rome and Athens", "in Rome, Athens and in Paris"; not the first word of a sentence, which is written so anyway. */
const JOINED = new RegExp(
  String.raw`(?<![.!?"']\s|^|[\p{L}\p{N}])(?:${NAME},\s)*${NAME}${JOINT}${NAME}(?![\p{L}\p{N}])`,
  'gu',
);
const BETWEEN = new RegExp(`${JOINT}|,\\s`, 'u');
const NO_NAME =
  /^(?:I(?:['’]\w+)?|(?:Janu|Febru)ary|March|April|May|Ju(?:ne|ly)|August|(?:Septem|Octo|Novem|Decem)ber|\w+day)$/u;

function joinedIn(text: string): StatedValue[] {
  return [...text.matchAll(JOINED)].flatMap(({ 0: joined, index }) => {
    const names = joined.split(BETWEEN).filter((name) => !NO_NAME.test(name));
    return names.map((name) => ({ kind: `& ${index}`, text: name, isUsed: isIn(name) }));
  });
}
