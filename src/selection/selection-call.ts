/** What stage one needs: of the planner, the same for every request; of the call, its own. */
import type { Rule } from '../catalog/rule.js';
import type { View } from '../catalog/scope.js';
import type { Tool } from '../catalog/tool.js';
import type { Options } from '../config/options.js';
import type { Model, ModelLimits, Usage } from '../model/model.js';
import type { PromptTemplate } from '../prompts/prompt-template.js';
import type { Request } from '../request.js';
import type { Trace } from '../trace.js';
import type { ExplainPrompt } from './explain.js';

export interface SelectionParts {
  model: Model;
  options: Options;
  rules: readonly Rule[];
  prompt: PromptTemplate<'none' | 'summaries' | 'context' | 'message'>;
  repair: PromptTemplate<'system' | 'user' | 'answer' | 'issues'>;
  explain: ExplainPrompt;
  fit: PromptTemplate<'tools' | 'context' | 'message'>;
  /** Tokens of a tool's full schema. */
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
  usage: Usage;
  trace: Trace;
  signal: AbortSignal | undefined;
  requestId?: string | undefined;
}
