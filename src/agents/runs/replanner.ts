/**
 * The planner as the `replan` of a run: the same request, with what was planned, done and failed as the last messages
 * of the history, as JSON. Tool outputs are left out by default: untrusted text must not choose the tools that run
 * next.
 */
import type { PlanRequest } from '../../core/request.js';
import type { PlanResult } from '../../core/result.js';
import { capOutput } from '../sandbox/cap-output.js';
import { type PlanRun, type RunnablePlan, type StepState, stepOf } from './plan-run.js';

/** `plan` of a planner. */
type PlanAgain = (request: PlanRequest, call: { signal?: AbortSignal }) => Promise<PlanResult>;

/** Limit of a result in the history, in bytes of JSON, since the history is a bounded window. */
const MAX_OUTPUT_BYTES = 500;

interface ReplanOptions {
  signal?: AbortSignal;
  /** Whether the prompt holds shortened outputs and error messages of tools. Default: false. */
  withOutputs?: boolean;
}

/**
 * For `replan` of a run: asks the planner once more, with the failure in the history.
 * Undefined where the planner finds no other plan.
 * @example
 * const replan = createReplanner(planner.plan, { message: 'Delete old.txt' });
 */
export function createReplanner(
  plan: PlanAgain,
  request: PlanRequest,
  { withOutputs = false, ...call }: ReplanOptions = {},
): (soFar: PlanRun, failed: StepState) => Promise<RunnablePlan | undefined> {
  return async (soFar, failed) => {
    const history = [
      ...(request.history ?? []),
      { role: 'user' as const, content: request.message },
      {
        role: 'assistant' as const,
        content: JSON.stringify({ steps: soFar.plan.steps.map(({ from: _, ...step }) => step) }),
      },
      { role: 'tool' as const, content: JSON.stringify(factsOf(soFar, failed, withOutputs)) },
    ];
    const result = await plan({ ...request, history }, call);
    return result.kind === 'plan' ? result : undefined;
  };
}

function factsOf({ plan, steps }: PlanRun, failed: StepState, withOutputs: boolean) {
  const toolOf = new Map(plan.steps.map(({ id, tool }) => [id, tool]));
  // A loop is represented by its items.
  const done = Object.values(steps).filter((step) => step.status === 'done' && step.arguments !== undefined);
  return {
    done: done.map(({ id, arguments: input, output }) => ({
      tool: toolOf.get(stepOf(id)),
      arguments: input,
      ...(withOutputs ? { output: cut(output) } : {}),
    })),
    failed: {
      tool: toolOf.get(stepOf(failed.id)),
      arguments: failed.arguments,
      error: withOutputs ? failed.failure : failed.failure?.code,
    },
  };
}

function cut(value: unknown): unknown {
  return capOutput({ value, text: JSON.stringify(value) ?? 'null' }, MAX_OUTPUT_BYTES).value;
}
