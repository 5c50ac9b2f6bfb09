/** Stage one: from what a caller sees to the few tools whose schemas are loaded. Only a cancelled request fails here. */
import type { Tool } from '../catalog/tool.js';
import { toWinnowError } from '../errors.js';
import type { Dropped, SelectedTool, Selection } from '../result.js';
import { keywordIndexOf } from '../search/keyword-index.js';
import type { RankedTool } from '../search/rank.js';
import { ask } from './ask.js';
import { compose } from './compose.js';
import { fallbackTools } from './fallback.js';
import { planningRoom, schemaBudget } from './room.js';
import type { SelectionCall, SelectionParts } from './selection-call.js';
import { searchText } from './user-part.js';
import { withRules } from './with-rules.js';

const MAX_KEYWORD_MATCHES = 20;

export async function select(call: SelectionCall, parts: SelectionParts): Promise<Selection> {
  const { view, trace } = call;
  const all = passthrough(call, parts);
  if (all) return all;
  const timeoutMs = parts.options.selectionTimeoutMs;
  const timeout = AbortSignal.timeout(timeoutMs);
  let found: readonly RankedTool[] | undefined;
  const keywords = () => {
    found ??= keywordIndexOf(view).search(searchText(call.request), MAX_KEYWORD_MATCHES);
    return found;
  };
  /** Of all answers, also of those that are refused; each once. */
  const notTaken = new Map<string, Dropped>();
  const onDropped = (names: readonly Dropped[]) => {
    for (const one of names) notTaken.set(`${one.reason} ${one.name}`, one);
  };
  let answer: Awaited<ReturnType<typeof ask>>;
  try {
    const signal = call.signal ? AbortSignal.any([call.signal, timeout]) : timeout;
    answer = await ask({ ...call, signal, keywords, onDropped }, parts);
  } catch (error) {
    const failure = toWinnowError(error);
    if (failure.code === 'cancelled' && call.signal?.aborted) throw failure;
    const isLate = failure.code === 'cancelled' && timeout.aborted;
    const reason = isLate
      ? `model_timeout: no selection within ${timeoutMs} ms`
      : `${failure.code}: ${failure.message}`;
    return fallBack(call, parts, { reason, notTaken: [...notTaken.values()] });
  }
  if (answer.none.says) {
    trace.add('selection', 'the model found that no tool fits', { none: answer.none.probability });
  }
  const { tools, dropped } = compose({
    view,
    request: call.request,
    answer,
    rules: call.rules,
    options: {
      ...parts.options,
      fill: parts.options.fill && !answer.none.says,
      schemaTokens: schemaBudget(parts, call),
    },
    keywords,
    schemaTokens: parts.schemaTokens,
    allTokens: parts.allTokens(view),
  });
  const lost = [...notTaken.values(), ...dropped, ...unknownRequired(call)];
  traceDropped(call, lost);
  // What is always there is no sign that anything fits.
  const isNone = tools.length === 0 || (answer.none.says && tools.every(({ via }) => via === 'always'));
  const { reason, confidence, leftOut } = answer;
  trace.add('selection', `${tools.length} of ${view.tools.length} tools are handed on`, {
    tools: tools.map(({ name }) => name),
  });
  const sure = confidence === undefined ? {} : { confidence };
  return { mode: isNone ? 'none' : 'selected', reason, ...sure, tools: [...tools], dropped: lost, leftOut };
}

function traceDropped({ trace }: SelectionCall, lost: readonly Dropped[]): void {
  if (lost.length > 0) trace.add('selection', `${lost.length} names were dropped`, { dropped: lost.slice(0, 20) });
}

/** What the caller requires and does not see, or what does not exist: the two are not told apart. */
function unknownRequired({ view, request }: Pick<SelectionCall, 'view' | 'request'>): Dropped[] {
  return (request.require ?? []).filter((name) => !view.byName.has(name)).map((name) => ({ name, reason: 'unknown' }));
}

/** Few tools, or small ones: all are taken where planning has room for them, and the trace says so. */
function passthrough(call: SelectionCall, parts: SelectionParts): Selection | undefined {
  const { view, request, trace } = call;
  const { options, schemaTokens } = parts;
  if (view.tools.length > (request.maxTools ?? view.tools.length)) return undefined;
  const few = view.tools.length <= options.passthroughTools;
  const room = planningRoom(parts, call);
  if (!fitTogether(view.tools, few ? room : Math.min(options.passthroughTokens, room), schemaTokens)) return undefined;
  const reason = few
    ? `${view.tools.length} tools are visible: selection is skipped up to ${options.passthroughTools}`
    : 'all schemas fit the budget';
  trace.add('selection', reason);
  const names = view.tools.map((tool) => tool.name);
  const required = new Set(request.require ?? []);
  const tools = names.map((name): SelectedTool => ({ name, via: required.has(name) ? 'required' : 'all' }));
  return { mode: 'passthrough', reason, tools, dropped: unknownRequired({ view, request }), leftOut: 0 };
}

function fitTogether(tools: readonly Tool[], budget: number, schemaTokens: (tool: Tool) => number): boolean {
  let tokens = 0;
  for (const tool of tools) {
    tokens += schemaTokens(tool);
    if (tokens > budget) return false;
  }
  return true;
}

/** @param failure why, and which names of the answers could not be taken. */
function fallBack(
  call: SelectionCall,
  parts: SelectionParts,
  { reason, notTaken }: { reason: string; notTaken: readonly Dropped[] },
): Selection {
  const { view, request, trace } = call;
  const { planningLimits, schemaTokens } = parts;
  const budget = {
    schemaTokens: planningRoom(parts, call),
    tools: Math.min(planningLimits.tools, request.maxTools ?? planningLimits.tools),
  };
  const demanded = withRules([], { view, request, rules: call.rules, options: parts.options });
  const wanted = new Map(demanded.map(({ selected }) => [selected.name, selected]));
  const first = new Set(wanted.keys());
  const { tools, leftOut } = fallbackTools(view, searchText(request), { budget, schemaTokens, first });
  trace.add('fallback', `selection failed (${reason}): ${tools.length} of ${view.tools.length} tools go on`, {
    leftOut,
    reason,
  });
  const via = leftOut > 0 ? 'keyword' : 'all';
  const selected = tools.map(({ name }): SelectedTool => wanted.get(name) ?? { name, via });
  const lost = [...notTaken, ...unknownRequired({ view, request })];
  traceDropped(call, lost);
  return { mode: 'fallback', reason, tools: selected, dropped: lost, leftOut };
}
