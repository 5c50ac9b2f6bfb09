/** The texts that a request hands over, as sources of arguments: each is passed on as it stands. */
import { textsApart } from '../../set-apart.js';
import { oneLine, visibleText } from '../../visible-text.js';
import { cutText } from '../issues.js';
import type { SetApart } from './sources.js';

/** Most characters of a text that the model reads as a value. */
const MAX_SHOWN = 400;
const WORD = /[\p{L}\p{N}]/u;
const MAX_TEXTS = 8;

/** @example setApartIn('Translate into French: where is the station?') // one, with the value 'where is the station?' */
export function setApartIn(message: string): SetApart[] {
  const text = visibleText(message).trim();
  const all = [...new Set(textsApart(text))].filter((part) => WORD.test(part)).slice(0, MAX_TEXTS);
  // Of `"hi"` and `hi` the bare one counts; of `say "hi"` and `hi` the whole.
  const isBeside = (part: string, other: string) =>
    part !== other && (isDressed(part, other) || (other.includes(part) && !isDressed(other, part)));
  const outer = all.filter((part) => !all.some((other) => isBeside(part, other)));
  return outer.map((value) => {
    const said = oneLine(value);
    return {
      value,
      from: 'request',
      said,
      shown: cutText(said, MAX_SHOWN),
      outside: oneLine(text.replace(value, () => ' ')).toLowerCase(),
    };
  });
}

/** Whether the text is another one and marks around it. */
function isDressed(text: string, bare: string): boolean {
  return text.includes(bare) && text !== bare && !WORD.test(text.replace(bare, () => ''));
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
