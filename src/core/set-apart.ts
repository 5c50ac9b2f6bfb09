/**
 * Texts that a request hands over: "translate into French: where is the station?", or a pasted mail. Quotation marks, a colon,
 * fences and line breaks tell them apart, and no words do. What is asked for mostly stands outside.
 */
import { cutText } from './planning/issues.js';
import { type Bound, quotedIn } from './planning/numbers.js';
import { oneLine, visibleText } from './visible-text.js';

/** The message as models and search read it to find tools. */
export interface Asked {
  readonly text: string;
  /** An ask in full, with at most `MOST.whole` characters of each text that is cut in `text`. */
  restore(ask: string): string;
  /** Whether one of the values comes from a text that is cut in `text`, or nothing is cut. */
  isTakenBy(values: readonly string[]): boolean;
}

const WORD = /[\p{L}\p{N}]/u;
/** Characters: of a text below a colon that is read with the rest, of any other and in an ask in full, and where quotes are sought. */
const MOST = { uncut: 300, whole: 4000, quoted: 4000 };

/**
 * How a message is read to find tools: without long texts that it hands over; where nothing serves that, without
 * any of them, and at last as a whole. A sentence of a pasted mail is no wish, and "into German: «…»" is clearer than with a question.
 *
 * @returns at least one
 */
export function readingsOf(message: string): [Asked, ...Asked[]] {
  const text = visibleText(message).trim();
  const long = longIn(text);
  const fenced = fencesIn(text);
  const apart = fenced.length > 0 ? [fenced] : partsOf(text).map((part) => [part]);
  const whole = uncut(text);
  const readings = [long, ...apart].map((parts) => cut(text, parts)).filter((one) => WORD.test(one.text));
  const [first = whole, ...others] = [...readings, ...(text.length <= MOST.whole ? [whole] : [])];
  const known = new Set([first.text]);
  return [first, ...others.filter((one) => !known.has(one.text) && known.add(one.text))];
}

export function uncut(message: string): Asked {
  return { text: oneLine(message), restore: (ask) => ask, isTakenBy: () => true };
}

/** The texts themselves, as they stand. */
export function textsApart(text: string): string[] {
  const fenced = fencesIn(text);
  return [...(fenced.length > 0 ? fenced : partsOf(text)), ...quotesIn(text)].map(({ start, end }) =>
    text.slice(start, end).trim(),
  );
}

function cut(text: string, parts: readonly Bound[]): Asked {
  const cuts = parts.map((part) => {
    const full = oneLine(text.slice(part.start, part.end));
    const start = text.indexOf(full.slice(0, 1), part.start);
    return { start, end: part.end, full: cutText(full, MOST.whole) };
  });
  const withParts = (shown: (cut: (typeof cuts)[number]) => string) => {
    const ends = [0, ...cuts.map(({ end }) => end)];
    const said = cuts.map((one, place) => `${text.slice(ends[place], one.start)}${shown(one)}`);
    return oneLine(`${said.join('')}${text.slice(ends.at(-1))}`);
  };
  const [short, whole] = [withParts(() => '…'), withParts(({ full }) => full)];
  return {
    text: short,
    restore: (ask) => (ask === short ? whole : cuts.reduce((said, one) => said.replace('…', () => one.full), ask)),
    isTakenBy: (values) => {
      const [outside, words] = [short.toLowerCase(), values.map(oneLine)];
      return cuts.length === 0 || cuts.some(({ full: said }) => !isUntouched({ said, outside }, words));
    },
  };
}

/** Whether none of the values has words that only the text has. @param text.outside the rest of the message, in small letters */
export function isUntouched({ said, outside }: { said: string; outside: string }, values: Iterable<string>): boolean {
  const text = said.toLowerCase();
  const isFrom = (words: string) => (text.includes(words) && !outside.includes(words)) || words.includes(text);
  return ![...values].some((value) => isFrom(value.toLowerCase()));
}

function quotesIn(text: string): Bound[] {
  return quotedIn(text.slice(0, MOST.quoted)).filter(({ start, end }) => WORD.test(text.slice(start, end)));
}

function fencesIn(text: string): Bound[] {
  const parts = text.split('```');
  let start = 0;
  return parts.slice(0, -1).flatMap((part, place) => {
    const language = part.search(/\n/u) + 1;
    const bound = { start: start + language, end: start + part.length };
    start += part.length + 3;
    return place % 2 === 1 ? [bound] : [];
  });
}

/** What stands behind the first colon of the first line; if that line does not end so, also behind it, and before the last line. */
function partsOf(text: string): Bound[] {
  const [first = ''] = text.split('\n', 1);
  const colon = colonIn(first);
  const behind = colon < 0 ? [] : [{ start: colon + 1, end: text.length }];
  if (first === text || isOpen(first)) return behind;
  return [...behind, { start: first.length, end: text.length }, { start: 0, end: text.lastIndexOf('\n') }];
}

/** Texts too long for a wish: below a colon and in fences; of other lines, where the first or the last may say it, far too long ones. */
function longIn(text: string): Bound[] {
  const longer = (characters: number) => (part: Bound) => part.end - part.start > characters;
  const fenced = fencesIn(text);
  const [first = ''] = text.split('\n', 1);
  const last = text.lastIndexOf('\n');
  if (fenced.length > 0) return fenced.filter(longer(MOST.uncut));
  if (isOpen(first)) return [{ start: first.length, end: text.length }].filter(longer(MOST.uncut));
  const ends = [0, first.length, last, text.length];
  const parts = ends.slice(1).map((end, place) => ({ start: ends[place] ?? 0, end }));
  return first === text ? [] : parts.filter(longer(MOST.whole));
}

function colonIn(line: string): number {
  return /^[^:：]*[\p{L}\p{N}]/u.test(line) ? line.search(/：|:(?=\s|$)/u) : -1;
}

function isOpen(line: string): boolean {
  return /[:：]$/u.test(line.trimEnd());
}
