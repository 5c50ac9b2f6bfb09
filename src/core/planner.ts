/** The path of a request, in order: scope, selection, plan, further rounds if a tool is missing, result. */
import type { View } from './catalog/scope.js';
import { toWinnowError } from './errors.js';
import { createPlanningStage, type PlanningStage } from './planning/plan.js';
import { textsIn } from './planning/references.js';
import { loadPrompts } from './prompts/prompts.js';
import type { PlanRequest } from './request.js';
import type { PlanResult, SelectResult } from './result.js';
import { createSelectionStage, hasRoomForMore, keptForMore, mergeRounds } from './selection/select.js';
import { type CallOptions, createTurns, type PlannerParts, type Turn } from './turn.js';

export type { CallOptions, PlannerParts };

export interface Planner {
  /** @throws WinnowError `invalid_request`, `plan_invalid`, `cancelled`, or an error of the planning model. */
  plan(request: PlanRequest, call?: CallOptions): Promise<PlanResult>;
  /** Stage one alone. @throws WinnowError `invalid_request`, `cancelled` */
  select(request: PlanRequest, call?: CallOptions): Promise<SelectResult>;
  /** What a caller sees of the catalogue. */
  view(request?: Pick<PlanRequest, 'user' | 'allow' | 'deny' | 'origin'>): View;
}

/**
 * @throws WinnowError `invalid_option`, `prompt_invalid`
 * @example
 * const planner = createPlanner({ catalog, model: await createModel({}) });
 * const result = await planner.plan({ message: 'Weather in Paris tomorrow' });
 */
export function createPlanner(parts: PlannerParts): Planner {
  const prompts = loadPrompts(parts.prompts);
  const turns = createTurns(parts);
  const select = createSelectionStage(parts, { prompts, turns });
  const plan = createPlanningStage(parts, { prompts, turns, select });
  return {
    view: (request = {}) => turns.viewOf(request),

    select: (input, call) =>
      turns.take(input, call, async (turn) => {
        const selectOnce = (one: Turn) => select(one, one.view);
        const selection = await inReadings(turn, selectOnce, ({ mode }) => mode !== 'none');
        return { ...selection, ...turn.reportOf(selection) };
      }),

    plan: (input, call) =>
      turns.take(input, call, async (turn) => {
        const planned = await inReadings(turn, planOnce, isServed);
        return { ...planned, ...turn.reportOf(planned.selection) };
      }),
  };

  async function planOnce(turn: Turn) {
    let selection = await select(turn, turn.view);
    for (let round = 1; ; round++) {
      const maxTools = turn.request.maxTools ?? turns.options.maxTools;
      const isRoundLeft = round < turns.options.maxRounds && hasRoomForMore(selection, maxTools, turn);
      const planned = await plan(turn, { selection, isRoundLeft });
      if (planned.kind !== 'needTools') return planned;
      turn.trace.add('planning', `a tool is missing: ${planned.needTools}`);
      const kept = keptForMore(selection, maxTools, turn);
      const more = await select(turn.lookingFor(planned.needTools, kept), turn.rest(selection));
      selection = mergeRounds(selection, kept, more);
    }
  }
}

/** A plan without a word of the text that was left out may have missed what the text asks for. */
function isServed(planned: Awaited<ReturnType<PlanningStage>>, asked: Turn['asked']): boolean {
  if (planned.kind !== 'plan') return planned.kind !== 'unplannable' && asked.isTakenBy([]);
  return asked.isTakenBy(textsIn(planned.steps.map((step) => step.arguments)).map(({ text }) => text));
}

/** Where nothing serves the message, it is read without texts that it hands over, too. If that fails, the first result stands. */
async function inReadings<T>(
  turn: Turn,
  path: (turn: Turn) => Promise<T>,
  isServed: (result: T, asked: Turn['asked']) => boolean,
): Promise<T> {
  const first = await path(turn);
  if (isServed(first, turn.asked)) return first;
  for (const asked of turn.otherwise) {
    turn.trace.add('scope', 'the message is read again', { asked: asked.text });
    try {
      const found = await path({ ...turn, asked });
      if (isServed(found, asked)) return found;
    } catch (error) {
      const { code } = toWinnowError(error);
      if (code === 'cancelled') throw error;
      turn.trace.add('scope', `that failed: ${code}`);
    }
  }
  return first;
}
