/** The cases that are not right, one after the other, for those who look for the reason. */
import type { Step } from '../../../src/core/result.js';
import type { Outcome } from './outcome.js';

/** Empty where every case is right. A case that could not be judged is none of them. */
export function renderFailures(outcomes: readonly Outcome[]): string {
  return outcomes.filter(isWrong).map(renderFailure).join('\n');
}

function isWrong({ scores }: Outcome): boolean {
  return scores.allNeeded === 0 || scores.abstention === 0 || scores.planExact === 0;
}

function renderFailure({
  set,
  contestant,
  id,
  query,
  status,
  reason = '',
  mode,
  missing,
  tools,
  plan,
}: Outcome): string {
  const lines = [
    `${set}, ${contestant}, ${id}: ${query}`,
    ...(status === 'answered' ? [] : [`  ${status}: ${reason}`]),
    ...(missing.length > 0 ? [`  missing: ${missing.join(' ')}`] : []),
    `  chosen${mode === undefined ? '' : ` (${mode})`}: ${tools.join(' ')}`,
    ...(plan?.fault === undefined ? [] : [`  fault: ${plan.fault}`]),
    ...(plan ? [`  expected: ${renderSteps(plan.expected ?? [])}`, `  got: ${renderSteps(plan.got)}`] : []),
  ];
  return lines.join('\n');
}

function renderSteps(steps: readonly Pick<Step, 'tool' | 'arguments'>[]): string {
  return steps.map((step) => `${step.tool}(${JSON.stringify(step.arguments)})`).join(' -> ');
}
