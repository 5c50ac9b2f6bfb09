/** `run`: runs an answer of the tool `plan` step by step, under the same gate as calls. */
import { z } from 'zod';
import { refusalSchema } from '../../agents/contracts.js';
import type { Router } from '../../agents/router.js';
import {
  type PlanRun,
  type PlanRunEvent,
  planRunSchema,
  runnablePlanSchema,
  stepOf,
  stepStateSchema,
} from '../../agents/runs/plan-run.js';
import type { PlanRuns } from '../../agents/runs/plan-runs.js';
import { type OwnAnswer, type OwnTool, ownTool, type ToolCall } from './own-tool.js';

const inputSchema = z.strictObject({
  plan: runnablePlanSchema.optional().describe('As the tool plan answers it; only goal and steps count.'),
  resume: z.string().min(1).max(128).optional().describe('In place of a plan: the id of a run that is to go on.'),
  dryRun: z.boolean().default(false).describe('Nothing is run: each call is shown as far as it is known.'),
});

const { status, arguments: given, output, failure, approval } = stepStateSchema.shape;
const outputSchema = z.object({
  run: z.string().describe('Its id, for `resume`.'),
  state: planRunSchema.shape.state,
  steps: z.array(z.object({ id: z.string(), tool: z.string(), status, arguments: given, output, failure, approval })),
  notes: z.array(z.string()),
  next: refusalSchema.shape.next.optional(),
});

const NEXT: Readonly<Partial<Record<PlanRun['state'], string>>> = {
  paused:
    'Tell the user what waits for an approval. When it is decided, call run with {"resume": the id of this run}, in the same session.',
  failed: 'See why the step failed, then plan again for what is left.',
  cancelled: 'Call run with {"resume": the id of this run} in the same session to go on.',
};

export function runTool(router: Router, plans: PlanRuns): OwnTool {
  return ownTool({
    name: 'run',
    title: 'Run a plan',
    description:
      'Runs the steps of a plan that plan has written, in their order, and passes results from step to step. It enables ' +
      'the tools of the plan. A step that needs an approval pauses the run; nothing that policy refuses is run.',
    input: inputSchema,
    output: outputSchema,
    opensSession: true,
    // The called tools are not known: these hints allow anything.
    hints: { readOnlyHint: false, destructiveHint: true },
    handle: async ({ plan, resume, dryRun }, call) => {
      const ask = { caller: call.caller, signal: call.signal, onEvent: reportTo(call) };
      if (resume !== undefined && plan === undefined && !dryRun)
        return toAnswer(await plans.resume(resume, { repeat: [], arguments: {} }, { ...ask, session: call.session }));
      if (plan === undefined || resume !== undefined) return { result: ONE_OF_TWO };
      const names = [...new Set(plan.steps.map(({ tool }) => tool))];
      const rejected = await findRejected(names, dryRun, call);
      if (rejected) return { result: rejected };
      const asked = { session: call.session, plan, inputs: {}, dryRun, retries: 0, replanWithOutputs: false };
      return toAnswer(await plans.run(asked, ask));
    },
  });

  /** Checks all tools first: one that can't be called would stop the run halfway. */
  async function findRejected(names: string[], isDry: boolean, { session, caller, signal }: ToolCall) {
    const ask = { caller, signal };
    // A dry run enables nothing: telemetry would count the tools as enabled and never called.
    const rejected = isDry
      ? await router.wouldReject(session, { names }, ask)
      : (await router.enable(session, { names }, ask)).rejected;
    const [first] = rejected;
    if (!first) return undefined;
    return {
      ok: false as const,
      code: first.code,
      reason: 'Nothing was run, since tools of the plan can not be enabled.',
      issues: rejected.map(({ name, reason }) => `${name}: ${reason}`),
      next: first.next,
    };
  }
}

const ONE_OF_TWO = {
  ok: false as const,
  code: 'invalid_request',
  reason: 'A new run takes `plan`, and perhaps `dryRun`; one that goes on takes `resume` alone.',
  next: 'Mend what is named and call again.',
};

function toAnswer({ id, state, plan, steps, notes }: PlanRun): OwnAnswer {
  const toolOf = new Map(plan.steps.map(({ id: step, tool }) => [step, tool]));
  const shown = Object.values(steps).map((known) => {
    const { id: step, status: now, arguments: asked, output: result, failure: why, approval: waits } = known;
    // The plan has the arguments of a step that is done.
    return {
      id: step,
      tool: toolOf.get(stepOf(step)) ?? '',
      status: now,
      ...(now === 'done' && toolOf.has(step) ? {} : { arguments: asked }),
      output: result,
      failure: why,
      approval: waits,
    };
  });
  const next = NEXT[state];
  const content = { run: id, state, steps: shown, notes, ...(next === undefined ? {} : { next }) };
  return { content, comesBack: next !== undefined };
}

function reportTo({ onProgress }: ToolCall): (event: PlanRunEvent) => void {
  return (event) => {
    if (event.type === 'step') onProgress(`${event.step.id}: ${event.step.status}`);
    else if (event.type === 'progress') onProgress(`${event.step}: ${event.message ?? event.progress}`);
  };
}
