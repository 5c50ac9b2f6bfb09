/** The chosen tools for people: what each is here for. */
import { oneLine } from '../catalog/summary.js';
import type { SelectedTool, Selection, SelectResult } from '../result.js';
import { colours as pc } from './colours.js';

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

export function renderTools({ tools, mode, reason, dropped, leftOut }: Selection): string {
  const width = Math.max(0, ...tools.map((tool) => tool.name.length));
  const lines = tools.map((tool) => `  ${tool.name.padEnd(width)}  ${pc.dim(renderWhy(tool))}`);
  const head = mode === 'selected' ? 'Tools' : `Tools (${mode}: ${oneLine(reason)})`;
  return [
    pc.bold(head),
    ...lines,
    ...(tools.length === 0 ? ['  none'] : []),
    ...(leftOut > 0 ? [pc.dim(`  ${leftOut} more did not fit`)] : []),
    ...dropped
      .filter((one) => one.reason === 'unknown')
      .map((one) =>
        pc.dim(`  dropped: ${one.name} does not exist${one.suggestion ? ` (near: ${one.suggestion})` : ''}`),
      ),
  ].join('\n');
}

export function renderSelection(result: SelectResult): string {
  return [renderTools(result), renderCost(result.usage)].join('\n\n');
}

function renderWhy({ via, serves, rank, probability, fill }: SelectedTool): string {
  const chance = probability === undefined ? '' : `, ${(probability * 100).toFixed(probability < 0.1 ? 1 : 0)} %`;
  return `${fill ? 'fills the room: ' : ''}${WHY[via]}${serves ? ` ${serves}` : ''}${rank === undefined ? '' : ` (${rank}.${chance})`}`;
}

/** One line of cost: tokens of both calls, what all schemas would have cost, the time. */
export function renderCost({ selection, planning, schemaTokens, milliseconds }: SelectResult['usage']): string {
  const read = selection.read + planning.read;
  const cached = selection.cached + planning.cached;
  const written = selection.written + planning.written;
  const saved = schemaTokens.all > 0 ? Math.round((1 - schemaTokens.loaded / schemaTokens.all) * 100) : 0;
  return pc.dim(
    `${read} tokens read, ${cached} from cache, ${written} written; schemas ${schemaTokens.loaded} of ${schemaTokens.all} tokens (${saved} % less); ${(milliseconds / 1000).toFixed(1)} s`,
  );
}
