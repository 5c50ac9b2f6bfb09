/** The question back when a search found nothing sure: between the groups of tools that come nearest, never a guess. */
import { oncePer } from '../../core/kept.js';
import { renderPhrase } from '../../core/language.js';
import type { Layer, RankedTool } from '../../core/search/rank.js';

const MAX_GROUPS = 4;

/** @param layers what the caller sees; for when nothing was found at all. */
export function clarifyingQuestion(query: string, found: readonly RankedTool[], layers: readonly Layer[]): string {
  const groups = nearestGroups(found).length > 0 ? nearestGroups(found) : largestGroups(layers);
  return renderPhrase(groups.length > 0 ? 'noSureToolButNear' : 'noSureTool', { message: query }, { groups });
}

/** By the scores of their tools. */
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

/** Of the visible tools; counted once a layer, since each question would look at all tools. */
const groupsOf = oncePer((layer: Layer): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>();
  for (const [place, { category }] of layer.segment.tools.entries()) {
    if (category && layer.visible?.[place] !== 0) counts.set(category, (counts.get(category) ?? 0) + 1);
  }
  return counts;
});

function best(scores: ReadonlyMap<string, number>): string[] {
  return [...scores]
    .sort(([, one], [, other]) => other - one)
    .slice(0, MAX_GROUPS)
    .map(([group]) => group);
}
