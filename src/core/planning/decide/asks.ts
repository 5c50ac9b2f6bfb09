/** The separate things that a request wants, in its own words. Most requests want one: then it stands for itself. */

import { createJsonWriter } from './json-writer.js';
import type { Read } from './read.js';

const OPENING = '{"count": ';
const MAX_ASKS = 5;
const MAX_ASK_TOKENS = 60;

/**
 * One reading tells whether there are several; only then they are written.
 *
 * @returns the message itself where it asks for one thing
 */
export function readAsks(
  message: string,
  { context, hasHistory, read }: { context: string; hasHistory: boolean; read: Read },
): Promise<string[]> {
  return read('asks', { context, message }, OPENING, async (reader) => {
    const writer = createJsonWriter(reader);
    const counts = Array.from({ length: MAX_ASKS }, (_, place) => ({
      text: String(place + 1),
      ends: 'plain' as const,
    }));
    const [best] = await writer.rank(counts);
    const count = Number(best?.name ?? 1);
    // "And tomorrow?" is complete only with what was said before.
    if (count === 1 && !hasHistory) return [message];
    writer.force(`${count}, "asks": ["`);
    const asks: string[] = [];
    while (asks.length < count) {
      const { text } = await writer.writeText(MAX_ASK_TOKENS);
      asks.push(text.trim());
      writer.force('", "');
    }
    const distinct = [...new Set(asks.filter(Boolean))];
    return distinct.length > 1 || (hasHistory && distinct.length > 0) ? distinct : [message];
  });
}
