/** Sets of code points as sorted ranges that do not touch, and how a llama.cpp grammar writes them inside of JSON texts. */
import { literal } from './gbnf-rules.js';

type Range = readonly [first: number, last: number];
export type CodePointSet = readonly Range[];

const LAST_CODE_POINT = 0x10ffff;

export function codePointSet(...ranges: readonly Range[]): CodePointSet {
  const merged: [number, number][] = [];
  for (const [first, last] of [...ranges].sort((one, other) => one[0] - other[0])) {
    const before = merged.at(-1);
    if (before && first <= before[1] + 1) before[1] = Math.max(before[1], last);
    else merged.push([first, last]);
  }
  return merged;
}

export function complementOf(set: CodePointSet): CodePointSet {
  const firsts = [0, ...set.map(([, last]) => last + 1)];
  const lasts = [...set.map(([first]) => first - 1), LAST_CODE_POINT];
  return firsts.flatMap((first, index) => {
    const last = lasts[index] ?? LAST_CODE_POINT;
    return first <= last ? [[first, last] as const] : [];
  });
}

function without(set: CodePointSet, other: CodePointSet): CodePointSet {
  return complementOf(codePointSet(...complementOf(set), ...other));
}

function has(set: CodePointSet, codePoint: number): boolean {
  return set.some(([first, last]) => first <= codePoint && codePoint <= last);
}

/** What `\d`, `\w`, `\s` and the line ends that `.` leaves out are in ECMAScript without the flag `i`. */
export const DIGITS = codePointSet([0x30, 0x39]);
export const WORD_CHARACTERS = codePointSet(...DIGITS, [0x41, 0x5a], [0x5f, 0x5f], [0x61, 0x7a]);
export const LINE_ENDS = codePointSet([0x0a, 0x0a], [0x0d, 0x0d], [0x2028, 0x2029]);
export const SPACES = codePointSet(
  [0x09, 0x0d],
  [0x20, 0x20],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
);

/** What JSON can't hold as it is. */
const ESCAPED = codePointSet([0, 0x1f], [0x22, 0x22], [0x5c, 0x5c]);
/** Two characters in JSON; other control characters are left out, since no text that a model writes needs them. */
const SHORT_ESCAPES = new Map([
  [0x22, '"'],
  [0x5c, String.raw`\\`],
  [0x08, 'b'],
  [0x0c, 'f'],
  [0x0a, 'n'],
  [0x0d, 'r'],
  [0x09, 't'],
]);

/** The ways to write one member of the set inside a JSON text, as alternatives of a grammar; none where it has no member. */
export function renderCodePoint(set: CodePointSet): string[] {
  const plain = without(set, ESCAPED);
  const escapes = [...SHORT_ESCAPES].filter(([codePoint]) => has(set, codePoint)).map(([, letter]) => letter);
  return [
    ...(plain.length > 0 ? [renderClass(plain)] : []),
    ...(escapes.length > 0 ? [`${literal('\\')} [${escapes.join('')}]`] : []),
  ];
}

function renderClass(set: CodePointSet): string {
  const others = complementOf(set);
  return set.length <= others.length ? `[${renderRanges(set)}]` : `[^${renderRanges(others)}]`;
}

function renderRanges(set: CodePointSet): string {
  return set.map(([first, last]) => (first === last ? sign(first) : `${sign(first)}-${sign(last)}`)).join('');
}

function sign(codePoint: number): string {
  const character = String.fromCodePoint(codePoint);
  if (/^[\x20-\x7e]$/.test(character) && !/[\\[\]^"-]/.test(character)) return character;
  const digits = codePoint.toString(16).toUpperCase();
  if (codePoint <= 0xff) return `\\x${digits.padStart(2, '0')}`;
  return codePoint <= 0xffff ? `\\u${digits.padStart(4, '0')}` : `\\U${digits.padStart(8, '0')}`;
}
