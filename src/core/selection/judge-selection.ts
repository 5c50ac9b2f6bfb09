/** Whether what selection hands on fits the request at all. A judgement that fails changes nothing, and the trace tells of it. */
import { oneLine } from '../catalog/summary.js';
import type { Tool } from '../catalog/tool.js';
import { toWinnowError } from '../errors.js';
import type { Model, Stage } from '../model/model.js';
import type { Selection } from '../result.js';
import { keywordIndexOf } from '../search/keyword-index.js';
import { inGroups } from './groups.js';
import { type FitPrompts, judgeFit, MOST_AT_ONCE } from './judge-fit.js';
import { matchingRules } from './rules.js';
import { answerWay, type SelectionCall, type SelectionParts } from './selection-call.js';
import { renderContext, searchText } from './user-part.js';

export interface JudgeParts extends FitPrompts {
  model: Model;
  options: SelectionParts['options'];
  /** For which the tools are wanted: the option `judge` tells the two apart, and the tokens count to it. */
  stage: Stage;
}

/** Where more are handed on they are not judged: that none fits is known only when each group was read. */
const MOST_JUDGED = 4 * MOST_AT_ONCE;

/** @returns the same with its `fits`; in mode `none`, with what is always there, where they do not. */
export async function judgeSelection(selection: Selection, call: SelectionCall, parts: JudgeParts): Promise<Selection> {
  const { view, trace } = call;
  const { fitBelow } = parts.options;
  if (!isJudged(selection, { call, parts })) return selection;
  if (selection.tools.length > MOST_JUDGED) {
    trace.add('selection', `whether the ${selection.tools.length} tools fit is not judged: they are too many`);
    return selection;
  }
  const groups = inGroups(toolsOf(selection, call), MOST_AT_ONCE);
  const fits = await bestOf(groups, selection, { call, parts });
  if (fits === undefined) return selection;
  if (fits >= fitBelow) {
    trace.add('selection', 'the tools fit', { fits });
    return { ...selection, fits };
  }
  trace.add('selection', 'the model found that no tool fits', { none: 1 - fits });
  const reason = `the tools fit with a probability of ${fits.toFixed(3)}, below fitBelow (${fitBelow})`;
  const always = selection.tools.filter(({ name }) => view.byName.get(name)?.alwaysLoad);
  return { ...selection, mode: 'none', reason, tools: always, fits };
}

interface Judging {
  call: SelectionCall;
  parts: JudgeParts;
}

/** What the caller requires or a rule wants is there whether it fits or not. */
function isJudged({ mode, tools }: Selection, { call, parts }: Judging): boolean {
  const { request, rules } = call;
  const { options, stage } = parts;
  const isFew = mode === 'passthrough' && tools.length <= MOST_AT_ONCE;
  const isAsked = isFew || options.judge === 'all' || (options.judge === 'plans' && stage === 'planning');
  const isWanted = (request.require ?? []).length > 0 || (options.rules && matchingRules(rules, request).length > 0);
  const isFound = tools.length > 0 && (mode === 'selected' || mode === 'passthrough');
  return isFound && isAsked && !isWanted && options.fitBelow > 0 && answerWay(parts) === 'rank';
}

/** The likeliest first. */
function toolsOf({ mode, tools }: Selection, { view, request }: SelectionCall): Tool[] {
  const handedOn = tools.flatMap(({ name }) => view.byName.get(name) ?? []);
  // Few are what a model in process keeps, so they stay in their order.
  if (mode !== 'passthrough' || handedOn.length <= MOST_AT_ONCE) return handedOn;
  const found = keywordIndexOf(view).search(searchText(request), handedOn.length);
  return [...new Set([...found.map(({ tool }) => tool), ...handedOn])];
}

/** Of the groups up to the first that fits; undefined where the model gives no probabilities, or a reading failed. */
async function bestOf(
  groups: readonly Tool[][],
  { mode }: Selection,
  { call, parts }: Judging,
): Promise<number | undefined> {
  const { model, options, stage, fit, fitOfOne } = parts;
  const openReader = model.openReader?.bind(model);
  if (!openReader) return undefined;
  const { request, usage, facts, trace } = call;
  const limit = options.selectionTimeoutMs;
  const timeout = AbortSignal.timeout(limit);
  const question = {
    fit,
    fitOfOne,
    openReader,
    stage,
    said: { context: renderContext(request, options), message: oneLine(request.message) },
    // `select` reads the words of the request and little more.
    eachToo: stage === 'planning' || options.judge === 'all',
    areSame: mode === 'passthrough' && groups.length === 1,
    enough: options.fitBelow,
    usage,
    signal: call.signal ? AbortSignal.any([call.signal, timeout]) : timeout,
    facts,
  };
  let best = 0;
  try {
    for (const tools of groups) {
      best = Math.max(best, await judgeFit(tools, question));
      if (best >= options.fitBelow) break;
    }
    return best;
  } catch (error) {
    const failure = toWinnowError(error);
    if (failure.code === 'cancelled' && call.signal?.aborted) throw failure;
    const isLate = failure.code === 'cancelled' && timeout.aborted;
    const why = isLate ? `not within ${limit} ms (selectionTimeoutMs)` : failure.message;
    trace.add('selection', `whether the tools fit was not judged: ${why}`);
    return undefined;
  }
}
