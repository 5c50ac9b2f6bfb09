/** Who is added before a tool, for one request. */
import type { View } from '../../../../src/core/catalog/scope.js';
import { type PlanRequest, parseRequest } from '../../../../src/core/request.js';
import { missingProducers, type Supplied } from '../../../../src/core/selection/producers/add-producers.js';
import { givenOf } from '../../../../src/core/selection/producers/given-values.js';
import { producerGraphOf } from '../../../../src/core/selection/producers/producer-graph.js';

export interface Asked {
  /** Tools that are chosen already. */
  present?: readonly string[];
  /** Tools that suit the request better than all others. */
  favourites?: readonly string[];
}

export function suppliedFor(view: View, name: string, input: PlanRequest | string, asked: Asked = {}): Supplied[] {
  const tool = view.byName.get(name);
  if (!tool) throw new Error(`no tool ${name}`);
  const request = parseRequest(typeof input === 'string' ? { message: input } : input);
  return missingProducers(tool, new Set(asked.present), {
    graph: producerGraphOf(view),
    given: givenOf(request),
    affinity: (other) => (asked.favourites?.includes(other.name) ? 1 : 0),
  });
}

export function producersFor(view: View, name: string, input: PlanRequest | string, asked: Asked = {}): string[] {
  return suppliedFor(view, name, input, asked).map(({ tool }) => tool.name);
}
