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

/** A name that was not read is as likely as this. */
const UNREAD = 0.01;
/**
 * Natural logarithm of how much likelier the best keyword match makes a name, at a weight of 1. In 376 requests of eight sets, of
 * 839 names with a probability of 0.05 to 0.3 that keywords did not find 0.02 were needed, and 0.11 of 187 that were found with 0.4
 * of the best score or more. 5 to 8 are alike on RestBench; 4 loses half a point of recall, 0 one and a half.
 */
const SPOKEN_OF = 6;

/**
 * Best first, for free room: there is more of it than names that both opinions stand for, so that neither should settle it alone.
 * Log-linear pool: probabilities are multiplied (Genest and Zidek, "Combining Probability Distributions", 1986).
 */
export function pool(
  named: readonly NamedTool[],
  { keywords, keywordWeight }: Pick<Opinions, 'keywords' | 'keywordWeight'>,
): NamedTool[] {
  const best = bestOf(keywords);
  const scores = new Map(keywords.map(({ tool, score }) => [tool, score / best]));
  const weightOf = ({ tool, probability = 0 }: NamedTool) =>
    Math.log(probability + UNREAD) + SPOKEN_OF * keywordWeight * (scores.get(tool) ?? 0);
  return [...named].sort((one, other) => weightOf(other) - weightOf(one));
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
