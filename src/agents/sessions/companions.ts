/** What comes along with a tool that is enabled: what its author relates to it, and what produces its arguments. */
import { missingProducers } from '../../core/catalog/producers.js';
import type { View } from '../../core/catalog/scope.js';
import type { Tool } from '../../core/catalog/tool.js';

export interface Companion {
  readonly tool: Tool;
  readonly via: 'related' | 'producer';
  /** The tool, or the `tool.argument`, for which it came along. */
  readonly serves: string;
}

export interface CompanionScope {
  readonly view: View;
  /** Whether the caller may know of a tool: what they must not know of brings nothing along, since that would name it. */
  readonly isShown: (tool: Tool) => boolean;
}

/**
 * To a fixpoint, each once; none of `present`. Related ones come first, since their author named them. One tool a step,
 * since the producers of 64 tools take a second: a caller may pause between any two.
 */
export function* companionsOf(
  tools: readonly Tool[],
  present: ReadonlySet<string>,
  { view, isShown }: CompanionScope,
): Generator<void, Companion[], void> {
  const taken = new Set([...present, ...tools.map(({ name }) => name)]);
  const companions: Companion[] = [];
  const queue = [...tools];
  // The queue grows while it is read: companions of companions.
  for (const tool of queue) {
    for (const name of tool.relatedTools) {
      const related = view.byName.get(name);
      if (!related || taken.has(name) || !isShown(related)) continue;
      taken.add(name);
      companions.push({ tool: related, via: 'related', serves: tool.name });
      queue.push(related);
    }
  }
  // Nothing is known of the user's words here: every argument that a user can't simply state wants its producer.
  const context = { view, request: { message: '' }, isShown };
  for (const tool of tools) {
    for (const { tool: producer, serves } of missingProducers(tool, taken, context)) {
      taken.add(producer.name);
      companions.push({ tool: producer, via: 'producer', serves });
    }
    yield;
  }
  return companions;
}
