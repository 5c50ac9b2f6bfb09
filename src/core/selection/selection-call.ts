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
  /** Tokens that a tool takes in the planning prompt: all that is shown of it, and at least its schema as JSON. */
  schemaTokens: (tool: Tool) => number;
  /** Of all tools of a view. */
  allTokens: (view: View) => number;
  /** Of the model that is shown the schemas: the fallback heeds them. */
  planningLimits: ModelLimits;
  /** Tokens of the planning prompt beside the tools. */
  planningFrame: (request: Request) => number;
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
