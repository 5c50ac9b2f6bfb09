/** Whether what selection hands on fits the request at all; where it does not, nothing is planned with it. */
import type { View } from '../catalog/scope.js';
import type { Tool } from '../catalog/tool.js';
import type { Selection } from '../result.js';
import { type JudgeCall, type JudgeParts, judgeFit, MAX_JUDGED } from './judge-fit.js';

export interface Unfit {
  /** In place of the one that was judged: only what is there whatever the request is left of it. */
  selection: Selection;
  /** That were judged, the nearest first. */
  tools: readonly Tool[];
}

/** Nothing is judged where the caller or a rule wants a tool. @returns undefined unless the model is sure that none fits. */
export async function findUnfit(
  selection: Selection,
  view: View,
  { call, parts }: { call: JudgeCall; parts: JudgeParts },
): Promise<Unfit | undefined> {
  const { fitBelow } = parts.options;
  const isAlways = ({ name }: { name: string }) => view.byName.get(name)?.alwaysLoad ?? false;
  const tools = judgedTools({ ...selection, tools: selection.tools.filter((one) => !isAlways(one)) }, view);
  if (fitBelow === 0 || tools.length === 0) return undefined;
  const judged = { tools, areSame: selection.mode === 'passthrough', enough: fitBelow };
  const probability = await judgeFit(judged, call, parts);
  if (probability === undefined || probability >= fitBelow) return undefined;
  const names = tools.map(({ name }) => name);
  call.trace.add('selection', 'the model found that no tool fits', { none: 1 - probability, tools: names });
  const reason = `the tools fit with a probability of ${probability.toFixed(3)}, below fitBelow (${fitBelow})`;
  return { selection: { ...selection, mode: 'none', reason, tools: selection.tools.filter(isAlways) }, tools };
}

/** Of all tools only few can be judged; of chosen ones the first are the likeliest. */
function judgedTools({ mode, tools }: Selection, { byName }: View): Tool[] {
  const isWanted = tools.some(({ via }) => via === 'required' || via === 'rule');
  const isJudged = mode === 'selected' || (mode === 'passthrough' && tools.length <= MAX_JUDGED);
  return isJudged && !isWanted ? tools.slice(0, MAX_JUDGED).flatMap(({ name }) => byName.get(name) ?? []) : [];
}
