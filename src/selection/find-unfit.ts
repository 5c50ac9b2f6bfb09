/** Whether what selection hands on fits the request at all; where it does not, nothing is planned with it. */
import type { View } from '../catalog/scope.js';
import type { Tool } from '../catalog/tool.js';
import type { Selection } from '../result.js';
import { keywordIndexOf } from '../search/keyword-index.js';
import { type JudgeCall, type JudgeParts, judgeFit, MOST_AT_ONCE } from './judge-fit.js';
import { searchText } from './user-part.js';

export interface Unfit {
  /** In place of the one that was judged: only what is there whatever the request is left of it. */
  selection: Selection;
  /** That were judged, the nearest first. */
  tools: readonly Tool[];
}

/** More are not judged: where none fits, each group is read. */
const MOST_GROUPS = 4;

/** Nothing is judged where the caller or a rule wants a tool. @returns undefined unless the model is sure that none fits. */
export async function findUnfit(
  selection: Selection,
  view: View,
  { call, parts }: { call: JudgeCall; parts: JudgeParts },
): Promise<Unfit | undefined> {
  const { fitBelow } = parts.options;
  const isAlways = ({ name }: { name: string }) => view.byName.get(name)?.alwaysLoad ?? false;
  const handedOn = selection.tools.filter((one) => !isAlways(one));
  const isWanted = handedOn.some(({ via }) => via === 'required' || via === 'rule');
  const areSame = selection.mode === 'passthrough';
  if (fitBelow === 0 || isWanted || !(areSame || selection.mode === 'selected')) return undefined;
  const groups = groupsOf(handedOn.flatMap(({ name }) => view.byName.get(name) ?? []));
  if (groups.length === 0 || groups.length > MOST_GROUPS) return undefined;
  const ordered = areSame ? likeliestFirst(groups, view, searchText(call.request)) : groups;
  let best = 0;
  for (const tools of ordered) {
    const probability = await judgeFit({ tools, areSame, enough: fitBelow }, call, parts);
    if (probability === undefined || probability >= fitBelow) return undefined;
    best = Math.max(best, probability);
  }
  const tools = ordered.flat();
  const names = tools.map(({ name }) => name);
  call.trace.add('selection', 'the model found that no tool fits', { none: 1 - best, tools: names });
  const reason = `the tools fit with a probability of ${best.toFixed(3)}, below fitBelow (${fitBelow})`;
  return { selection: { ...selection, mode: 'none', reason, tools: selection.tools.filter(isAlways) }, tools };
}

function groupsOf(tools: readonly Tool[]): Tool[][] {
  const count = Math.ceil(tools.length / MOST_AT_ONCE);
  return Array.from({ length: count }, (_, place) => tools.slice(place * MOST_AT_ONCE, (place + 1) * MOST_AT_ONCE));
}

/** By keywords. What stands together stays so: it is what a model in process has kept. */
function likeliestFirst(groups: readonly Tool[][], view: View, text: string): Tool[][] {
  const found = keywordIndexOf(view).search(text, view.tools.length);
  const places = new Map(found.map(({ tool }, place) => [tool, place]));
  const placeOf = (group: Tool[]) => Math.min(...group.map((tool) => places.get(tool) ?? found.length));
  return [...groups].sort((one, other) => placeOf(one) - placeOf(other));
}
