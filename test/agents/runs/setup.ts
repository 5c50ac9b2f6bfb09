/** Plans and scripted tools for the tests of runs. */

import type { CallResult } from '../../../src/agents/contracts.js';
import type { PlanRun, RunnablePlan } from '../../../src/agents/runs/plan-run.js';
import type { RunStep, StepCall } from '../../../src/agents/runs/run-step.js';

export type StepSpec = [id: string, tool: string, args?: Record<string, unknown>, dependsOn?: string[]];
export const planOf = (...steps: StepSpec[]): RunnablePlan => ({
  goal: 'test',
  steps: steps.map(([id, tool, args = {}, dependsOn = []]) => ({ id, tool, arguments: args, purpose: '', dependsOn })),
});
export const done = (output: unknown): CallResult => ({ ok: true, output, notes: [], milliseconds: 1 });
export const statuses = (run: PlanRun) =>
  Object.fromEntries(Object.values(run.steps).map(({ id, status }) => [id, status]));

/** Answers by the tool's name, in the order of the calls; the last answer stays. */
export function createScript(
  answers: Record<string, readonly (CallResult | ((call: StepCall) => Promise<CallResult>))[]>,
) {
  const calls: StepCall[] = [];
  const run: RunStep = async (call) => {
    const earlier = calls.filter(({ tool }) => tool === call.tool).length;
    calls.push(call);
    const list = answers[call.tool] ?? [];
    const answer = list[Math.min(earlier, list.length - 1)];
    if (answer === undefined) throw new Error(`no answer for ${call.tool}`);
    return typeof answer === 'function' ? answer(call) : answer;
  };
  const made = () => calls.map(({ step }) => step);
  return { run, calls, made };
}
