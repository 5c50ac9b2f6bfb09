/**
 * In place of `llmToolSelectorMiddleware`: an agent with many tools is shown the few that a turn needs. They are chosen
 * once a turn, from one line a tool, and kept in the agent's state; what was not chosen does not run. A selection that
 * fails never fails the run.
 */
import { AIMessage } from '@langchain/core/messages';
import { Command } from '@langchain/langgraph';
import { createMiddleware } from 'langchain';
import { z } from 'zod';
import { toWinnowError, WinnowError } from '../../../core/errors.js';
import type { PlanRequest } from '../../../core/request.js';
import type { SelectResult } from '../../../core/result.js';
import { refusalMessage } from '../answers.js';
import { type BoundTool, isOwnTool } from '../shown-tools.js';
import { lastTurn, type Turn } from '../turn.js';
import { createSelectableSets, type SelectableSet, type SetParts } from './selectable-set.js';
import { toRequest } from './turn-request.js';

export interface ToolSelectorOptions {
  /** What `createPlanner` takes besides the catalogue, which is made of the agent's tools: model, options, prompts. */
  planner: SetParts['planner'];
  /** What kinds of requests always need. Default: none. */
  rules?: SetParts['rules'];
  /** Most tools of a turn, without those of `alwaysInclude`. Default: the option `maxTools` of the planner. */
  maxTools?: number | undefined;
  /** Names of tools that every turn has; they are not chosen from. Default: none. */
  alwaysInclude?: readonly string[] | undefined;
  /**
   * When the model calls a tool that was not chosen, it does not run, and the model is told: `refuse`, that it has to
   * do without; `enable`, that it has the tool from the next step on. Default: `refuse`.
   */
  onUnselected?: 'refuse' | 'enable' | undefined;
  /** Told of each selection, with its trace. */
  onSelection?: ((told: ToldSelection) => void) | undefined;
}

export interface ToldSelection {
  /** Names of the tools of the turn, without those of `alwaysInclude`. */
  readonly tools: readonly string[];
  /** Absent where the planner could not even be asked; then all tools are there. */
  readonly selection?: SelectResult | undefined;
  readonly failure?: WinnowError | undefined;
}

/** Private to the middleware: LangChain hands fields with an underscore neither in nor out. */
const stateSchema = z.object({
  _winnowSelection: z.object({ turn: z.string(), from: z.string(), tools: z.array(z.string()) }).optional(),
});

/**
 * For `createAgent({ model, tools, middleware: [createToolSelector({ planner: { model: await createModel({}) } })] })`.
 * A run throws, as `cause` of LangChain's MiddlewareError, WinnowError `invalid_option` where `alwaysInclude` names no
 * tool of the agent or an option of the planner is wrong, `invalid_catalog` for a tool that is not usable, `cancelled`.
 * @example
 * const middleware = [createToolSelector({ planner: { model }, alwaysInclude: ['ask_user'] })];
 */
export function createToolSelector(options: ToolSelectorOptions) {
  const { maxTools, onUnselected = 'refuse', onSelection } = options;
  const always = new Set(options.alwaysInclude);
  const setOf = createSelectableSets(options);
  const canReturn = onUnselected === 'enable';

  return createMiddleware({
    name: 'WinnowToolSelector',
    stateSchema,

    async wrapModelCall(request, handler) {
      const { selectable, included, others } = sortTools(request.tools, always);
      const turn = lastTurn(request.messages);
      const id = turn?.message.id;
      if (selectable.length === 0 || turn === undefined || id === undefined) return handler(request);
      const set = setOf(selectable);
      const kept = request.state._winnowSelection;
      const isKept = kept?.turn === id && kept.from === set.fingerprint;
      const told = isKept ? kept : await choose(set, toRequest(turn, maxTools), request.runtime.signal);
      if (!isKept) onSelection?.(told);
      const shown = new Set([...told.tools, ...(canReturn ? triedIn(turn) : [])]);
      const tools = [...shown].flatMap((name) => selectable.filter((tool) => tool.name === name));
      const response = await handler({ ...request, tools: [...tools, ...included, ...others] });
      // A structured response is no message; it ends the turn, so nothing has to be kept.
      if (isKept || !AIMessage.isInstance(response)) return response;
      return new Command({ update: { _winnowSelection: { turn: id, from: set.fingerprint, tools: told.tools } } });
    },

    async wrapToolCall(request, handler) {
      const { tool, toolCall: call, state } = request;
      const turn = lastTurn(state.messages);
      const chosen = state._winnowSelection;
      if (tool === undefined || always.has(call.name)) return handler(request);
      if (!turn || !chosen || chosen.turn !== turn.message.id) return handler(request);
      if (chosen.tools.includes(call.name)) return handler(request);
      if (canReturn && triedIn(turn).includes(call.name)) return handler(request);
      const reason = `${call.name} was not chosen for this request and did not run.`;
      const next = canReturn ? RETURNS : insteadOf([...chosen.tools, ...always]);
      return refusalMessage({ ok: false, code: NOT_SELECTED, reason, next }, call);
    },
  });
}

/** @throws WinnowError `cancelled` */
async function choose(
  { planner, names }: SelectableSet,
  request: PlanRequest,
  signal: AbortSignal | undefined,
): Promise<ToldSelection> {
  try {
    const selection = await planner.select(request, { signal });
    return { tools: selection.tools.map(({ name }) => name), selection };
  } catch (error) {
    const failure = toWinnowError(error);
    if (failure.code === 'cancelled') throw failure;
    return { tools: [...names], failure };
  }
}

const RETURNS = 'You have it from your next step on: call it again if you still need it.';

function insteadOf(names: readonly string[]): string {
  return names.length > 0 ? `Use one of the tools that you have: ${names.join(', ')}.` : 'Answer without tools.';
}

const NOT_SELECTED = 'not_selected';

/** Tools that the model called in this turn and was told to call again. */
function triedIn({ after }: Turn): string[] {
  return after.flatMap((message) => {
    const isRefusal = 'artifact' in message && Object(message.artifact).code === NOT_SELECTED;
    return isRefusal && message.name !== undefined ? [message.name] : [];
  });
}

/** @throws WinnowError `invalid_option` */
function sortTools(tools: readonly BoundTool[], always: ReadonlySet<string>) {
  const own = tools.filter(isOwnTool);
  const names = new Set(own.map(({ name }) => name));
  const missing = [...always].filter((name) => !names.has(name));
  if (missing.length > 0)
    throw new WinnowError(
      'invalid_option',
      `alwaysInclude: the agent has no tool ${missing.join(', ')}; it has ${[...names].join(', ')}.`,
    );
  return {
    selectable: own.filter(({ name }) => !always.has(name)),
    included: own.filter(({ name }) => always.has(name)),
    /** Of the provider, which runs them itself. */
    others: tools.filter((tool) => !isOwnTool(tool)),
  };
}
