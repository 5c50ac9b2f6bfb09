/** Items of a list, looked at one by one: a request also names those that it wants left out. */
import type { Tool } from '../../catalog/tool.js';
import { readYes } from './json-writer.js';
import type { Read } from './read.js';

/**
 * An item stays from this probability of "yes" on. On looked-at requests with exclusions it leaves out 4 of 4 addresses that
 * were to be spared, and none of 7 that were meant (`test/bench/plans.mjs --set exclusions --half learn`).
 */
const WANTED = 0.45;

/** The arguments without the items that the request leaves out; a list keeps its surest item at least. */
export async function withWantedItems(
  tool: Tool,
  values: Readonly<Record<string, unknown>>,
  { read, context, message }: { read: Read; context: string; message: string },
): Promise<Record<string, unknown>> {
  const wanted: Record<string, unknown> = { ...values };
  for (const [name, list] of Object.entries(values)) {
    if (!Array.isArray(list) || list.length < 2 || !list.every(isSaid)) continue;
    const looked: { item: unknown; yes: number }[] = [];
    for (const item of list) {
      const call = `${tool.name}(${name}: ${JSON.stringify(item)})`;
      const yes = await read('item', { context, message, call }, '{"wanted": "', readYes);
      looked.push({ item, yes });
    }
    const surest = Math.max(...looked.map(({ yes }) => yes));
    wanted[name] = looked.filter(({ yes }) => yes >= Math.min(WANTED, surest)).map(({ item }) => item);
  }
  return wanted;
}

/** Not an object, and not from an earlier step. */
function isSaid(item: unknown): boolean {
  return typeof item === 'number' || (typeof item === 'string' && !item.startsWith('${'));
}
