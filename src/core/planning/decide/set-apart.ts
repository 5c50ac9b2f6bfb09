/**
 * Texts that a request hands over, to be passed on as they stand: "translate into French: where is the station?", or a pasted
 * mail. Quotation marks, a colon and line breaks tell them apart, and no words do.
 */
import { oneLine, visibleText } from '../../visible-text.js';
import { quotedIn } from '../numbers.js';
import type { SetApart } from './sources.js';

/** Most characters of a text that the model reads as a value. */
const MAX_SHOWN = 400;
const WORD = /[\p{L}\p{N}]/u;
/** Most texts of a request, and the characters in which those in quotation marks are looked for. */
const MOST = { texts: 8, quoted: 4000 };

/** @example setApartIn('Translate into French: where is the station?') // one, with the value 'where is the station?' */
export function setApartIn(message: string): SetApart[] {
  const text = visibleText(message).trim();
  const fenced = fencedIn(text);
  const quoted = quotedIn(text.slice(0, MOST.quoted)).map(({ start, end }) => text.slice(start, end));
  const found = [...(fenced.length > 0 ? fenced : partsOf(text)), ...quoted].map((part) => part.trim());
  const all = [...new Set(found)].filter((part) => WORD.test(part)).slice(0, MOST.texts);
  // Of `"hi"` and `hi` the bare one counts; of `say "hi"` and `hi` the whole.
  const isBeside = (part: string, other: string) =>
    part !== other && (isDressed(part, other) || (other.includes(part) && !isDressed(other, part)));
  const outer = all.filter((part) => !all.some((other) => isBeside(part, other)));
  return outer.map((value) => {
    const said = oneLine(value);
    const shown = said.length > MAX_SHOWN ? `${said.slice(0, MAX_SHOWN).replace(/\p{Cs}$/u, '')}…` : said;
    return { value, from: 'request', said, shown, outside: oneLine(text.replace(value, () => ' ')).toLowerCase() };
  });
}

/** Whether the text is another one and marks around it. */
function isDressed(text: string, bare: string): boolean {
  return text.includes(bare) && text !== bare && !WORD.test(text.replace(bare, () => ''));
}

function fencedIn(text: string): string[] {
  const parts = text.split('```');
  return parts.slice(0, -1).flatMap((part, place) => (place % 2 === 1 ? [part.replace(/^.*\n/u, '')] : []));
}

/** What stands behind the first colon of the first line; if that line does not end so, also behind it, and before the last line. */
function partsOf(text: string): string[] {
  const [first = ''] = text.split('\n', 1);
  const before = /^[^:：]*[\p{L}\p{N}]/u.test(first) ? first.search(/：|:(?=\s|$)/u) : -1;
  const behind = before < 0 ? [] : [text.slice(before + 1)];
  if (first === text || /[:：]$/u.test(first.trimEnd())) return behind;
  return [...behind, text.slice(first.length), text.slice(0, text.lastIndexOf('\n'))];
}

/** The paragraphs, each on one line; one also ends where a line does with a colon. No value begins in one and ends in the next. */
export function paragraphsOf(message: string): string[] {
  const paragraphs: string[] = [];
  let isOpen = false;
  for (const line of visibleText(message).split('\n').map(oneLine)) {
    if (line !== '') paragraphs.push(isOpen ? `${paragraphs.pop()} ${line}` : line);
    isOpen = line !== '' && !/[:：]$/u.test(line);
  }
  return paragraphs;
}

/** Whether no argument has words that only the text has. */
export function isUntouched({ said, outside }: SetApart, taken: Iterable<string>): boolean {
  const text = said.toLowerCase();
  return ![...taken]
    .map((words) => words.toLowerCase())
    .some((words) => text.includes(words) && !outside.includes(words));
}
