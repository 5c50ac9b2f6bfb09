/** Arguments that only an earlier step can provide: the request does not hold the value, and a chosen tool finds it. */
import type { View } from '../catalog/scope.js';
import type { Request } from '../request.js';
import type { Selection } from '../result.js';
import { givenOf, mayBeGiven } from './producers/given-values.js';
import { producerGraphOf } from './producers/producer-graph.js';

/** With the chosen tools whose results hold the value, in the order of the selection. */
export function mustRefer(view: View, selection: Selection, request: Request) {
  const graph = producerGraphOf(view);
  const names = selection.tools.map((tool) => tool.name);
  const given = givenOf(request);
  return names
    .flatMap((name) => graph.needsOf(name))
    .filter((need) => need.required && !need.isPath && !mayBeGiven(need, given))
    .map((need) => ({
      tool: need.tool,
      argument: need.argument,
      producers: names.filter((name) => graph.surelyProduces(name, need)),
    }))
    .filter(({ producers }) => producers.length > 0);
}
