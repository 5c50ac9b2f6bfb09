/** What stage one needs: of the planner, the same for every request; of the call, its own. */
import type { Rule } from '../catalog/rule.js';
import type { View } from '../catalog/scope.js';
import type { Tool } from '../catalog/tool.js';
import type { Options } from '../config/options.js';
import type { Model, ModelLimits, RequestFacts, Usage } from '../model/model.js';
import type { PromptTemplate } from '../prompts/prompt-template.js';
import type { Request } from '../request.js';
import type { Trace } from '../trace.js';
import type { ExplainPrompt } from './explain.js';

export interface SelectionParts {
  model: Model;
  options: Options;
  prompt: PromptTemplate<'none' | 'summaries' | 'context' | 'message'>;
  repair: PromptTemplate<'system' | 'user' | 'answer' | 'issues'>;
  explain: ExplainPrompt;
  fit: PromptTemplate<'tools' | 'context' | 'message'>;
  /** Tokens that a tool takes in the planning prompt: all that is shown of it, and at least its schema as JSON. */
  schemaTokens: (tool: Tool) => number;
  /** Of the model that is shown the schemas: the fallback heeds them. */
  planningLimits: ModelLimits;
}

/** How the model names tools: as the caller says, or as it suits the model. */
export function answerWay({ model, options }: Pick<SelectionParts, 'model' | 'options'>): 'list' | 'rank' {
  return options.answer === 'auto' ? model.preferredAnswer : options.answer;
}

export interface SelectionCall {
  view: View;
  request: Request;
  /** Those in force when the request came. */
  rules: readonly Rule[];
  usage: Usage;
  /** Tokens of the tools that an earlier round chose: they stay, and the budget is for all together. Default: 0. */
  taken?: number | undefined;
  trace: Trace;
  signal: AbortSignal | undefined;
  /** For the call log. */
  facts: RequestFacts;
}

/** Of the context of the planning model; the rest is for the request, the answer and a repair. */
const CONTEXT_SHARE = 0.6;

/** Tokens of schemas that the planning model can be shown. */
export function planningRoom({ planningLimits }: Pick<SelectionParts, 'planningLimits'>, { taken = 0 }: SelectionCall) {
  return Math.max(0, Math.floor(planningLimits.contextTokens * CONTEXT_SHARE) - taken);
}

/** The budget of the options, less what an earlier round took, and no more than there is room for. */
export function schemaBudget(parts: Pick<SelectionParts, 'planningLimits' | 'options'>, call: SelectionCall): number {
  return Math.max(0, Math.min(parts.options.schemaTokens - (call.taken ?? 0), planningRoom(parts, call)));
}
