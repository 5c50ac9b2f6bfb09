/**
 * Selection by rank: next-token probabilities rank the names, first after the opening of the answer, then after the likeliest
 * name and its producers. The first reading finds alternatives (three ways to list movies), the second complements (a tool
 * that acts on the movie). Probabilities and keyword scores are fused into one order.
 */
import type { Tool } from '../catalog/tool.js';
import { WinnowError } from '../errors.js';
import { oncePer } from '../kept.js';
import { createNameTrie, type RankedName, rankNames, type TrieNode } from '../model/choices.js';
import { addUsage, countFailed, type Model, type TokenReader } from '../model/model.js';
import type { RankedTool } from '../search/rank.js';
import { type Answer, missingFor, type NamedTool, type SelectionPrompt, type StageContext } from './candidates.js';
import type { Sheet } from './ladder.js';

type Keywords = readonly Pick<RankedTool, 'tool' | 'score'>[];

const OPENING = '{"selected_tools": ["';
const FIRST = { names: 12, maxSteps: 24, minProbability: 0.001 };
/** The second reading. Without its probabilities recall@8 on RestBench fell by 0.04 when it was introduced. */
const SECOND = { names: 8, maxSteps: 16, minProbability: 0.01 };
/**
 * "None" must be likelier than all names together, since tools that fit share the probability; thrice as likely behind earlier
 * messages, of which "and in Rome?" says little by itself: the plan completes it, and looks again.
 */
const NONE_FITS = { alone: 0.5, followUp: 0.75 };
/** Weight of the best keyword match beside a probability of 1. At 0 recall@8 on RestBench fell by 0.015 when introduced. */
const KEYWORD_WEIGHT = 0.5;
/** If the best match covers less of the request, the weight of all matches shrinks. */
const COVERED = 0.2;
/** Names with at least this share of the best score are chosen. The others are fill. */
const CHOSEN_SHARE = 0.5;
/** Order after the chosen: the floor of a probability, and the best keyword match makes a name e^2 times likelier. */
const TAIL = { floor: 0.01, keywordWeight: 2 };

/** @throws WinnowError `model_refused` if the model gives no probabilities, or an error of the model. */
export async function askForRank(sheet: Sheet, asked: SelectionPrompt, context: StageContext): Promise<Answer> {
  const { model } = context.parts;
  const { usage, signal } = context.call;
  if (!model.openReader)
    throw new WinnowError('model_refused', 'This model gives no next-token probabilities: use --set answer=list.');
  const shown = new Set(sheet.tools);
  const keywords = (await context.keywords()).filter(({ tool }) => shown.has(tool));
  const reader = await countFailed(model.openReader({ ...asked, opening: OPENING, signal }), usage);
  const readings: { before: readonly string[]; names: readonly RankedName[] }[] = [];
  try {
    const trie = trieOf(sheet, model, reader);
    const ranked = await rankNames(trie, reader, FIRST);
    readings.push({ before: [], names: ranked });
    const first = toTools(ranked, sheet);
    const none = ranked.find(({ name }) => name === sheet.labels.none)?.probability ?? 0;
    const [best] = fuse(first, keywords);
    const mostNone = context.call.request.history?.length ? NONE_FITS.followUp : NONE_FITS.alone;
    if (first.size === 0 || !best || none > mostNone) {
      const named = [...first].map(([tool, probability]): NamedTool => ({ tool, probability, via: 'model' }));
      return { named, chosen: 0, none: { says: true, probability: none }, reason: '' };
    }
    const before = [...new Set([...missingFor(context)(best.tool).map(({ tool }) => tool), best.tool])];
    const names = before.map((tool) => sheet.labels.labelOf(tool));
    const start = reader.tokenize(names.map((name) => `${name}", "`).join(''));
    const listed = await rankNames(trie, reader, { ...SECOND, start });
    readings.push({ before: names, names: listed });
    const both = new Map(first);
    for (const [tool, probability] of toTools(listed, sheet))
      if (!before.includes(tool)) both.set(tool, (both.get(tool) ?? 0) + probability);
    return toAnswer(fuse(both, keywords), { likeliest: best.tool, first, none, keywords });
  } finally {
    addUsage(usage, reader.usage());
    await reader.close({ readings });
  }
}

