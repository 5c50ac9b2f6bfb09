/** The one place where selection asks for producers: which tools a tool needs before it, for one request. */
import type { Tool } from '../catalog/tool.js';
import { missingProducers, type Supplied } from './producers/add-producers.js';
import { createProducerContext } from './producers/producer-context.js';
import type { Answer, StageContext } from './candidates.js';

/**
 * @param answer its probabilities break ties between producers of the same value
 * @returns the producers that are not `present`, in the order of their use
 */
export function missingFor({ call }: StageContext, answer?: Answer) {
  const probabilities = new Map(answer?.named.map(({ tool, probability = 0 }) => [tool.name, probability]));
  const context = createProducerContext(call.view, call.request, (name) => probabilities.get(name) ?? 0);
  return (tool: Tool, present: ReadonlySet<string> = new Set()): Supplied[] => missingProducers(tool, present, context);
}
