/** The types that all stages of a selection share: candidates, and the call that they belong to. */
import { missingProducers } from '../catalog/producers.js';
import type { Rule } from '../catalog/rule.js';
import type { View } from '../catalog/scope.js';
import type { Tool } from '../catalog/tool.js';
import type { CallAbout, Model, ModelLimits, Prompt, RequestFacts, Usage } from '../model/model.js';
import type { Options } from '../options.js';
import type { NamedPrompt } from '../prompts/prompts.js';
import type { Request } from '../request.js';
import type { Dropped, SelectedTool } from '../result.js';
import type { RankedTool } from '../search/rank.js';
import type { Trace } from '../trace.js';

export interface SelectionParts {
  model: Model;
  options: Options;
  prompt: NamedPrompt<'select-tools'>;
  repair: NamedPrompt<'repair'>;
  /** Tokens of a tool in the planning prompt. */
  schemaTokens: (tool: Tool) => number;
  /** Limits of the planning model, which the fallback respects. */
  planningLimits: ModelLimits;
  /** Tokens of the planning prompt without its tools. */
  planningFrame: (request: Request) => number;
  /** Default: `DEFAULT_STAGES`. A list that lacks one is an ablation. */
  stages?: readonly Stage[] | undefined;
}

export interface SelectionCall {
  view: View;
  /** With the message as it is read to find tools. */
  request: Request;
  /** Those that match the request; matched when a stage asks, since few tools need no stage. */
  rules(): readonly Rule[];
  usage: Usage;
  /** Tools of an earlier round, which share the budget. */
  earlier: readonly Tool[];
  trace: Trace;
  signal: AbortSignal;
  facts: RequestFacts;
}

export interface StageContext {
  readonly call: SelectionCall;
  readonly parts: SelectionParts;
  /** Keyword matches of the request, best first; searched at the first call. */
  keywords(): Promise<readonly RankedTool[]>;
  /** Records dropped names, each once per reason. */
  drop(names: readonly Dropped[]): void;
}

export interface SelectionPrompt {
  readonly prompt: Prompt;
  readonly about: CallAbout;
}

export interface Candidate {
  readonly tool: Tool;
  readonly selected: SelectedTool;
  /** The cap removes the highest number first; see `PRIORITY`. */
  readonly priority: number;
}

export const PRIORITY = { wanted: 0, rule: 1, chosen: 2, companion: 3, fill: 4 } as const;

export interface NamedTool {
  readonly tool: Tool;
  /** Probability that the model names it, from 0 to 1; absent if only keywords found it or the server gives none. */
  readonly probability?: number;
  readonly via: 'model' | 'keyword';
}

export interface Answer {
  /** Best first, each tool once. */
  readonly named: readonly NamedTool[];
  /** Length of the chosen prefix of `named`; the others are next best. */
  readonly chosen: number;
  /** Whether the model found that no tool fits; the rank way adds its probability. */
  readonly none: { readonly says: boolean; readonly probability?: number };
  readonly reason: string;
  /** Rank way: the probability that the first name is one of the chosen, between 0 and 1. */
  readonly confidence?: number;
}

export interface Candidates {
  /** In the order of the planning prompt. */
  readonly tools: readonly Candidate[];
  readonly answer: Answer;
  readonly leftOut: number;
}

export interface Stage {
  readonly name: string;
  apply(candidates: Candidates, context: StageContext): Candidates | Promise<Candidates>;
}

/** The part of a selection that a further round keeps. */
export interface Kept {
  readonly tools: readonly SelectedTool[];
  readonly dropped: readonly Dropped[];
}

/** How the model names tools: by the option `answer`, else by the preference of the model. */
export function answerWay({ model, options }: Pick<SelectionParts, 'model' | 'options'>): 'list' | 'rank' {
  return options.answer === 'auto' ? model.preferredAnswer : options.answer;
}

/**
 * Returns a function that lists the producers of a tool that are not `present`, in the order of use.
 *
 * @param answer its probabilities decide between producers of the same value
 */
export function missingFor({ call: { view, request } }: StageContext, answer?: Answer) {
  const probabilities = new Map(answer?.named.map(({ tool, probability = 0 }) => [tool.name, probability]));
  const context = { view, request, probabilityOf: (name: string) => probabilities.get(name) ?? 0 };
  return (tool: Tool, present: ReadonlySet<string> = new Set()) => missingProducers(tool, present, context);
}
