/**
 * Two opinions as one order: how likely the model is to name a tool, and how much of the request the tool's words cover.
 * Where the model wavers keywords decide, and where it is sure they hardly matter. Scores are brought to one scale and
 * added (CombSUM: Fox and Shaw, "Combination of Multiple Searches", TREC-2, 1994).
 */
import type { Tool } from '../catalog/tool.js';
import type { RankedTool } from '../search/rank.js';
import type { NamedTool } from './answer.js';

export interface Opinions {
  /** Of being named, by the model. */
  probabilities: ReadonlyMap<Tool, number>;
  keywords: readonly Pick<RankedTool, 'tool' | 'score'>[];
  /** What the best keyword match counts beside a probability of 1. */
  keywordWeight: number;
}

/** Where the best match covers less of the request than this, all matches count less. */
const COVERED = 0.2;

/** Best first. A tool that only keywords found has no probability. */
export function fuse({ probabilities, keywords, keywordWeight }: Opinions): NamedTool[] {
  const best = bestOf(keywords);
  const scores = new Map(probabilities);
  if (keywordWeight > 0)
    for (const { tool, score } of keywords) scores.set(tool, (scores.get(tool) ?? 0) + (keywordWeight * score) / best);
  const highest = Math.max(...scores.values());
  return [...scores]
    .sort(([, one], [, other]) => other - one)
    .map(([tool, score]) => {
      const probability = probabilities.get(tool);
      const standing = highest > 0 ? score / highest : 1;
      return { tool, standing, ...(probability === undefined ? {} : { probability: Math.min(1, probability) }) };
    });
}

/** How far the best keyword match among these tools is ahead of all others, between 0 and 1. */
export function keywordLead(
  tools: ReadonlySet<Tool>,
  { keywords, keywordWeight }: Pick<Opinions, 'keywords' | 'keywordWeight'>,
): number {
  const highest = (isOne: boolean) =>
    Math.max(0, ...keywords.filter(({ tool }) => tools.has(tool) === isOne).map(({ score }) => score));
  const lead = Math.max(0, highest(true) - highest(false)) / bestOf(keywords);
  return lead * Math.min(1, keywordWeight);
}

function bestOf(keywords: Opinions['keywords']): number {
  return Math.max(COVERED, ...keywords.map(({ score }) => score));
}
