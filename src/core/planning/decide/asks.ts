/** The separate things that a request wants, in its own words. Most requests want one: then it stands for itself. */
import type { TokenReader } from '../../model/model.js';
import { createJsonWriter } from './json-writer.js';

/** What the answer begins with. */
export const OPENING = '{"count": ';

const MAX_ASKS = 5;
const MAX_ASK_TOKENS = 60;
/** Below it a request is not split: one ask too few is told as unserved less often than one too many makes a wrong step. */
const SEVERAL = 0.5;

/**
 * One reading tells whether there are several; only then they are written.
 *
 * @returns the message itself where it asks for one thing
 */
export async function readAsks(message: string, reader: TokenReader): Promise<string[]> {
  const writer = createJsonWriter(reader);
  const counts = Array.from({ length: MAX_ASKS }, (_, place) => String(place + 1));
  const ranked = await writer.rank(
    counts.map((text) => ({ text, ends: 'plain' })),
    MAX_ASKS,
  );
  const one = ranked.find(({ name }) => name === '1')?.probability ?? 0;
  if (1 - one < SEVERAL) return [message];
  const count = Number(ranked.find(({ name }) => name !== '1')?.name ?? 1);
  writer.force(`${count}, "asks": ["`);
  const asks: string[] = [];
  for (let place = 0; place < count; place++) {
    const { text } = await writer.writeText(MAX_ASK_TOKENS);
    asks.push(text.trim());
    writer.force('", "');
  }
  const distinct = [...new Set(asks.filter(Boolean))];
  return distinct.length > 1 ? distinct : [message];
}
