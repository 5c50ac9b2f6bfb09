/**
 * Whether a model that has named these tools would name another one, or end its list. It knows well: on RestBench the
 * probability tells requests that need more tools from those that do not with an area under the curve of 0.91.
 */
import type { Token, TokenReader } from '../model/model.js';
import { massesOf } from './masses.js';

/** How a list goes on, and how it ends, where a quote is one token with what follows, and where it is one by itself. */
const WAYS = [
  { quote: '', goesOn: '",', ends: ['"]', '"]}', '"}'] },
  { quote: '"', goesOn: ',', ends: [']', ']}', '}'] },
];

/** Of going on, between 0 and 1; 1 where the reader can't tell. */
export async function probabilityOfMore(names: readonly string[], reader: TokenReader): Promise<number> {
  for (const { quote, goesOn, ends } of WAYS) {
    const more = singleToken(goesOn, reader);
    const known = ends.flatMap((text) => singleToken(text, reader) ?? []);
    if (more === undefined || known.length === 0) continue;
    const path = reader.tokenize(names.join('", "') + quote);
    return shareOfFirst(await reader.weigh(path, [more, ...known]));
  }
  return 1;
}

function singleToken(text: string, reader: TokenReader): Token | undefined {
  const tokens = reader.tokenize(text);
  return tokens.length === 1 ? tokens[0] : undefined;
}

/** @param weights natural logarithms */
function shareOfFirst(weights: readonly number[]): number {
  const masses = massesOf(weights);
  const total = masses.reduce((sum, mass) => sum + mass, 0);
  return Number.isFinite(total) ? (masses[0] ?? 0) / total : 1;
}
