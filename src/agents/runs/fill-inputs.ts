/** Puts the values of one run into the inputs of a plan. */
import { WinnowError } from '../../core/errors.js';
import { nearHint } from '../../core/nearest-name.js';
import type { ParsedPlan } from './plan-run.js';

export type GivenInputs = Readonly<Record<string, unknown>>;

/** @throws WinnowError `invalid_request` naming each input that is unknown, and each that has no value */
export function fillInputs(plan: ParsedPlan, given: GivenInputs): ParsedPlan {
  const inputs = Object.entries(plan.inputs ?? {}).map(
    ([name, input]) => [name, Object.hasOwn(given, name) ? { ...input, value: given[name] } : input] as const,
  );
  const names = inputs.map(([name]) => name);
  const unknown = Object.keys(given).filter((name) => !names.includes(name));
  const missing = inputs.filter(([, { value }]) => value === undefined);
  const issues = [
    ...unknown.map(
      (name) => `inputs: the plan has no input "${name}"; it has ${names.join(', ') || 'none'}${nearHint(name, names)}`,
    ),
    ...missing.map(
      ([name, { description }]) => `inputs: give a value for ${name}${description ? ` (${description})` : ''}`,
    ),
  ];
  if (issues.length > 0) throw new WinnowError('invalid_request', `${issues.join('; ')}.`, { issues });
  return plan.inputs ? { ...plan, inputs: Object.fromEntries(inputs) } : plan;
}
