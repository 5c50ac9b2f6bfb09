/** The path of a request, in order: scope, selection, planning, one more round when a tool is missing, result. */
import type { Catalog } from './catalog/catalog.js';
import type { Rule } from './catalog/rule.js';
import { createScope, type ToolFilter, type View } from './catalog/scope.js';
import { WinnowError } from './errors.js';
import { withSpan } from './logging/spans.js';
import type { Model } from './model/model.js';
import { type OptionsInput, resolveOptions } from './options.js';
import { createFrameTokens } from './planning/frame-tokens.js';
import type { Written } from './planning/read-plan.js';
import { createShownTokens } from './planning/shown-tokens.js';
import { writePlan } from './planning/write-plan.js';
import { loadPrompts, type PromptPaths } from './prompts/prompts.js';
import type { PlanRequest, Request } from './request.js';
import type { PlanResult, Selection, SelectResult } from './result.js';
import { askBack } from './selection/ask-back.js';
import { createSchemaTokens, createViewTokens, totalTokens } from './selection/budget.js';
import { calledTools, dueTools } from './selection/due.js';
import { likelyTools } from './selection/likely.js';
import { mustRefer } from './selection/must-refer.js';
import { hasRoomForMore, keptForMore, mergeRounds } from './selection/rounds.js';
import { select } from './selection/select.js';
import type { Stage } from './selection/candidates.js';
import { renderContext } from './selection/user-part.js';
import { type CallOptions, type Turn, takeTurn, toolsOf } from './turn.js';

export type { CallOptions };

export interface PlannerParts {
  catalog: Catalog;
  model: Model;
  /** For planning; without it `model` does both. */
  planningModel?: Model | undefined;
  options?: OptionsInput | undefined;
  /** Files in place of those in `prompts/`. */
  prompts?: PromptPaths | undefined;
  /** Takes tools away from a caller's view, for example by policy. */
  filter?: ToolFilter | undefined;
  /** For measuring: stages of selection in place of `DEFAULT_STAGES`. */
  stages?: readonly Stage[] | undefined;
  /** Asked at each request, so they may change while all that is kept of the tools stays. Default: those of the catalogue. */
  rules?: (() => readonly Rule[]) | undefined;
}

export interface Planner {
  /** @throws WinnowError `invalid_request`, `plan_invalid`, `cancelled`, or an error of the planning model. */
  plan(request: PlanRequest, call?: CallOptions): Promise<PlanResult>;
  /** Stage one alone. @throws WinnowError `invalid_request`, `cancelled` */
  select(request: PlanRequest, call?: CallOptions): Promise<SelectResult>;
  /** What a caller sees of the catalogue. */
  view(request?: Pick<PlanRequest, 'user' | 'allow' | 'deny' | 'origin'>): View;
}

