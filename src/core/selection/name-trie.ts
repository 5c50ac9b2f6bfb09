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

/** Tokens with which a JSON string can end; those that a vocabulary does not have as one token are left out. */
const CLOSINGS = ['"', '",', '"]', '"]}', '"],', '"}'];

export function createNameTrie(names: readonly string[], reader: Pick<TokenReader, 'tokenize'>): TrieNode {
  const closings = CLOSINGS.map((text) => reader.tokenize(text))
    .filter((tokens) => tokens.length === 1)
    .flat();
  const root: TrieNode = { edges: new Map() };
  for (const name of names) {
    let node = root;
    for (const token of reader.tokenize(name)) {
      let edge = node.edges.get(token);
      if (!edge) {
        edge = { tokens: [token], child: { edges: new Map() } };
        node.edges.set(token, edge);
      }
      node = edge.child;
    }
    node.edges.set('end', { tokens: closings, child: { edges: new Map(), name } });
  }
  return root;
}
