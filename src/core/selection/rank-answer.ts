/**
 * The rank way: the answer is opened for the model and the probabilities of the next name are read; then once more with
 * the likeliest name and its producers already there. The first reading brings alternatives (three ways to list movies),
 * the second complements (what is done with the movie).
 */
import type { Tool } from '../catalog/tool.js';
import { WinnowError } from '../errors.js';
import { addUsage, type CallAbout, type Model, type Prompt, type TokenReader, type Usage } from '../model/model.js';
import type { Answer, NamedTool } from './answer.js';
import { probabilityOfMore } from './ends-list.js';
import { fuse, keywordLead, type Opinions, pool } from './fuse.js';
import { createNameTrie, type TrieNode } from './name-trie.js';
import { openedReader } from './opened-reader.js';
import { type RankedName, rankNames } from './rank-names.js';
import type { Sheet } from './sheet.js';
import { liftMeant } from './twins.js';

export interface RankQuestion extends Pick<Opinions, 'keywords' | 'keywordWeight'> {
  model: Model;
  prompt: Prompt;
  about: CallAbout;
  /** Of the names, so many count as chosen. */
  core: number;
  /** How many times to read: after the first for complements, each time with one more name already there. */
  readings: number;
  /** The request's own words, by which it tells twins apart; undefined: it does not. */
  wording: string | undefined;
  /** The producers that a tool needs, in the order of their use. */
  leadUp: (tool: Tool) => readonly Tool[];
  usage: Usage;
  signal: AbortSignal | undefined;
}

export const OPENING = '{"selected_tools": ["';
const FIRST = { names: 12, maxSteps: 24, minProbability: 0.001 };
const FURTHER = { names: 8, maxSteps: 16, minProbability: 0.01 };
/** What a complement's probability counts beside a first name's. Measured on RestBench: 0.8 to 1.5 are alike, 0 loses 4 points of recall. */
const COMPLEMENT_WEIGHT = 1;
/** That none fits must be likelier than all names together: where several fit, each has a part of the probability. */
const NONE_FITS = 0.5;
/**
 * Below it the first and its producers are all that is needed. Those that planning sees as chosen are then exactly the needed in
 * 0.40 of 20 cases of hydrology (0.20 without) and in 0.23 of RestBench's (0.07); 0.1 to 0.3 are alike.
 */
const MORE = 0.2;
/** A chosen name stands at least so high, relative to the best. */
const MIN_STANDING = 0.3;

export async function askForRank(sheet: Sheet, question: RankQuestion): Promise<Answer> {
  const { model, prompt, about, usage, signal } = question;
  if (!model.openReader)
    throw new WinnowError('model_refused', 'This model gives no next-token probabilities: use --set answer=list.');
  const reader = await openedReader(model.openReader({ prompt, opening: OPENING, signal, about }), usage);
  /** For the call log: the names of each reading, those before them, and the probability of going on. */
  const readings: { before: readonly string[]; more?: number; names: readonly RankedName[] }[] = [];
  try {
    const { labels } = sheet;
    const trie = trieOf(sheet, model, reader);
    const ranked = await rankNames(trie, reader, FIRST);
    readings.push({ before: [], names: ranked });
    const first = toTools(ranked, sheet);
    const none = ranked.find((entry) => entry.name === labels.none)?.probability ?? 0;
    const probabilities = new Map(first.map(({ tool, probability = 0 }) => [tool, probability]));
    const order = () => {
      const { wording } = question;
      const told = wording === undefined ? probabilities : liftMeant(probabilities, { tools: sheet.tools, wording });
      return fuse({ ...question, probabilities: told });
    };
    const [likeliest] = order();
    if (first.length === 0 || !likeliest || none > NONE_FITS) return toAnswer(first, { ...question, none, says: true });
    const before: Tool[] = [];
    let isFirstEnough = false;
    for (let reading = 2, next: Tool | undefined = likeliest.tool; next && reading <= question.readings; reading++) {
      before.push(...question.leadUp(next), next);
      const names = [...new Set(before)].map((tool) => labels.labelOf(tool));
      const more = reading === 2 ? await probabilityOfMore(names, reader) : undefined;
      if (more !== undefined) isFirstEnough = more < MORE;
      const start = reader.tokenize(names.map((name) => `${name}", "`).join(''));
      const listed = await rankNames(trie, reader, { ...FURTHER, start });
      readings.push({ before: names, ...(more === undefined ? {} : { more }), names: listed });
      const further = toTools(listed, sheet);
      const complements = further.filter(({ tool }) => !before.includes(tool));
      for (const { tool, probability = 0 } of complements)
        probabilities.set(tool, (probabilities.get(tool) ?? 0) + COMPLEMENT_WEIGHT * probability);
      next = complements[0]?.tool;
    }
    const named = order();
    const isFirst = ({ tool }: NamedTool) => tool === likeliest.tool;
    const ordered = [...named.filter(isFirst), ...named.filter((one) => !isFirst(one))];
    const answer = toAnswer(ordered, { ...question, none, says: false });
    return { ...answer, isFirstEnough, confidence: confidenceOf(answer, first, question) };
  } finally {
    addUsage(usage, reader.usage());
    await reader.close({ readings });
  }
}

const tries = new WeakMap<Model, WeakMap<Sheet, TrieNode>>();

/** All names are tokenized once a model and sheet, not with every request. */
function trieOf(sheet: Sheet, model: Model, reader: TokenReader): TrieNode {
  const known = tries.get(model) ?? new WeakMap<Sheet, TrieNode>();
  tries.set(model, known);
  const { labels, tools } = sheet;
  const trie = known.get(sheet) ?? createNameTrie([...tools.map((tool) => labels.labelOf(tool)), labels.none], reader);
  known.set(sheet, trie);
  return trie;
}

function toTools(ranked: readonly RankedName[], { labels }: Sheet): NamedTool[] {
  return ranked.flatMap(({ name, probability }): NamedTool[] => {
    const tool = name === labels.none ? undefined : labels.toolOf(name);
    return tool ? [{ tool, probability }] : [];
  });
}

/**
 * Either opinion may settle it (noisy-or: Pearl, 1988): what the chosen names hold of the first reading, or their lead by
 * keywords. Complements come second, so their probability there says nothing.
 */
function confidenceOf({ named, chosen }: Answer, first: readonly NamedTool[], question: RankQuestion): number {
  const tools = new Set(named.slice(0, chosen).map(({ tool }) => tool));
  const held = first.filter(({ tool }) => tools.has(tool)).reduce((sum, { probability = 0 }) => sum + probability, 0);
  const confidence = 1 - (1 - Math.min(1, held)) * (1 - keywordLead(tools, question));
  return Math.round(confidence * 10_000) / 10_000;
}

interface Verdict {
  /** Probability that no tool fits. */
  none: number;
  /** It is the answer. */
  says: boolean;
}

function toAnswer(
  named: readonly NamedTool[],
  { core, none, says, ...opinions }: Pick<RankQuestion, 'core' | 'keywords' | 'keywordWeight'> & Verdict,
): Answer {
  // The first stays the first, also where a complement stands far above it in the end.
  const high = named.filter(({ standing = 1 }, place) => place === 0 || standing >= MIN_STANDING).length;
  const chosen = says ? 0 : Math.min(core, high);
  return {
    named: [...named.slice(0, chosen), ...pool(named.slice(chosen), opinions)],
    chosen,
    none: { says, probability: none },
    reason: '',
  };
}
