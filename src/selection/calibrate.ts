/**
 * What the model would name if nothing was asked for, read once a catalogue along the likeliest branches of the trie.
 * Names that win without a request are the model's habits, not answers.
 */
import type { TokenReader } from '../model/model.js';
import type { TrieNode } from './name-trie.js';
import { type Branch, follow, sharesOf, skipForced, takeBest } from './rank-names.js';

/** Reads at most `maxSteps` nodes; the others stay without a prior and are taken as they are. */
export async function readPriors(trie: TrieNode, reader: TokenReader, maxSteps: number): Promise<void> {
  const open: Branch[] = [skipForced({ node: trie, path: [], probability: 1 })];
  for (let steps = 0; open.length > 0 && steps < maxSteps; ) {
    const branch = takeBest(open);
    if (branch.node.name !== undefined) continue;
    steps++;
    const shares = await sharesOf(branch, reader);
    branch.node.prior = shares;
    // Seldom names get their turn too: a branch is opened by the root of its probability.
    open.push(...follow({ ...branch, probability: 1 }, shares.map((share) => branch.probability * Math.sqrt(share))));
  }
}
