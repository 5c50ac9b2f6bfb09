/**
 * Finds the likeliest names and their probabilities by a best-first search of a trie, with next-token probabilities. Names
 * and JSON are always valid, and the result uses the whole distribution instead of one sample.
 */
import { oncePer } from '../kept.js';
import type { NextToken, Token, TokenReader } from './model.js';

export interface TrieNode {
  /** Tokens that lead here: one, or all that can end a name (a quote or bracket alone, or with what may follow). */
  tokens: readonly Token[];
  /** `null`: the end of a name. */
  readonly edges: Map<Token | null, TrieNode>;
  name?: string;
}

/** Texts that can end a JSON string, and those that can follow a number or a word; only single tokens are used. */
const ENDS = {
  string: ['"', '",', '"]', '"]}', '"],', '"}', '"}}', '"},', '"}]', '"}],', '"}]}'],
  plain: [',', '}', ']', '},', '}}', ']}', '],', '}]', '}],', '}]}', ' }', ' ]', '\n'],
} as const;

/** What a token may hold beside a bracket: a model writes `["` at once where a list of texts begins, and `"],` where it ends. */
const BESIDE = {
  open: ['"', '{', '{"', '[', '["'],
  close: [',', '}', '}}', '},', ']', ']}', '],', '}]', '}],'],
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
      for (const { child, share } of await weighChildren(branch, reader, guessFrom(node)))
        open.push(skipForced({ node: child, path: [...path, ...child.tokens], probability: probability * share }));
    }
  }
  return ranked;
}

/** Where a name is written. */
interface NamePlace {
  readonly reader: TokenReader;
  readonly start: readonly Token[];
}

/** Probability of one name among all of the trie, between 0 and 1. Costs one evaluation wherever it has an alternative. */
export async function probabilityOf(name: string, trie: TrieNode, place: NamePlace): Promise<number> {
  return (await followName(name, trie, { ...place, forced: 0 })).probability;
}

/** Tokens without an alternative that count for a likelihood; behind them a value mostly goes on by itself. */
const FORCED = 2;

/**
 * Probability of one name among all that the model could write, between 0 and 1: small where it would rather write none of the
 * names. Costs one evaluation more for each of the first tokens without an alternative, behind the first place with one.
 */
export async function likelihoodOf(name: string, trie: TrieNode, place: NamePlace): Promise<number> {
  return (await followName(name, trie, { ...place, forced: FORCED })).likelihood;
}

async function followName(name: string, trie: TrieNode, { reader, start, forced }: NamePlace & { forced: number }) {
  const way = wayTo(reader.tokenize(name), trie, forced);
  const ahead = aheadOn(way);
  let [path, probability, likelihood] = [start, way.length > 0 ? 1 : 0, way.length > 0 ? 1 : 0];
  for (const [place, { node, child, isWeighed }] of way.entries()) {
    if (isWeighed && probability > 0) {
      const known = ahead.slice(place);
      const found = await weighChildren({ node, path }, reader, known.length > 0 ? known : guessFrom(node));
      const next = found.find((one) => one.child === child);
      probability *= next?.share ?? 0;
      likelihood *= next?.likelihood ?? 0;
    }
    path = [...path, ...child.tokens];
  }
  return { probability, likelihood };
}

interface Edge {
  readonly node: TrieNode;
  readonly child: TrieNode;
  readonly isWeighed: boolean;
}

/** The edges to the end of a name, of which those without an alternative are weighed up to `forced`; none if the trie lacks the name. */
function wayTo(tokens: readonly Token[], trie: TrieNode, forced: number): Edge[] {
  const way: Edge[] = [];
  let [node, left] = [trie, 0];
  for (const token of [...tokens, null]) {
    const child = node.edges.get(token);
    if (!child) break;
    const isChoice = node.edges.size > 1;
    way.push({ node, child, isWeighed: isChoice || left > 0 });
    left = isChoice ? forced : left - 1;
    node = child;
  }
  return node.name === undefined ? [] : way;
}

/** How the path goes on to the last edge that is weighed: a token for each edge before it, since only ends have several. */
function aheadOn(way: readonly Edge[]): NextToken[] {
  const last = way.findLastIndex(({ isWeighed }) => isWeighed);
  return way.slice(0, Math.max(0, last)).flatMap(({ child }, place): NextToken[] => {
    const next = way[place + 1];
    const candidates = next?.isWeighed ? wantedAt(next.node) : undefined;
    return child.tokens.map((token) => ({ token, candidates }));
  });
}

/** Tokens that are guessed ahead. */
const GUESSED = 4;

/** How the search probably goes on: where over half of the names do. */
function guessFrom(start: TrieNode): NextToken[] {
  const ahead: NextToken[] = [];
  for (let node = start; ahead.length < GUESSED; ) {
    const half = namesIn(node) / 2;
    const child = [...node.edges.values()].find((one) => one.edges.size > 0 && namesIn(one) > half);
    const [token] = child?.tokens ?? [];
    if (!child || token === undefined) break;
    ahead.push({ token, candidates: child.edges.size > 1 ? wantedAt(child) : undefined });
    node = child;
  }
  return ahead.slice(0, 1 + ahead.findLastIndex(({ candidates }) => candidates));
}

const namesIn = oncePer(({ edges }: TrieNode): number =>
  Math.max(
    1,
    [...edges.values()].reduce((sum, child) => sum + namesIn(child), 0),
  ),
);

function wantedAt({ edges }: TrieNode): Token[] {
  return [...edges.values()].flatMap(({ tokens }) => tokens);
}

/** The children of a node, each with its share among them and its probability among all tokens. */
async function weighChildren(
  { node, path }: Pick<Branch, 'node' | 'path'>,
  reader: TokenReader,
  ahead: readonly NextToken[] = [],
) {
  const children = [...node.edges.values()];
  const weights = await reader.weigh(path, wantedAt(node), ahead);
  const highest = Math.max(...weights);
  let next = 0;
  const sums = children.map(({ tokens }) =>
    tokens.reduce<number>((sum) => sum + Math.exp((weights[next++] ?? 0) - highest), 0),
  );
  const total = sums.reduce((sum, mass) => sum + mass, 0);
  const isKnown = total > 0 && Number.isFinite(total);
  return children.map((child, place) => {
    const mass = sums[place] ?? 0;
    const share = isKnown ? mass / total : 1 / children.length;
    return { child, share, likelihood: isKnown ? Math.min(1, mass * Math.exp(highest)) : 0 };
  });
}

function skipForced(branch: Branch): Branch {
  let { node, path } = branch;
  while (node.name === undefined && node.edges.size === 1) {
    for (const child of node.edges.values()) node = child;
    path = [...path, ...node.tokens];
  }
  return { ...branch, node, path };
}
