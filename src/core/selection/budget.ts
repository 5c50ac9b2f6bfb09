/** Token budgets: the cost of a tool, and the room for tools in a context beside the request and the answer. */
import type { View } from '../catalog/scope.js';
import type { Tool } from '../catalog/tool.js';
import { oncePer } from '../kept.js';
import { createToolTokens } from '../model/count-tokens.js';
import { renderContext } from '../prompts/context.js';
import { answerWay, type SelectionCall, type SelectionParts } from './candidates.js';

const TOOLS_SHARE = 0.6;
const ANSWER_SHARE = 0.25;
const RANK_TOKENS = 64;
/** An upper bound for a name, which also keeps a runaway list short. */
const TOKENS_PER_NAME = 40;
const REASON_TOKENS = 120;

/** Tokens of a tool as a model server gets it: name, description and input schema as JSON. */
export const createSchemaTokens = createToolTokens(({ name, description, inputSchema: parameters }) =>
  JSON.stringify({ name, description, parameters }),
);

export function totalTokens(tools: readonly Tool[], tokensOf: (tool: Tool) => number): number {
  return tools.reduce((sum, tool) => sum + tokensOf(tool), 0);
}

export function createViewTokens(tokensOf: (tool: Tool) => number): (view: View) => number {
  return oncePer((view: View) => totalTokens(view.tools, tokensOf));
}

type RoomCall = Pick<SelectionCall, 'request' | 'earlier'>;
type PlanningParts = Pick<SelectionParts, 'planningLimits' | 'planningFrame' | 'options' | 'schemaTokens'>;

/** Tokens for tools that fit the planning prompt, beside the tools of an earlier round. */
export function planningRoom(parts: PlanningParts, { request, earlier }: RoomCall): number {
  const { contextTokens } = parts.planningLimits;
  const around = parts.planningFrame(request) + answerShare(contextTokens, parts.options.planTokens);
  const room = Math.floor(Math.min(contextTokens * TOOLS_SHARE, contextTokens - around));
  return Math.max(0, room - totalTokens(earlier, parts.schemaTokens));
}

/** The option `schemaTokens` minus the tools of an earlier round, and at most the room in the planning prompt. */
export function schemaBudget(parts: PlanningParts, call: RoomCall): number {
  const left = parts.options.schemaTokens - totalTokens(call.earlier, parts.schemaTokens);
  return Math.max(0, Math.min(left, planningRoom(parts, call)));
}

/**
 * The option `summaryTokens`, and at most the room in the context of the selecting model. The room is rounded to tenths of
 * the context, so that requests of similar length see the same summaries.
 */
export function summaryBudget(parts: SelectionParts, { request }: Pick<SelectionCall, 'request'>): number {
  const { model, options, prompt } = parts;
  const { contextTokens } = model.limits;
  const said = { context: renderContext(request, options), message: request.message };
  const { system, user } = prompt.render({ none: '', summaries: '', ...said });
  const longest = answerWay(parts) === 'rank' ? RANK_TOKENS : answerTokens(request.maxTools ?? options.maxTools);
  const around = model.countTokens(system) + model.countTokens(user) + answerShare(contextTokens, longest);
  const tenths = Math.floor((10 * (contextTokens - around)) / contextTokens);
  const room = Math.floor((contextTokens * Math.max(1, Math.min(10 * TOOLS_SHARE, tenths))) / 10);
  return Math.min(options.summaryTokens, room);
}

export function answerTokens(maxTools: number): number {
  return maxTools * TOKENS_PER_NAME + REASON_TOKENS;
}

function answerShare(contextTokens: number, longest: number): number {
  return Math.min(longest, contextTokens * ANSWER_SHARE);
}
