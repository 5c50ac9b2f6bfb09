/**
 * Reads the model's next-token probabilities along the trie of names, best first: out come the likeliest names with
 * their probabilities. No name can be wrong and no JSON broken, and the whole distribution counts, not one sample.
 */
import { addUsage, spentUsage, type Token, type TokenReader, type Usage } from './model.js';

/** An edge: one token, or the several tokens that end a name (a quote alone, or a quote with what may follow). */
export interface Edge {
  readonly tokens: readonly Token[];
  readonly child: TrieNode;
}

export interface TrieNode {
  /** `null`: the end of a name. */
  readonly edges: Map<Token | null, Edge>;
  /** Set on the nodes behind the end of a name. */
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
  const root: TrieNode = { edges: new Map() };
  for (const { text, ends } of choices) {
    let node = root;
    for (const token of reader.tokenize(text)) {
      let edge = node.edges.get(token);
      if (!edge) {
        edge = { tokens: [token], child: { edges: new Map() } };
        node.edges.set(token, edge);
      }
      node = edge.child;
    }
    if (ends === 'itself') node.name = text;
    else node.edges.set(null, { tokens: known[ends], child: { edges: new Map(), name: text } });
  }
  return root;
}

export interface RankedName {
  readonly name: string;
  /** Of being the next name, among the names of the trie. */
  readonly probability: number;
}

export interface RankOptions {
  /** How many names are wanted. */
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

/** Awaits a reader. Where opening fails, what it spent is counted all the same. */
export async function openedReader(opening: Promise<TokenReader>, usage: Usage): Promise<TokenReader> {
  try {
    return await opening;
  } catch (error) {
    addUsage(usage, spentUsage(error));
    throw error;
  }
}

/** Best first; at most `names`, fewer where the steps or the probability ran out. */
export async function rankNames(trie: TrieNode, reader: TokenReader, options: RankOptions): Promise<RankedName[]> {
  const open: Branch[] = [skipForced({ node: trie, path: options.start ?? [], probability: 1 })];
  const ranked: RankedName[] = [];
  for (let steps = 0; open.length > 0 && ranked.length < options.names; ) {
    const branch = takeBest(open);
    if (branch.node.name !== undefined) {
      ranked.push({ name: branch.node.name, probability: branch.probability });
      continue;
    }
    if (steps >= options.maxSteps || branch.probability < options.minProbability) continue;
    steps++;
    open.push(...follow(branch, await sharesOf(branch, reader)));
  }
  return ranked;
}

/** How likely one name of the trie is among all. It costs a question wherever the name has an alternative. */
export async function probabilityOf(
  name: string,
  trie: TrieNode,
  { reader, start }: { reader: TokenReader; start: readonly Token[] },
): Promise<number> {
  const route = routeTo(name, trie) ?? [];
  let [node, path, probability] = [trie, start, 1];
  for (const edge of route) {
    if (node.edges.size > 1 && probability > 0) {
      const shares = await sharesOf({ node, path }, reader);
      probability *= shares[[...node.edges.values()].indexOf(edge)] ?? 0;
    }
    if (edge.child.name === undefined) path = [...path, ...edge.tokens];
    node = edge.child;
  }
  return route.length > 0 ? probability : 0;
}

function routeTo(name: string, node: TrieNode): Edge[] | undefined {
  if (node.name === name) return [];
  for (const edge of node.edges.values()) {
    const rest = routeTo(name, edge.child);
    if (rest) return [edge, ...rest];
  }
  return undefined;
}

/** How likely each edge is, in the order of the node's edges; they sum to 1. */
async function sharesOf({ node, path }: Pick<Branch, 'node' | 'path'>, reader: TokenReader): Promise<number[]> {
  const edges = [...node.edges.values()];
  const weights = await reader.weigh(
    path,
    edges.flatMap((edge) => edge.tokens),
  );
  const highest = Math.max(...weights);
  const masses = weights.map((weight) => Math.exp(weight - highest));
  let next = 0;
  return normalised(edges.map((edge) => edge.tokens.reduce<number>((sum) => sum + (masses[next++] ?? 0), 0)));
}

function normalised(masses: readonly number[]): number[] {
  const total = masses.reduce((sum, mass) => sum + mass, 0);
  return masses.map((mass) => (total > 0 && Number.isFinite(total) ? mass / total : 1 / masses.length));
}

/** One branch an edge, each moved on to where the model has a choice again. */
function follow({ node, path, probability }: Branch, shares: readonly number[]): Branch[] {
  return [...node.edges.values()].map((edge, place) => {
    const isEnd = edge.child.name !== undefined;
    return skipForced({
      node: edge.child,
      path: isEnd ? path : [...path, ...edge.tokens],
      probability: probability * (shares[place] ?? 0),
    });
  });
}

/** Where there is only one way on, nothing is asked. */
function skipForced(branch: Branch): Branch {
  let { node, path } = branch;
  while (node.edges.size === 1 && node.name === undefined) {
    const [edge] = node.edges.values();
    if (!edge) break;
    if (edge.child.name === undefined) path = [...path, ...edge.tokens];
    node = edge.child;
  }
  return { ...branch, node, path };
}

function takeBest(open: Branch[]): Branch {
  let best = 0;
  for (const [place, branch] of open.entries()) if (branch.probability > (open[best]?.probability ?? 0)) best = place;
  const [branch] = open.splice(best, 1);
  if (!branch) throw new RangeError('no branch is open');
  return branch;
}
