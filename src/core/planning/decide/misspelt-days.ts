/** Misspelt names of days and months: with "tomorow" unread, "tomorow at 8" would be today, and nobody would be told. */
import { slipsBetween } from '../../nearest-name.js';
import { namesNear, UNPARTED, weekdaysFrom } from './near-times.js';

/** Letters of a name from which on a slip makes no other word. */
const LONG = 6;

/**
 * Reads a text in which such names are spelt as Unicode has them, and gives what was found the words of the text again.
 *
 * @param read the times and numbers of a text, each with its words
 */
export async function readMisspelt<T extends Record<'times' | 'durations', readonly { text: string }[]>>(
  text: string,
  { language, today }: { language: string; today: string },
  read: (text: string) => Promise<T>,
): Promise<T> {
  const names = namesIn(language, today);
  const written = new Map<string, string>();
  const unsaid = names.filter((name) => !text.toLowerCase().includes(name));
  const spelt = text.replace(/[\p{L}\p{M}]+/gu, (word) => {
    const name = names.includes(word.toLowerCase()) ? undefined : unsaid.find((one) => isSlip(word.toLowerCase(), one));
    if (name !== undefined) written.set(name, word);
    return name ?? word;
  });
  const found = await read(spelt);
  if (written.size === 0) return found;
  const asWritten = (said: string) => [...written].reduce((all, [name, word]) => all.replace(name, word), said);
  const restore = <One extends { text: string }>(one: One): One => ({ ...one, text: asWritten(one.text) });
  return { ...found, times: found.times.map(restore), durations: found.durations.map(restore) };
}

function namesIn(language: string, today: string): string[] {
  const days = namesNear(language, today).filter(({ first, last }) => first === last);
  const format = new Intl.DateTimeFormat(language, { month: 'long', timeZone: 'UTC' });
  const months = Array.from({ length: 12 }, (_, month) => format.format(Date.UTC(2026, month, 1)).toLowerCase());
  const names = [...days, ...weekdaysFrom(language, today)].map(({ name }) => name);
  return [...names, ...months].filter((name) => name.length >= LONG && /^\p{L}+$/u.test(name) && !UNPARTED.test(name));
}

/** Within the word a letter is missing, too many, or in its neighbour's place; or accents are missing. Another end is mostly a form. */
function isSlip(word: string, name: string): boolean {
  const [said, meant] = [bare(word), bare(name)];
  if (word.length < LONG - 1 || said[0] !== meant[0] || said.at(-1) !== meant.at(-1)) return false;
  const isOther = said.length === meant.length && [...said].sort().join() !== [...meant].sort().join();
  return said === meant || (!isOther && slipsBetween(said, meant) === 1);
}

/** Without accents, and with each letter once in a row. */
function bare(text: string): string {
  return text
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .replace(/(.)\1+/gu, '$1');
}
