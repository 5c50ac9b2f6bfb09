/** A result for people: the tools, then the plan as an indented graph with arguments and references, then the cost. */

import { oneLine } from '../core/catalog/summary.js';
import type { Plan, PlanResult, Step } from '../core/result.js';
import { colours as pc } from './colours.js';
import { renderCost, renderTools } from './render-selection.js';

export function renderPlan(result: PlanResult): string {
  return [renderTools(result.selection), renderBody(result), renderCost(result.usage)].join('\n\n');
}

function renderBody(result: PlanResult): string {
  if (result.kind === 'clarification') {
    const missing = result.missing.length > 0 ? `\n  missing: ${oneLine(result.missing.join(', '))}` : '';
    return `${pc.bold('A question back')}\n  ${oneLine(result.question)}${missing}`;
  }
  if (result.kind === 'unplannable') return `${pc.bold('No plan')}\n  ${oneLine(result.reason)}`;
  return `${pc.bold('Plan')}\n${renderSteps(result)}`;
}

/** Each step one level deeper than those it waits for. */
function renderSteps({ steps, levels, unserved, confidence }: Plan): string {
  const levelOf = new Map(levels.flatMap((ids, level) => ids.map((id) => [id, level] as const)));
  const sure = confidence === undefined ? [] : [pc.dim(`  least sure decision: ${Math.round(confidence * 100)} %`)];
  return [
    ...steps.map((step) => renderStep(step, levelOf.get(step.id) ?? 0)),
    ...unserved.map((ask) => `  ${pc.yellow('no tool does')}  ${oneLine(ask)}`),
    ...sure,
  ].join('\n');
}

function renderStep({ id, tool, arguments: values, from = {}, dependsOn }: Step, level: number): string {
  const indent = '  '.repeat(level + 1);
  const after = dependsOn.length > 0 ? pc.dim(`  after ${dependsOn.join(', ')}`) : '';
  const lines = Object.entries(values).map(([name, value]) => {
    const source = from[name] === undefined ? '' : pc.dim(`  ${from[name]}`);
    return `${indent}     ${name}: ${renderValue(value)}${source}`;
  });
  return [`${indent}${pc.cyan(id)}  ${pc.bold(tool)}${after}`, ...lines].join('\n');
}

/** A text of several lines, or with characters that a terminal obeys, is shown as JSON. */
function renderValue(value: unknown): string {
  const isPlain = typeof value === 'string' && !/\p{Cc}/u.test(value);
  const text = isPlain ? value : JSON.stringify(value).replace(/\p{Cc}/gu, ' ');
  return text.replace(/\$\{s\d+[^}]*\}/gu, (reference) => pc.cyan(reference));
}
