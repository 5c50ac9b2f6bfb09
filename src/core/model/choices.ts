/**
 * Reads the model's next-token probabilities along the trie of names, best first: out come the likeliest names with
 * their probabilities. No name can be wrong and no JSON broken, and the whole distribution counts, not one sample.
 */
import type { Token, TokenReader } from './model.js';

export interface TrieNode {
  /** What leads here: one token, or the several that end a name (a quote alone, or a quote with what may follow). */
  readonly tokens: readonly Token[];
  /** `null`: the end of a name. */
  readonly edges: Map<Token | null, TrieNode>;
  name?: string;
}

/** Tokens with which a JSON string can end, and those that may stand behind a number or a word; only whole tokens count. */
const ENDS = {
  string: ['"', '",', '"]', '"]}', '"],', '"}', '"}}', '"},'],
  plain: [',', '}', ']', '},', '}}', ']}', '],', ' }', ' ]', '\n'],
} as const;

/** A text to choose, and how it ends: as a JSON string, as a number or word, or where its last token ends. */
export interface Choice {
  readonly text: string;
  readonly ends: keyof typeof ENDS | 'itself';
}

/** Of names inside quotation marks. */
export function createNameTrie(names: readonly string[], reader: Pick<TokenReader, 'tokenize'>): TrieNode {
  return createChoiceTrie(
    names.map((text) => ({ text, ends: 'string' })),
    reader,
  );
}

/** @param choices each text once; none that ends `itself` begins another one */
export function createChoiceTrie(choices: readonly Choice[], reader: Pick<TokenReader, 'tokenize'>): TrieNode {
  const closings = (kind: keyof typeof ENDS) =>
    ENDS[kind]
      .map((text) => reader.tokenize(text))
      .filter((tokens) => tokens.length === 1)
      .flat();
  const known = { string: closings('string'), plain: closings('plain') };
  const root: TrieNode = { tokens: [], edges: new Map() };
  for (const { text, ends } of choices) {
    let node = root;
    for (const token of reader.tokenize(text)) {
      const child = node.edges.get(token) ?? { tokens: [token], edges: new Map() };
      node.edges.set(token, child);
      node = child;
    }
    if (ends === 'itself') node.name = text;
    else node.edges.set(null, { tokens: known[ends], edges: new Map(), name: text });
  }
  return root;
}

export interface RankedName {
  readonly name: string;
  readonly probability: number;
}

export interface RankOptions {
  names: number;
  /** Most questions to the model; each costs the time of one token or a few. */
  maxSteps: number;
  /** Branches below this probability are not opened: they can't change the result much. */
  minProbability: number;
  /** What stands in the answer before the name that is asked for: names already given. Default: nothing. */
  start?: readonly Token[];
}

interface Branch {
  node: TrieNode;
  path: readonly Token[];
  probability: number;
}

/** Best first; at most `names`, fewer where the steps or the probability ran out. */
export async function rankNames(trie: TrieNode, reader: TokenReader, options: RankOptions): Promise<RankedName[]> {
  const open: Branch[] = [skipForced({ node: trie, path: options.start ?? [], probability: 1 })];
  const ranked: RankedName[] = [];
  for (let steps = 0; ranked.length < options.names; ) {
    const branch = open.sort((one, other) => other.probability - one.probability).shift();
    if (!branch) break;
    const { node, path, probability } = branch;
    if (node.name !== undefined) ranked.push({ name: node.name, probability });
    else if (steps < options.maxSteps && probability >= options.minProbability) {
      steps++;
      const shares = await sharesOf(branch, reader);
      for (const [place, child] of [...node.edges.values()].entries()) {
        const share = shares[place] ?? 0;
        open.push(skipForced({ node: child, path: [...path, ...child.tokens], probability: probability * share }));
      }
    }
  }
  return ranked;
}

/** How likely one name of the trie is among all. It costs a question wherever the name has an alternative. */
export async function probabilityOf(
  name: string,
  trie: TrieNode,
  { reader, start }: { reader: TokenReader; start: readonly Token[] },
): Promise<number> {
  let [node, path, probability] = [trie, start, 1];
  for (const token of [...reader.tokenize(name), null]) {
    const child = node.edges.get(token);
    if (!child) break;
    if (node.edges.size > 1 && probability > 0) {
      const shares = await sharesOf({ node, path }, reader);
      probability *= shares[[...node.edges.values()].indexOf(child)] ?? 0;
    }
    path = [...path, ...child.tokens];
    node = child;
  }
  return node.name === name ? probability : 0;
}

async function sharesOf({ node, path }: Pick<Branch, 'node' | 'path'>, reader: TokenReader): Promise<number[]> {
  const tokens = [...node.edges.values()].map((child) => child.tokens);
  const weights = await reader.weigh(path, tokens.flat());
  const highest = Math.max(...weights);
  const masses = weights.map((weight) => Math.exp(weight - highest));
  let next = 0;
  const sums = tokens.map((some) => some.reduce<number>((sum) => sum + (masses[next++] ?? 0), 0));
  const total = sums.reduce((sum, mass) => sum + mass, 0);
  return sums.map((mass) => (total > 0 && Number.isFinite(total) ? mass / total : 1 / sums.length));
}

function skipForced(branch: Branch): Branch {
  let { node, path } = branch;
  while (node.name === undefined && node.edges.size === 1) {
    for (const child of node.edges.values()) node = child;
    path = [...path, ...node.tokens];
  }
  return { ...branch, node, path };
}
