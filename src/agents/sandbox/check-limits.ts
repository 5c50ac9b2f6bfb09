/** What of the limits is without effect on a catalogue, in words: a slip in a name leaves a tool with the limits of all. */
import type { Tool } from '../../core/catalog/tool.js';
import { nearHint } from '../../core/nearest-name.js';
import type { SandboxLimits } from './limits.js';

/** Only names of the system's tools are suggested: who writes limits need not know what users call theirs. */
export function checkLimits({ named }: Pick<SandboxLimits, 'named'>, tools: readonly Tool[]): string[] {
  const known = new Set(tools.map(({ name }) => name));
  const suggested = tools.filter(({ scope }) => scope === 'system').map(({ name }) => name);
  return named
    .filter((name) => !known.has(name))
    .map((name) => `sandbox.tools: there is no tool "${name}"${nearHint(name, suggested)}`);
}
