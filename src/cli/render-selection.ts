/** The chosen tools for people: what each is here for. */

import type { Usage } from '../core/model/model.js';
import type { SelectedTool, Selection, SelectResult } from '../core/result.js';
import { oneLine } from '../core/visible-text.js';
import { colours as pc } from './colours.js';
import { printableLine } from './printable.js';

const WHY: Record<SelectedTool['via'], string> = {
  model: 'named by the model',
  rule: 'by rule',
  producer: 'provides',
  companion: 'comes with',
  always: 'always on',
  required: 'required by the caller',
  keyword: 'matches words of the request',
  all: 'all visible tools are taken',
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

/** One line of cost: tokens of both calls, what all schemas would have cost, the time. */
export function renderCost({ selection, planning, schemaTokens, milliseconds }: SelectResult['usage']): string {
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

/** Nothing of a stage that asked no model. */
function renderTokens(stage: string, { calls, read, cached, written }: Usage): string[] {
  return calls === 0 ? [] : [`${stage} ${count(read)} read, ${count(cached)} from cache, ${count(written)} written`];
}

function count(number: number): string {
  return Math.round(number).toLocaleString('en');
}
