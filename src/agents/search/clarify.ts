/** The clarifying question when a search found nothing certain: it offers the nearest groups of tools. */
import { flaggedParts } from '../../core/catalog/scan.js';
import { oncePer } from '../../core/kept.js';
import { renderPhrase } from '../../core/language.js';
import type { Layer } from '../../core/search/layers.js';
import type { RankedTool } from '../../core/search/rank.js';

const MAX_GROUPS = 4;

/** @param layers the tools that the caller sees, for searches without any match */
export function clarifyingQuestion(query: string, found: readonly RankedTool[], layers: readonly Layer[]): string {
  const groups = nearestGroups(found).length > 0 ? nearestGroups(found) : largestGroups(layers);
  return renderPhrase(groups.length > 0 ? 'noSureToolButNear' : 'noSureTool', { message: query }, { groups });
}

/** Ordered by the scores of their tools. */
function nearestGroups(found: readonly RankedTool[]): string[] {
  const scores = new Map<string, number>();
  for (const { tool, score } of found)
    if (tool.category) scores.set(tool.category, (scores.get(tool.category) ?? 0) + score);
  return best(scores);
}

function largestGroups(layers: readonly Layer[]): string[] {
  const counts = new Map<string, number>();
  for (const [group, count] of layers.flatMap((layer) => [...groupsOf(layer)])) {
    counts.set(group, (counts.get(group) ?? 0) + count);
  }
  return best(counts);
}

/** Groups of the visible tools; cached per layer, since counting reads all tools. */
const groupsOf = oncePer((layer: Layer): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>();
  for (const [place, { category }] of layer.segment.tools.entries()) {
    if (category && layer.visible?.[place] !== 0) counts.set(category, (counts.get(category) ?? 0) + 1);
  }
  return counts;
});

/** Leaves out names that speak to the model, which reads the question. */
function best(scores: ReadonlyMap<string, number>): string[] {
  const groups: string[] = [];
  for (const [group] of [...scores].sort(([, one], [, other]) => other - one)) {
    if (groups.length === MAX_GROUPS) break;
    if (flaggedParts(group).length === 0) groups.push(group);
  }
  return groups;
}
