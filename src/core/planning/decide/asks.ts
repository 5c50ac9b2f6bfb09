/** The separate things that a request wants, in its own words. Most requests want one: then it stands for itself. */

import { createJsonWriter } from './json-writer.js';
import type { Read } from './read.js';

const OPENING = '{"count": ';
const MAX_ASKS = 8;
const MAX_ASK_TOKENS = 80;
/**
 * From this probability of "one thing" on nothing is written: how many there are beyond that, the list itself tells. Of 22
 * looked-at requests of NESTFUL, those that name several things (17) have at most 0.58, but for one of 0.71; those that name
 * one (5) have 0.91 and more, but for one of 0.57 (`test/bench/plans.mjs --set nestful-given --half learn`).
 */
const SINGLE = 0.7;

/**
 * One reading tells whether there are several; only then they are written.
 *
 * @param earlier messages before it, oldest first
 * @returns the message itself where it asks for one thing
 */
export function readAsks(
  message: string,
  { context, earlier, read }: { context: string; earlier: readonly string[]; read: Read },
): Promise<string[]> {
  return read('asks', { context, message }, OPENING, async (open) => {
    const writer = createJsonWriter(open);
    const counts = Array.from({ length: MAX_ASKS }, (_, place) => String(place + 1));
    const ranked = await writer.rank(
      counts.map((text) => ({ text, ends: 'plain' })),
      MAX_ASKS,
    );
    const isSingle = ranked.some(({ name, probability }) => name === '1' && probability >= SINGLE);
    // "And tomorrow?" is complete only with what was said before.
    if (isSingle && earlier.length === 0) return [message];
    const count = isSingle ? '1' : ranked.find(({ name }) => name !== '1')?.name;
    writer.force(`${count}, "asks": ["`);
    const asks: string[] = [];
    for (let isOpen = true; isOpen && asks.length < MAX_ASKS; ) {
      const { text, after } = await writer.writeText(MAX_ASK_TOKENS);
      asks.push(text.trim());
      const [next] = after ? [] : await writer.rank(['", "', '"]'].map((ending) => ({ text: ending, ends: 'itself' })));
      isOpen = after.startsWith(',') || next?.name === '", "';
      writer.force('", "');
    }
    const separate = separateOf(asks, earlier);
    return separate.length > 1 || (earlier.length > 0 && separate.length > 0) ? separate : [message];
  });
}

/** Each once: none whose words another one holds in a row, and none that is an earlier message. */
function separateOf(asks: readonly string[], earlier: readonly string[]): string[] {
  const known = earlier.map(inWords);
  const said = asks.map(inWords);
  return asks.filter((_, place) => {
    const ask = said[place] ?? '';
    const isFuller = (other: string, at: number) => other.includes(ask) && (other !== ask || at < place);
    return ask !== '  ' && !said.some(isFuller) && !known.includes(ask);
  });
}

function inWords(text: string): string {
  return ` ${(text.toLowerCase().match(/[\p{Script=Latin}\p{N}]+|\p{L}/gu) ?? []).join(' ')} `;
}
