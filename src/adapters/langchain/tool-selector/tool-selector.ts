/**
 * Replaces `llmToolSelectorMiddleware`: shows an agent with many tools only those that a turn needs. It chooses them once
 * per turn, from one line per tool, and keeps them in the agent's state. Other tools do not run. A failed selection never
 * fails the run.
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
  /** The parts of `createPlanner` (model, options, prompts) except the catalogue, which is made of the agent's tools. */
  planner: SetParts['planner'];
  /** Tools that kinds of requests always need. Default: none. */
  rules?: SetParts['rules'];
  /** Most tools of a turn, not counting `alwaysInclude`. Default: the option `maxTools` of the planner. */
  maxTools?: number | undefined;
  /** Names of tools that every turn has; they take no part in the selection. Default: none. */
  alwaysInclude?: readonly string[] | undefined;
  /**
   * A call of a tool that was not chosen does not run. The answer to the model says: `refuse`, to use another tool;
   * `enable`, that it has the tool from the next step on. Default: `refuse`.
   */
  onUnselected?: 'refuse' | 'enable' | undefined;
  /** Called with each selection and its trace. Its own failures are ignored. */
  onSelection?: ((selection: ToldSelection) => void) | undefined;
}

export interface ToldSelection {
  /** Names of the turn's tools, without those of `alwaysInclude`. */
  readonly tools: readonly string[];
  /** Absent if the planner refused the request; `tools` then has all. */
  readonly selection?: SelectResult | undefined;
  readonly failure?: WinnowError | undefined;
}

/** Private to the middleware: LangChain keeps fields with an underscore out of inputs and outputs. */
const stateSchema = z.object({
  _winnowSelection: z.object({ turn: z.string(), from: z.string(), tools: z.array(z.string()) }).optional(),
});

/**
 * For `createAgent({ model, tools, middleware: [createToolSelector({ planner: { model: await createModel({}) } })] })`.
 * A run throws, as `cause` of LangChain's MiddlewareError, WinnowError `invalid_option` if `alwaysInclude` names no tool of
 * the agent or an option of the planner is wrong, `invalid_catalog` for an unusable tool, `cancelled`.
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
      const chosen = isKept ? kept : await choose(set, toRequest(turn, maxTools), request.runtime.signal);
      if (!isKept) callListener(chosen, onSelection, () => {});
      const shown = new Set([...chosen.tools, ...(canReturn ? triedIn(turn) : [])]);
      const tools = [...shown].flatMap((name) => selectable.filter((tool) => tool.name === name));
      const response = await handler({ ...request, tools: [...tools, ...included, ...others] });
      // A structured response is no message; it ends the turn, so the selection need not be kept.
      if (isKept || !AIMessage.isInstance(response)) return response;
      return new Command({ update: { _winnowSelection: { turn: id, from: set.fingerprint, tools: chosen.tools } } });
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

/** Tools that the model called in this turn without having them. */
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
    /** Tools of the provider, which runs them itself. */
    others: tools.filter((tool) => !isOwnTool(tool)),
  };
}

/** The last user message, with all before it as history but system messages, which are about the agent. */
function toRequest({ message, before }: Turn, maxTools: number | undefined): PlanRequest {
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

/** Bound tools with their planner, built once per set: an agent passes the same objects at each step. */
interface SelectableSet {
  readonly tools: readonly ClientTool[];
  /** Changes with any name, description or schema; the same in every process. */
  readonly fingerprint: string;
  readonly names: ReadonlySet<string>;
  readonly planner: Pick<Planner, 'select'>;
}

export interface SetParts {
  readonly planner: Omit<PlannerParts, 'catalog'>;
  readonly rules?: readonly Rule[] | undefined;
}

/** Several sets occur if agents share a middleware, or if other middleware adds and removes tools. */
const MAX_SETS = 16;

/** @returns a function that throws WinnowError `invalid_catalog` for unusable tools, `invalid_option` */
function createSelectableSets({ planner: parts, rules = [] }: SetParts) {
  /** Least recently used first. */
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
