/** A result for people: the tools, then the plan as an indented graph with arguments and references, then the cost. */
import { isMarked, renderSource, sourcesOf } from '../agents/argument-sources.js';
import type { Approval } from '../agents/records.js';
import type { Usage } from '../core/model/model.js';
import type { ArgumentSource, Plan, PlanResult, SelectedTool, Selection, SelectResult, Step } from '../core/result.js';
import { oneLine } from '../core/visible-text.js';
import { colours as pc, printableLine } from './output.js';

export function renderPlan(result: PlanResult): string {
  return [renderTools(result.selection), renderBody(result), renderCost(result.usage)].join('\n\n');
}

function renderBody(result: PlanResult): string {
  if (result.kind === 'clarification') {
    const missing =
      result.missing.length > 0 ? `\n  missing: ${printableLine(oneLine(result.missing.join(', ')))}` : '';
    const question = `${pc.bold('A question back')}\n  ${printableLine(oneLine(result.question))}${missing}`;
    return [question, ...renderUnserved(result)].join('\n');
  }
  if (result.kind === 'unplannable') return `${pc.bold('No plan')}\n  ${printableLine(oneLine(result.reason))}`;
  return `${pc.bold('Plan')}\n${renderSteps(result)}`;
}

/** Each step one level deeper than those it waits for. */
function renderSteps({ steps, levels, unserved, confidence }: Plan): string {
  const levelOf = new Map(levels.flatMap((ids, level) => ids.map((id) => [id, level] as const)));
  const sure = confidence === undefined ? [] : [pc.dim(`  least sure decision: ${Math.round(confidence * 100)} %`)];
  return [
    ...steps.map((step) => renderStep(step, levelOf.get(step.id) ?? 0)),
    ...renderUnserved({ unserved }),
    ...sure,
  ].join('\n');
}

function renderUnserved({ unserved }: Pick<Plan, 'unserved'>): string[] {
  return unserved.map((ask) => `  ${pc.yellow('no tool does')}  ${printableLine(oneLine(ask))}`);
}

function renderStep(step: Step, level: number): string {
  const { id, tool, arguments: values, dependsOn } = step;
  const sources = new Map(Object.entries(sourcesOf(step) ?? {}));
  const indent = '  '.repeat(level + 1);
  const after = dependsOn.length > 0 ? pc.dim(`  after ${dependsOn.join(', ')}`) : '';
  const lines = Object.entries(values).map(([name, value]) => {
    const source = sources.get(name);
    // The value already shows the references.
    return `${indent}     ${printableLine(name)}: ${renderValue(value)}${source ? showSource({ source: source.source }) : ''}`;
  });
  return [`${indent}${pc.cyan(id)}  ${pc.bold(printableLine(tool))}${after}`, ...lines].join('\n');
}

/**
 * A call for approval, a line for each argument with its source. Values are JSON, so that 5 differs from "5", without
 * invisible characters.
 */
export function renderArguments({ arguments: given, sources = {} }: Pick<Approval, 'arguments' | 'sources'>): string[] {
  const sourceOf = new Map(Object.entries(sources));
  return Object.entries(Object(given)).map(([name, value]) => {
    const source = sourceOf.get(name);
    const shown = printableLine(`  ${name}: ${JSON.stringify(value)}`);
    return `${shown}${source ? showSource(source) : ''}`;
  });
}

function showSource(source: ArgumentSource): string {
  return `  ${(isMarked(source) ? pc.yellow : pc.dim)(printableLine(renderSource(source)))}`;
}

/** Shows a text with line breaks or control characters as JSON. */
function renderValue(value: unknown): string {
  const isPlain = typeof value === 'string' && !/\p{Cc}/u.test(value);
  const text = printableLine(isPlain ? value : JSON.stringify(value));
  return text.replace(/\$\{s\d+[^}]*\}/gu, (reference) => pc.cyan(reference));
}

const WHY: Record<SelectedTool['via'], string> = {
  model: 'named by the model',
  rule: 'by rule',
  producer: 'provides',
  companion: 'comes with',
  always: 'always on',
  required: 'required by the caller',
  keyword: 'matches words of the request',
  all: 'visible, and there is room',
};

const MODES: Record<Selection['mode'], string> = {
  selected: 'chosen',
  passthrough: 'all of them',
  fallback: 'no choice was possible',
  none: 'none fits',
};

export function renderTools({ tools, mode, reason, dropped, leftOut }: Selection): string {
  const width = Math.max(0, ...tools.map((tool) => tool.name.length));
  const lines = tools.map(
    (tool) => `  ${printableLine(tool.name).padEnd(width)}  ${pc.dim(printableLine(renderWhy(tool)))}`,
  );
  const short = dropped.flatMap((one) => (one.reason === 'cap' || one.reason === 'schemaTokens' ? [one.name] : []));
  const head = mode === 'selected' ? 'Tools' : `Tools (${MODES[mode]}: ${printableLine(oneLine(reason))})`;
  return [
    pc.bold(head),
    ...lines,
    ...(tools.length === 0 ? ['  none'] : []),
    ...(leftOut > 0 ? [pc.dim(`  ${leftOut} more did not fit`)] : []),
    ...(short.length > 0 ? [pc.dim(`  left out for want of room: ${printableLine(short.join(', '))}`)] : []),
    ...dropped
      .filter((one) => one.reason === 'unknown')
      .map((one) =>
        pc.dim(
          printableLine(`  dropped: ${one.name} does not exist${one.suggestion ? ` (near: ${one.suggestion})` : ''}`),
        ),
      ),
  ].join('\n');
}

export function renderSelection(result: SelectResult): string {
  return [renderTools(result), renderCost(result.usage)].join('\n\n');
}

function renderWhy({ via, serves, rank, probability, fill }: SelectedTool): string {
  const chance = probability === undefined ? '' : `, ${(probability * 100).toFixed(probability < 0.1 ? 1 : 0)} %`;
  return `${fill ? 'also offered: ' : ''}${WHY[via]}${serves ? ` ${serves}` : ''}${rank === undefined ? '' : ` (${rank}.${chance})`}`;
}

/** One line of cost: tokens of both stages, tokens of all schemas, time. */
function renderCost({ selection, planning, schemaTokens, milliseconds }: SelectResult['usage']): string {
  const calls = [...renderTokens('selection', selection), ...renderTokens('planning', planning)];
  const saved = schemaTokens.all > 0 ? Math.round((1 - schemaTokens.loaded / schemaTokens.all) * 100) : 0;
  return pc.dim(
    [
      `tokens: ${calls.join('; ') || 'no call'}`,
      `schemas ${count(schemaTokens.loaded)}, all would be ${count(schemaTokens.all)} (${saved} % less)`,
      `${count(milliseconds)} ms`,
    ].join('; '),
  );
}

/** Empty for a stage without model calls. */
function renderTokens(stage: string, { calls, read, cached, written }: Usage): string[] {
  return calls === 0 ? [] : [`${stage} ${count(read)} read, ${count(cached)} from cache, ${count(written)} written`];
}

function count(number: number): string {
  return Math.round(number).toLocaleString('en');
}
