/**
 * In place of `llmToolSelectorMiddleware`: an agent with many tools is shown the few that a turn needs. They are chosen
 * once a turn, from one line a tool, and kept in the agent's state; what was not chosen does not run. A selection that
 * fails never fails the run.
 */
import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from '@langchain/core/messages';
import type { ClientTool } from '@langchain/core/tools';
import { Command } from '@langchain/langgraph';
import { createMiddleware } from 'langchain';
import { z } from 'zod';
import { createCatalog } from '../../../core/catalog/catalog.js';
import type { Rule } from '../../../core/catalog/rule.js';
import { toWinnowError, WinnowError } from '../../../core/errors.js';
import { createPlanner, type Planner, type PlannerParts } from '../../../core/planner.js';
import type { Message, PlanRequest } from '../../../core/request.js';
import type { SelectResult } from '../../../core/result.js';
import { callListener } from '../../../core/trace.js';
import { refusalMessage } from '../answers.js';
import { toolsFromLangChain } from '../bound-tools.js';
import { type BoundTool, isOwnTool } from '../meta-tools.js';
import { lastTurn, type Turn } from '../threads.js';

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
  /** Told of each selection, with its trace. A failure of its own stops nothing. */
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
      if (!isKept) callListener(told, onSelection, () => {});
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

// What an agent was told -> what a planner is asked: the last user message, and all before it as history.

/** The planner cuts the history to its window, and says no more of system messages: they are about the agent. */
export function toRequest({ message, before }: Turn, maxTools: number | undefined): PlanRequest {
  const request = { message: message.text, history: before.flatMap(toMessage) };
  return maxTools === undefined ? request : { ...request, maxTools };
}

function toMessage(message: BaseMessage): Message[] {
  if (HumanMessage.isInstance(message)) return [{ role: 'user', content: message.text }];
  if (ToolMessage.isInstance(message)) return [{ role: 'tool', content: message.text }];
  if (!AIMessage.isInstance(message)) return [];
  const calls = message.tool_calls?.map(({ name, args }) => `${name}(${JSON.stringify(args)})`) ?? [];
  return [{ role: 'assistant', content: [message.text, ...calls].filter(Boolean).join(' ') }];
}

// A set of bound tools as a planner sees it, made once a set: an agent hands the same objects on at each step.

export interface SelectableSet {
  readonly tools: readonly ClientTool[];
  /** Changes when a name, a description or a schema does; the same in every process. */
  readonly fingerprint: string;
  readonly names: ReadonlySet<string>;
  readonly planner: Pick<Planner, 'select'>;
}

export interface SetParts {
  readonly planner: Omit<PlannerParts, 'catalog'>;
  readonly rules?: readonly Rule[] | undefined;
}

/** Agents with other tools that share a middleware, or tools that other middleware puts in and takes out. */
const MAX_SETS = 16;

/** @returns a function that throws WinnowError `invalid_catalog` for tools that are not usable, `invalid_option` */
function createSelectableSets({ planner: parts, rules = [] }: SetParts) {
  /** The one used last stands last. */
  const known: SelectableSet[] = [];
  return (tools: readonly ClientTool[]): SelectableSet => {
    const place = known.findIndex((set) => isSame(set.tools, tools));
    const [found] = place < 0 ? [] : known.splice(place, 1);
    const set = found ?? build(tools);
    known.push(set);
    if (known.length > MAX_SETS) known.shift();
    return set;
  };

  function build(tools: readonly ClientTool[]): SelectableSet {
    const catalog = createCatalog(toolsFromLangChain(tools), { name: "the agent's tools", rules });
    const names = new Set(catalog.tools.map(({ name }) => name));
    return { tools, names, fingerprint: catalog.fingerprint, planner: createPlanner({ ...parts, catalog }) };
  }
}

function isSame(one: readonly ClientTool[], other: readonly ClientTool[]): boolean {
  return one.length === other.length && one.every((tool, place) => tool === other[place]);
}
