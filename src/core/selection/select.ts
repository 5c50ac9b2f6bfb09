/** Stage one: from the view of a caller to the few tools whose schemas are loaded. Only a cancelled request fails here. */
import type { View } from '../catalog/scope.js';
import type { Tool } from '../catalog/tool.js';
import { toWinnowError } from '../errors.js';
import { createToolTokens } from '../model/count-tokens.js';
import { renderUncut } from '../planning/render-tool.js';
import { renderContext, searchText } from '../prompts/context.js';
import type { Prompts } from '../prompts/prompts.js';
import type { Dropped, SelectedTool, Selection } from '../result.js';
import { keywordSearchOf, type RankedTool } from '../search/rank.js';
import { withSpan } from '../spans.js';
import type { PlannerParts, Turn, Turns } from '../turn.js';
import { oneLine } from '../visible-text.js';
import { planningRoom, totalTokens } from './budget.js';
import {
  type Candidates,
  type Kept,
  PRIORITY,
  type SelectionCall,
  type SelectionParts,
  type Stage,
  type StageContext,
} from './candidates.js';
import { NO_TOOL } from './model-choice.js';
import { DEFAULT_STAGES, matchingRules, rules, wanted } from './stages.js';

const MAX_KEYWORD_MATCHES = 20;
/** If the schemas of all visible tools have fewer tokens, selection costs more than it saves. */
const PASSTHROUGH_TOKENS = 1500;
const MAX_TRACED_DROPS = 20;

export type SelectionStage = (turn: Turn, view: View) => Promise<Selection>;

export function createSelectionStage(
  { model, planningModel = model, stages }: PlannerParts,
  { prompts, turns: { options } }: { prompts: Prompts; turns: Turns },
): SelectionStage {
  // Planning shortens huge schemas, so the cost of a tool is that of its rendered text.
  const schemaTokens = createToolTokens(renderUncut)(planningModel);
  const { system, user } = prompts['plan-steps'].render({ tools: '', context: '', today: '', locale: '', message: '' });
  const instructionTokens = planningModel.countTokens(`${system}\n${user}`);
  const parts = {
    model,
    options,
    prompt: prompts['select-tools'],
    repair: prompts.repair,
    schemaTokens,
    stages,
    planningLimits: planningModel.limits,
    planningFrame: (request: Turn['request']) =>
      instructionTokens +
      planningModel.countTokens(`\n${renderContext(request, options)}\n${oneLine(request.message)}`),
  };
  return ({ usage, ...turn }, view) =>
    withSpan('winnow.select', { 'winnow.tools': view.tools.length }, () =>
      select(
        {
          ...turn,
          view,
          request: { ...turn.request, message: turn.asked.text },
          rules: () => matchingRules(turn.rules, turn.request),
          usage: usage.selection,
        },
        parts,
      ),
    );
}

/** @throws WinnowError `cancelled` if the caller's signal fires; every other failure ends in the fallback. */
export async function select(call: SelectionCall, parts: SelectionParts): Promise<Selection> {
  const dropped = new Map<string, Dropped>();
  const context = createContext(call, parts, dropped);
  const selection =
    passthrough(context) ??
    (await choose(context).catch((error: unknown) => fallBack(reasonOf(error, call, parts), context)));
  if (dropped.size > 0) {
    const names = [...dropped.values()];
    call.trace.add('selection', `${names.length} names were dropped`, { dropped: names.slice(0, MAX_TRACED_DROPS) });
  }
  return { ...selection, dropped: [...dropped.values()] };
}

type Outcome = Omit<Selection, 'dropped'>;

function createContext(call: SelectionCall, parts: SelectionParts, dropped: Map<string, Dropped>): StageContext {
  let found: Promise<readonly RankedTool[]> | undefined;
  return {
    call,
    parts,
    keywords() {
      found ??= keywordSearchOf(call.view).then((search) => search(searchText(call.request), MAX_KEYWORD_MATCHES));
      return found;
    },
    drop(names) {
      for (const one of names) dropped.set(`${one.reason} ${one.name}`, one);
    },
  };
}

/** Half of the time budget, so that planning has the other half. */
function selectionTimeoutMs({ options }: SelectionParts): number {
  return Math.ceil(options.timeoutMs / 2);
}

async function choose(context: StageContext): Promise<Outcome> {
  const { call, parts } = context;
  const timeout = AbortSignal.timeout(selectionTimeoutMs(parts));
  const inTime = { ...context, call: { ...call, signal: AbortSignal.any([call.signal, timeout]) } };
  const { tools, answer, leftOut } = await run(parts.stages ?? DEFAULT_STAGES, inTime);
  if (answer.none.says)
    call.trace.add('selection', 'the model found that no tool fits', { none: answer.none.probability });
  call.trace.add('selection', `${tools.length} of ${call.view.tools.length} tools are chosen`, {
    tools: tools.map(({ tool }) => tool.name),
  });
  // Tools that are always loaded are no evidence that a tool fits.
  const isNone = answer.none.says && tools.every(({ selected }) => selected.via === 'always');
  return {
    mode: isNone || tools.length === 0 ? 'none' : 'selected',
    reason: answer.reason,
    ...(answer.confidence === undefined ? {} : { confidence: answer.confidence }),
    tools: tools.map(({ selected }) => selected),
    leftOut,
  };
}

async function run(stages: readonly Stage[], context: StageContext): Promise<Candidates> {
  let candidates: Candidates = { tools: [], answer: { ...NO_TOOL, none: { says: false } }, leftOut: 0 };
  for (const stage of stages) candidates = await stage.apply(candidates, context);
  return candidates;
}

