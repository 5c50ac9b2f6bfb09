/** A tool for each ask, or none: read along the trie of names, by itself and behind the asks before it. */
import { oneLine } from '../../catalog/summary.js';
import type { Tool } from '../../catalog/tool.js';
import type { TokenReader } from '../../model/model.js';
import { createNameTrie } from '../../selection/name-trie.js';
import { type RankedName, rankNames } from '../../selection/rank-names.js';

export interface ToolOfAsk {
  readonly ask: string;
  /** Best first, with the name for "none"; probabilities sum to at most 1. */
  readonly ranked: readonly RankedName[];
}

const RANK = { names: 6, maxSteps: 24, minProbability: 0.005 };
/** A name that was not read is as likely as this. */
const UNREAD = 0.002;

/** `- name(arguments): what it does`. */
export function renderCandidate({ name, inputSchema, description }: Tool): string {
  const names = Object.keys(Object(inputSchema.properties));
  const text = oneLine(description);
  return `- ${name}(${names.join(', ')})${text ? `: ${text.slice(0, 160)}` : ''}`;
}

/**
 * Reads the tools of all asks.
 *
 * @param open a reader of the prompt for a request (a whole one, or an ask that stands for one), closed by the caller of `use`
 */
export async function rankTools(
  asks: readonly string[],
  {
    message,
    names,
    none,
    read,
  }: {
    message: string;
    names: readonly string[];
    none: string;
    read: <T>(message: string, use: (reader: TokenReader) => Promise<T>) => Promise<T>;
  },
): Promise<ToolOfAsk[]> {
  const together = await read(message, async (reader) => {
    const trie = createNameTrie([...names, none], reader);
    const found: ToolOfAsk[] = [];
    let before = '';
    for (const ask of asks) {
      const start = `${before}${quoted(ask)}, "tool": "`;
      const ranked = await rankNames(trie, reader, { ...RANK, start: reader.tokenize(start) });
      found.push({ ask, ranked });
      before = `${start}${ranked[0]?.name ?? none}"}, {"do": `;
    }
    return found;
  });
  if (asks.length === 1 || process.env.V_MIX === 'together') return together;
  const mixed: ToolOfAsk[] = [];
  for (const { ask, ranked } of together) {
    const alone = await read(ask, (reader) =>
      rankNames(createNameTrie([...names, none], reader), reader, {
        ...RANK,
        start: reader.tokenize(`${quoted(ask)}, "tool": "`),
      }),
    );
    mixed.push({ ask, ranked: process.env.V_MIX === 'alone' ? alone : averaged(ranked, alone) });
  }
  return mixed;
}

/** What the answer begins with. */
export const OPENING = '{"steps": [{"do": ';

function quoted(ask: string): string {
  return JSON.stringify(ask);
}

/** The mean of the logarithms, normalised. */
function averaged(one: readonly RankedName[], other: readonly RankedName[]): RankedName[] {
  const weight = (list: readonly RankedName[], name: string) =>
    Math.log((list.find((entry) => entry.name === name)?.probability ?? 0) + UNREAD);
  const names = [...new Set([...one, ...other].map(({ name }) => name))];
  const masses = names.map((name) => Math.exp((weight(one, name) + weight(other, name)) / 2));
  const total = masses.reduce((sum, mass) => sum + mass, 0);
  return names
    .map((name, place) => ({ name, probability: (masses[place] ?? 0) / total }))
    .sort((a, b) => b.probability - a.probability);
}
