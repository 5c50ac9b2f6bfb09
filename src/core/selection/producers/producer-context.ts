/** What deciding on producers needs to know of one request. */
import type { View } from '../../catalog/scope.js';
import type { Request } from '../../request.js';
import type { ProducerContext } from './add-producers.js';
import { givenOf } from './given-values.js';
import { producerGraphOf } from './producer-graph.js';

/** What the model's own ranking counts when two tools produce the same; more was worse on RestBench. */
const AFFINITY_WEIGHT = 0.3;

/** @param probabilityOf how likely the model names a tool, 0 where it is not known. */
export function createProducerContext(
  view: View,
  request: Request,
  probabilityOf: (tool: string) => number = () => 0,
): ProducerContext {
  return {
    graph: producerGraphOf(view),
    given: givenOf(request),
    affinity: (tool) => AFFINITY_WEIGHT * Math.sqrt(probabilityOf(tool.name)),
  };
}