/** Takes all tools if they are few or small and planning has room. `passthroughTools: 0` never skips selection. */
function passthrough({ call, parts, drop }: StageContext): Outcome | undefined {
  const { view, request, trace } = call;
  const { passthroughTools } = parts.options;
  const count = view.tools.length;
  if (count > (request.maxTools ?? count) || (passthroughTools === 0 && count > 0)) return undefined;
  const isFew = count <= passthroughTools;
  const room = planningRoom(parts, call);
  // The loop ends as soon as the room is used up: rendering thousands of tools takes long.
  let free = isFew ? room : Math.min(PASSTHROUGH_TOKENS, room);
  for (const tool of view.tools) {
    free -= parts.schemaTokens(tool);
    if (free < 0) return undefined;
  }
  const reason = isFew
    ? `${count} tools are visible: selection is skipped up to ${passthroughTools}`
    : 'all schemas fit the budget';
  trace.add('selection', reason);
  const required = new Set(request.require ?? []);
  drop([...required].filter((name) => !view.byName.has(name)).map((name) => ({ name, reason: 'unknown' })));
  const tools = view.tools.map(({ name }): SelectedTool => ({ name, via: required.has(name) ? 'required' : 'all' }));
  return { mode: 'passthrough', reason, tools, leftOut: 0 };
}

/** @throws WinnowError `cancelled` if the caller cancelled. */
function reasonOf(error: unknown, { signal }: SelectionCall, parts: SelectionParts): string {
  const failure = toWinnowError(error);
  if (failure.code !== 'cancelled') return `${failure.code}: ${failure.message}`;
  if (signal.aborted) throw failure;
  return `model_timeout: no selection within ${selectionTimeoutMs(parts)} ms`;
}

/**
 * Takes the full visible set. If that exceeds the limits of planning, it first takes the tools that rules, caller and
 * catalogue require, then the best keyword matches.
 */
async function fallBack(reason: string, context: StageContext): Promise<Outcome> {
  const { call, parts } = context;
  const { view, request, trace } = call;
  const demanded = new Map((await run([wanted, rules], context)).tools.map(({ tool, selected }) => [tool, selected]));
  const mostTools = Math.min(parts.planningLimits.tools, request.maxTools ?? parts.planningLimits.tools);
  let free = planningRoom(parts, call);
  let tools: Tool[] = [...view.tools];
  let found: ReadonlySet<Tool> = new Set();
  if (tools.length > mostTools || totalTokens(tools, parts.schemaTokens) > free) {
    const search = await keywordSearchOf(view);
    const matches = await search(searchText(request), view.tools.length);
    found = new Set(matches.map(({ tool }) => tool));
    tools = [...new Set([...demanded.keys(), ...found, ...view.tools])]
      .filter((tool) => {
        const cost = parts.schemaTokens(tool);
        const fits = cost <= free;
        if (fits) free -= cost;
        return fits;
      })
      .slice(0, mostTools);
  }
  const leftOut = view.tools.length - tools.length;
  trace.add('fallback', `selection failed (${reason}): ${tools.length} of ${view.tools.length} tools are taken`, {
    leftOut,
    reason,
  });
  const viaOf = (tool: Tool) => (found.has(tool) ? 'keyword' : 'all');
  const selected = tools.map((tool): SelectedTool => demanded.get(tool) ?? { name: tool.name, via: viaOf(tool) });
  return { mode: 'fallback', reason, tools: selected, leftOut };
}

const WANTED: ReadonlySet<SelectedTool['via']> = new Set(['required', 'always', 'rule']);

type Asking = Pick<SelectionCall, 'request' | 'view'>;

/** Whether a further round can add a tool beside those that caller, catalogue and rules require. */
export function hasRoomForMore({ tools }: Selection, maxTools: number, asking: Asking): boolean {
  return tools.filter((tool) => isWanted(tool, asking)).length < maxTools;
}

/** Whether caller, catalogue or rules require the tool, even if `via` says that the model named it. */
function isWanted({ name, via }: SelectedTool, { request: { require = [] }, view }: Asking): boolean {
  return WANTED.has(via) || require.includes(name) || view.byName.get(name)?.alwaysLoad === true;
}

/** Removes fill and the least needed of the other tools, so that at least one place is free. */
export function keptForMore({ tools }: Selection, maxTools: number, asking: Asking): Kept {
  const chosen = tools.filter((tool) => !tool.fill);
  const priorityOf = (tool: SelectedTool) => {
    if (isWanted(tool, asking)) return tool.via === 'rule' ? PRIORITY.rule : PRIORITY.wanted;
    return tool.via === 'companion' ? PRIORITY.companion : PRIORITY.chosen;
  };
  const byPriority = [...chosen].sort((one, other) => priorityOf(one) - priorityOf(other));
  const kept = new Set(byPriority.slice(0, maxTools - 1));
  return {
    tools: tools.filter((tool) => kept.has(tool)),
    dropped: tools.filter((tool) => !kept.has(tool)).map(({ name }) => ({ name, reason: 'cap' })),
  };
}

/**
 * Takes mode, reason and confidence from the first round if it chose tools, else from the second. The reason joins those of
 * both rounds, and a fallback of either is a fallback of the whole.
 */
export function mergeRounds(first: Selection, kept: Kept, more: Selection): Selection {
  const main = kept.tools.length > 0 && first.mode !== 'none' ? first : more;
  const tools = [...kept.tools, ...more.tools];
  const isTaken = ({ name }: Dropped) => tools.some((tool) => tool.name === name);
  return {
    ...main,
    mode: [first.mode, more.mode].includes('fallback') ? 'fallback' : main.mode,
    reason: main === more ? more.reason : [first.reason, more.reason].filter(Boolean).join('; then: '),
    tools,
    dropped: [...first.dropped, ...kept.dropped, ...more.dropped].filter((one) => !isTaken(one)),
    leftOut: more.leftOut,
  };
}
