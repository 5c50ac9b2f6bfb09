/** The cap on tools and on schema tokens. What it takes away is recorded. */
import type { Tool } from '../catalog/tool.js';
import type { Options } from '../config/options.js';
import type { Request } from '../request.js';
import type { Dropped } from '../result.js';
import type { Entry } from './entry.js';

interface Cap {
  request: Pick<Request, 'maxTools'>;
  options: Pick<Options, 'maxTools' | 'schemaTokens'>;
  /** Tokens of a tool's schema in the planning prompt. */
  schemaTokens: (tool: Tool) => number;
}

/** The least needed goes first; the order stays. */
export function applyCap(
  entries: readonly Entry[],
  { request, options, schemaTokens }: Cap,
): { kept: Entry[]; dropped: Dropped[] } {
  const maxTools = request.maxTools ?? options.maxTools;
  const byPriority = [...entries].sort((a, b) => a.priority - b.priority);
  const dropped: Dropped[] = [];
  const kept = new Set<Entry>();
  let tokens = 0;
  for (const entry of byPriority) {
    const cost = schemaTokens(entry.tool);
    if (kept.size >= maxTools) dropped.push({ name: entry.tool.name, reason: 'cap' });
    else if (kept.size > 0 && tokens + cost > options.schemaTokens)
      dropped.push({ name: entry.tool.name, reason: 'schemaTokens' });
    else {
      kept.add(entry);
      tokens += cost;
    }
  }
  return { kept: entries.filter((entry) => kept.has(entry)), dropped };
}
