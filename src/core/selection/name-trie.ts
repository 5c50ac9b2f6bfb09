/** The trie of tool names over a reader's tokens: where the model has a choice, and where a name is already decided. */
import type { Token, TokenReader } from '../model/model.js';

/** An edge: one token, or the several tokens that end a name (a quote alone, or a quote with what may follow). */
export interface Edge {
  readonly tokens: readonly Token[];
  readonly child: TrieNode;
}

export interface TrieNode {
  readonly edges: Map<Token | 'end', Edge>;
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
    else node.edges.set('end', { tokens: known[ends], child: { edges: new Map(), name: text } });
  }
  return root;
}
