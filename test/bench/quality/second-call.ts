/**
 * What comes behind a choice of tools where a contestant has no second call of its own. On sets of tools they are bound
 * to one call of the model as a server binds them; on sets of plans Winnow's planner gets exactly these tools, so that
 * all write the same kind of plan and only the choice makes a difference.
 */
import type { Catalog } from '../../../src/core/catalog/catalog.js';
import type { Tool } from '../../../src/core/catalog/tool.js';
import type { Model } from '../../../src/core/model/model.js';
import { createPlanner, type Planner } from '../../../src/core/planner.js';
import type { Step } from '../../../src/core/result.js';
import { askPlanner, WITHOUT_TIME_LIMITS } from './ask-planner.js';
import type { Arena, Reply, Trial } from './contestant.js';
import { isWithoutCalls, MAX_CALL_TOKENS, readToolCalls, renderBoundTools, stepsOf } from './tool-calls.js';
import { userText } from './user-text.js';

/** @param tools those handed on, in their order. The reply's tools are those that were called. */
export type SecondCall = (trial: Trial, tools: readonly Tool[]) => Promise<Reply>;

export function createSecondCall({ set, model }: Arena): SecondCall {
  const call = set.judged === 'plan' ? createPlanCall(model) : createBoundCall(model);
  return async (trial, tools) =>
    tools.length === 0 ? { kind: 'answered', tools: [], steps: [], abstained: true } : call(trial, tools);
}

function createBoundCall(model: Model): SecondCall {
  const sizes = new WeakMap<readonly Tool[], number>();
  const sizeOf = (tools: readonly Tool[]): number => {
    const size = sizes.get(tools) ?? model.countTokens(bind(tools, '').system);
    sizes.set(tools, size);
    return size;
  };
  return async ({ request }, tools) => {
    const user = historyText(request.history) + userText(request);
    const tokens = sizeOf(tools) + model.countTokens(user) + MAX_CALL_TOKENS;
    if (tokens > model.limits.contextTokens) return { kind: 'does-not-fit', tokens };
    const prompt = bind(tools, user);
    const { text } = await model.complete({ stage: 'planning', prompt, maxTokens: MAX_CALL_TOKENS });
    const known = new Set(tools.map(({ name }) => name));
    const calls = readToolCalls(text).filter(({ name }) => known.has(name));
    const steps = stepsOf(calls);
    return { kind: 'answered', tools: toolsIn(steps), steps, abstained: isWithoutCalls(text) };
  };
}

function toolsIn(steps: readonly Step[]): string[] {
  return [...new Set(steps.map(({ tool }) => tool))];
}

function historyText(history: readonly { role: string; content: string }[] = []): string {
  return history.map(({ role, content }) => `${role}: ${content}\n`).join('');
}

function bind(tools: readonly Tool[], user: string) {
  return renderBoundTools(
    tools.map(({ name, description, inputSchema: parameters }) => ({ name, description, parameters })),
    user,
  );
}

function createPlanCall(model: Model): SecondCall {
  const planners = new WeakMap<Catalog, Planner>();
  return async (trial, tools) => {
    const { catalog } = trial;
    const planner =
      planners.get(catalog) ??
      createPlanner({ catalog, model, options: { ...WITHOUT_TIME_LIMITS, passthroughTools: catalog.tools.length } });
    planners.set(catalog, planner);
    const allow = tools.map(({ name }) => name);
    const reply = await askPlanner(planner, { ...trial, request: { ...trial.request, allow } });
    if (reply.kind === 'answered') return { ...reply, tools: toolsIn(reply.steps ?? []) };
    const isTooLong = reply.kind === 'unanswered' && reply.reason.startsWith('context_exceeded');
    return isTooLong ? { kind: 'does-not-fit', tokens: model.countTokens(bind(tools, '').system) } : reply;
  };
}
