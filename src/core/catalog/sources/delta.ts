/** What a reload changed. Unchanged tools stay the same objects, so that caches keyed by them hold. */
import { isDeepStrictEqual } from 'node:util';
import { toolHash } from '../catalog.js';
import type { Tool } from '../tool.js';

export interface CatalogChanges {
  /** Names, in the order of the new catalogue; `removed` in that of the old. */
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
}

/** `toolHash` covers what a model sees; risk, keywords and the like must be equal too, or a policy would work on old facts. */
export function keepUnchanged(
  tools: readonly Tool[],
  previous: readonly Tool[],
): { tools: readonly Tool[]; changes: CatalogChanges } {
  const before = new Map(previous.map((tool) => [keyOf(tool), tool]));
  const added: string[] = [];
  const changed: string[] = [];
  const kept = tools.map((tool) => {
    const old = before.get(keyOf(tool));
    if (old && toolHash(old) === toolHash(tool) && isDeepStrictEqual(old, tool)) return old;
    (old ? changed : added).push(tool.name);
    return tool;
  });
  const now = new Set(tools.map(keyOf));
  const removed = previous.filter((tool) => !now.has(keyOf(tool))).map(({ name }) => name);
  return { tools: kept, changes: { added, changed, removed } };
}

function keyOf({ scope, name }: Tool): string {
  return JSON.stringify([scope, name]);
}
