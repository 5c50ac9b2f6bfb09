/**
 * Finds the likeliest names and their probabilities by a best-first search of a trie, with next-token probabilities. Names
 * and JSON are always valid, and the result uses the whole distribution instead of one sample.
 */
import type { Token, TokenReader } from './model.js';

export interface TrieNode {
  /** Tokens that lead here: one, or all that can end a name (a quote or bracket alone, or with what may follow). */
  tokens: readonly Token[];
  /** `null`: the end of a name. */
  readonly edges: Map<Token | null, TrieNode>;
  name?: string;
}

/** Texts that can end a JSON string, and those that can follow a number or a word; only single tokens are used. */
const ENDS = {
  string: ['"', '",', '"]', '"]}', '"],', '"}', '"}}', '"},'],
  plain: [',', '}', ']', '},', '}}', ']}', '],', ' }', ' ]', '\n'],
} as const;

/** What a token may hold beside a bracket: a model writes `["` at once where a list of texts begins, and `"],` where it ends. */
const BESIDE = {
  open: ['"', '{', '{"', '[', '["'],
  close: [',', '}', '}}', '},', ']', ']}', '],'],
} as const;

/**
 * A text to choose, and how it ends: like a JSON string, like a number or word, with its own last token, or with a bracket that
 * opens or closes a list or an object.
 */
export interface Choice {
  readonly text: string;
  readonly ends: keyof typeof ENDS | keyof typeof BESIDE | 'itself';
}

/** A trie of names inside quotation marks. */
export function createNameTrie(names: readonly string[], reader: Pick<TokenReader, 'tokenize'>): TrieNode {
  return createChoiceTrie(
    names.map((text) => ({ text, ends: 'string' })),
    reader,
  );
}

/** @param choices with distinct texts; a text that ends `itself` or with a bracket is no prefix of another */
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
    const path = reader.tokenize(text);
    for (const token of path) {
      const child = node.edges.get(token) ?? { tokens: [token], edges: new Map() };
      node.edges.set(token, child);
      node = child;
    }
    if (ends === 'string' || ends === 'plain')
      node.edges.set(null, { tokens: known[ends], edges: new Map(), name: text });
    else node.name = text;
    if (ends === 'open' || ends === 'close')
      node.tokens = [...node.tokens, ...BESIDE[ends].flatMap((next) => lastOf(reader.tokenize(text + next), path))];
  }
  return root;
}

/** The last token, if all before it are those of the path. */
function lastOf(tokens: readonly Token[], path: readonly Token[]): readonly Token[] {
  const isSame = tokens.length === path.length && path.slice(0, -1).every((token, place) => token === tokens[place]);
  return isSame ? tokens.slice(-1) : [];
}

export interface RankedName {
  readonly name: string;
  readonly probability: number;
}

export interface RankOptions {
  names: number;
  /** Most evaluations by the model; each takes the time of one or a few tokens. */
  maxSteps: number;
  /** Branches below this probability are not expanded: they can't change the result much. */
  minProbability: number;
  /** Tokens of the answer before the name: the names already given. Default: none. */
  start?: readonly Token[];
}

interface Branch {
  node: TrieNode;
  path: readonly Token[];
  probability: number;
}

/** Best first; at most `names`, fewer if the search reaches `maxSteps` or `minProbability`. */
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

/** Probability of one name among all of the trie. Costs one evaluation wherever the name has an alternative. */
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