interface ScoredTool {
  tool: Tool;
  score: number;
  probability: number | undefined;
}

/**
 * Probabilities and keyword scores on one scale, added (CombSUM: Fox and Shaw, "Combination of Multiple Searches", TREC-2,
 * 1994), best first. Keywords decide if the model is unsure, and hardly matter if it is sure.
 */
export function fuse(probabilities: ReadonlyMap<Tool, number>, keywords: Keywords): ScoredTool[] {
  const scores = new Map(probabilities);
  for (const [tool, share] of shareOfBest(keywords)) scores.set(tool, (scores.get(tool) ?? 0) + KEYWORD_WEIGHT * share);
  return [...scores]
    .map(([tool, score]) => ({ tool, score, probability: probabilities.get(tool) }))
    .sort((one, other) => other.score - one.score);
}

function shareOfBest(keywords: Keywords): Map<Tool, number> {
  const best = Math.max(COVERED, ...keywords.map(({ score }) => score));
  return new Map(keywords.map(({ tool, score }) => [tool, score / best]));
}

interface FirstReading {
  keywords: Keywords;
  likeliest: Tool;
  first: ReadonlyMap<Tool, number>;
  none: number;
}

/**
 * The best of the first reading stays first, even if a complement scores higher in the end. After the chosen the order
 * is a log-linear pool (Genest and Zidek, 1986): it prefers names that both opinions support. The pool, a chosen share of 0.5
 * and 2,000 tokens of fill together change recall@8 on RestBench from 0.851 to 0.876 on the learning half (74 cases) and from
 * 0.865 to 0.882 on the other (81 cases; interval of the gain -0.004 to 0.041). Assistant and hydrology stay the same.
 * Command: `npm run bench:selection -- --set restbench --half measure`.
 */
function toAnswer(scored: readonly ScoredTool[], { likeliest, first, none, keywords }: FirstReading): Answer {
  const highest = scored[0]?.score ?? 0;
  const isLikeliest = ({ tool }: ScoredTool) => tool === likeliest;
  const isChosen = (one: ScoredTool) => isLikeliest(one) || one.score >= CHOSEN_SHARE * highest;
  const ordered = [...scored.filter(isLikeliest), ...scored.filter((one) => !isLikeliest(one))];
  const chosen = ordered.filter(isChosen);
  const shares = shareOfBest(keywords);
  const pooled = ({ tool, probability = 0 }: ScoredTool) =>
    Math.log(probability + TAIL.floor) + TAIL.keywordWeight * (shares.get(tool) ?? 0);
  const tail = ordered.filter((one) => !isChosen(one)).sort((one, other) => pooled(other) - pooled(one));
  const held = chosen.reduce((sum, { tool }) => sum + (first.get(tool) ?? 0), 0);
  return {
    named: [...chosen, ...tail].map(toNamed),
    chosen: chosen.length,
    none: { says: false, probability: none },
    reason: '',
    confidence: Math.round(Math.min(1, held) * 10_000) / 10_000,
  };
}

function toNamed({ tool, probability }: ScoredTool): NamedTool {
  return probability === undefined
    ? { tool, via: 'keyword' }
    : { tool, probability: Math.min(1, probability), via: 'model' };
}

const tries = oncePer((_: Model) => new WeakMap<Sheet, TrieNode>());

function trieOf(sheet: Sheet, model: Model, reader: TokenReader): TrieNode {
  const known = tries(model);
  const { labels, tools } = sheet;
  const trie = known.get(sheet) ?? createNameTrie([...tools.map((tool) => labels.labelOf(tool)), labels.none], reader);
  known.set(sheet, trie);
  return trie;
}

function toTools(ranked: readonly RankedName[], { labels }: Sheet): Map<Tool, number> {
  return new Map(
    ranked.flatMap(({ name, probability }): [Tool, number][] => {
      const tool = name === labels.none ? undefined : labels.toolOf(name);
      return tool ? [[tool, probability]] : [];
    }),
  );
}
