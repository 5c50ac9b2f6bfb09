/**
 * In which order a model reads the tools. It matters most to small models, which choose more readily from the beginning
 * and the end of a list than from its middle (Liu et al., "Lost in the Middle", TACL 2024).
 */
import type { Tool } from '../catalog/tool.js';
import type { Options } from '../config/options.js';

/** The same for every request, so that the prefix cache of a model server keeps what it has read. */
export function inOrder(tools: readonly Tool[], order: Options['summaryOrder']): readonly Tool[] {
  switch (order) {
    case 'catalog':
      return tools;
    case 'reverse':
      return tools.toReversed();
    case 'name':
      return tools.toSorted((one, other) => compare(one.name, other.name));
    case 'category': {
      const groups = new Map<string, number>();
      for (const tool of tools) if (!groups.has(groupOf(tool))) groups.set(groupOf(tool), groups.size);
      const placeOf = (tool: Tool) => groups.get(groupOf(tool)) ?? 0;
      return tools.toSorted((one, other) => placeOf(one) - placeOf(other));
    }
  }
}

function groupOf({ category, origin }: Tool): string {
  return category ?? origin;
}

/** By code units: a locale of the machine must not change a prompt. */
function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
