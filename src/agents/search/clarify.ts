/** The question back when a search found nothing sure: between the groups of tools that come nearest, never a guess. */
import { languageOf } from '../../core/language.js';
import type { Layer, RankedTool } from '../../core/search/rank.js';

const MAX_GROUPS = 4;

/** @param layers what the caller sees; for when nothing was found at all. */
export function clarifyingQuestion(query: string, found: readonly RankedTool[], layers: readonly Layer[]): string {
  const groups = nearestGroups(found).length > 0 ? nearestGroups(found) : largestGroups(layers);
  if (languageOf({ message: query }) === 'zh') {
    const choice = groups.length > 0 ? `是与${groups.map((group) => `“${group}”`).join('、')}有关，还是别的？` : '';
    return `没有找到确切符合的工具。${choice}请说明要对什么做什么操作。`;
  }
  const choice = groups.length > 0 ? ` Is it about ${listed(groups)}, or something else?` : '';
  return `No tool fits for sure.${choice} Say what is to be done, and with what.`;
}

/** By the scores of their tools. */
function nearestGroups(found: readonly RankedTool[]): string[] {
  const scores = new Map<string, number>();
  for (const { tool, score } of found)
    if (tool.category) scores.set(tool.category, (scores.get(tool.category) ?? 0) + score);
  return best(scores);
}

const known = new WeakMap<Layer, ReadonlyMap<string, number>>();

function largestGroups(layers: readonly Layer[]): string[] {
  const counts = new Map<string, number>();
  for (const [group, count] of layers.flatMap((layer) => [...groupsOf(layer)])) {
    counts.set(group, (counts.get(group) ?? 0) + count);
  }
  return best(counts);
}

/** Of the visible tools; counted once a layer, since each question would look at all tools. */
function groupsOf(layer: Layer): ReadonlyMap<string, number> {
  const counts = known.get(layer) ?? countGroups(layer);
  known.set(layer, counts);
  return counts;
}

function countGroups(layer: Layer): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const [place, { category }] of layer.segment.tools.entries()) {
    if (category && layer.visible?.[place] !== 0) counts.set(category, (counts.get(category) ?? 0) + 1);
  }
  return counts;
}

function best(scores: ReadonlyMap<string, number>): string[] {
  return [...scores]
    .sort(([, one], [, other]) => other - one)
    .slice(0, MAX_GROUPS)
    .map(([group]) => group);
}

function listed(groups: readonly string[]): string {
  return groups.length === 1 ? `${groups[0]}` : `${groups.slice(0, -1).join(', ')} or ${groups.at(-1)}`;
}