/** @throws WinnowError `invalid_option`, `prompt_invalid` */
export function createPlanner(parts: PlannerParts): Planner {
  const { catalog, model, planningModel = model, rules = () => catalog.rules } = parts;
  const options = resolveOptions(parts.options);
  const prompts = loadPrompts(parts.prompts);
  const viewOf = createScope(catalog, parts.filter);
  const schemaTokens = createSchemaTokens(planningModel);
  const shownTokens = createShownTokens(planningModel);
  const frameTokens = createFrameTokens(planningModel, prompts.plan);
  const turns = { viewOf, rules, options, schemaTokens, viewTokens: createViewTokens(schemaTokens) };
  const selectionParts = {
    model,
    options,
    prompt: prompts.select,
    repair: prompts.repair,
    schemaTokens: shownTokens,
    stages: parts.stages,
    planningLimits: planningModel.limits,
    planningFrame: (request: Request) =>
      frameTokens({ context: renderContext(request, options), message: request.message }),
  };

  return {
    view: (request = {}) => viewOf(request),

    select: (input, call) =>
      takeTurn(turns, { input, call }, async (turn): Promise<SelectResult> => {
        const selection = await turn.inTime(selectTools(turn, turn.view));
        return { ...selection, ...turn.told(selection) };
      }),

    plan: (input, call) =>
      takeTurn(turns, { input, call }, async (turn): Promise<PlanResult> => {
        let view = turn.view;
        let selection = await turn.inTime(selectTools(turn, view));
        if (view.tools.length === 0) {
          const reason = 'There are no tools: the catalogue is empty, or all of it is hidden from this request.';
          return { kind: 'unplannable', reason, selection, ...turn.told(selection) };
        }
        if (selection.confidence !== undefined && selection.confidence < options.clarifyBelow) {
          turn.trace.add(
            'selection',
            `confidence ${selection.confidence} is below ${options.clarifyBelow}: asked back`,
          );
          const question = askBack(turn.request, selection, view);
          return { kind: 'clarification', question, missing: [], selection, ...turn.told(selection) };
        }
        for (let round = 1; ; round++) {
          const chosen = selection;
          const maxTools = turn.request.maxTools ?? options.maxTools;
          const write = () => writeSteps(turn, chosen, round < options.maxRounds && hasRoomForMore(chosen, maxTools));
          const written = await turn.inTime(withSpan('winnow.plan', { 'winnow.round': round }, write));
          if (written.kind !== 'needTools') return { ...written, selection, ...turn.told(selection) };
          turn.trace.add('planning', `a tool is missing: ${written.needTools}`);
          view = turn.rest(selection);
          const kept = keptForMore(selection, maxTools);
          const request = withNeed({ ...turn.request, maxTools: maxTools - kept.tools.length }, written.needTools);
          const taken = totalTokens(toolsOf(kept.tools, turn.view), selectionParts.schemaTokens);
          const more = await turn.inTime(selectTools({ ...turn, request, taken }, view));
          selection = mergeRounds(selection, kept, more);
        }
      }),
  };

  function selectTools({ usage, ...turn }: Turn & { taken?: number }, view: View) {
    const { request, rules, trace, signal, facts, taken } = turn;
    const call = { view, request, rules, usage: usage.selection, trace, signal, facts, taken };
    return withSpan('winnow.select', { 'winnow.tools': view.tools.length }, () => select(call, selectionParts));
  }

  async function writeSteps(turn: Turn, selection: Selection, isRoundLeft: boolean): Promise<Written> {
    const tools = toolsOf(selection.tools, turn.view);
    // Where the model saw all and found that none fits, a second look would only make it take one.
    const areMoreLeft = selection.mode === 'none' ? selection.leftOut > 0 : turn.view.tools.length > tools.length;
    const canNeedTools = isRoundLeft && areMoreLeft;
    turn.trace.add('planning', `${tools.length} schemas are loaded`, { tools: tools.map((tool) => tool.name) });
    const offer = { view: turn.view, selection, request: turn.request };
    const answer = await writePlan(tools, {
      model: planningModel,
      prompt: prompts.plan,
      repair: prompts.repair,
      request: turn.request,
      context: renderContext(turn.request, options),
      further: new Set(selection.tools.filter((tool) => tool.fill).map((tool) => tool.name)),
      likely: likelyTools(offer),
      due: dueTools(offer),
      called: () => calledTools(offer),
      awaited: mustRefer(turn.view, selection, turn.request),
      canNeedTools,
      defaults: options.defaults,
      maxTokens: options.planTokens,
      usage: turn.usage.planning,
      facts: turn.facts,
      signal: turn.signal,
      onRepair: (issues) => turn.trace.add('planning', 'the plan is repaired', { issues }),
      onDoubt: (issues) => turn.trace.add('planning', 'the plan is doubted, and asked for once more', { issues }),
      onLeftOut: (tools) =>
        turn.trace.add('planning', 'steps are left out that run on an identifier which nobody gave', { tools }),
      onRepeats: (tools) =>
        turn.trace.add('planning', 'last steps that say again what the one before says are left out', { tools }),
    });
    // Where the server does not decode under the schema, a model may ask for tools when there is no further round.
    if (answer.ok && answer.doubts?.length)
      turn.trace.add('planning', 'what is doubted in the plan stays', { issues: answer.doubts });
    if (answer.ok && answer.value.kind === 'needTools' && !canNeedTools)
      return { kind: 'unplannable', reason: `A tool is missing: ${answer.value.needTools}` };
    if (answer.ok) return answer.value;
    const details = { usage: turn.usage, tools: tools.map((tool) => tool.name), selection };
    throw new WinnowError('plan_invalid', 'The model wrote no valid plan, also after the repair.', {
      issues: answer.issues,
      details,
    });
  }
}

/** The second round looks for what is missing, with the request as its context. */
function withNeed({ require: _, ...request }: Request, need: string): Request {
  return { ...request, message: `${request.message} (${need})` };
}
