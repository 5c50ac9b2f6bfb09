/** Arguments that only an earlier step can provide: the request does not hold the value, and a chosen tool finds it. */
import type { View } from '../catalog/scope.js';
import type { Request } from '../request.js';
import type { Selection } from '../result.js';
import { givenOf, isGiven } from './producers/given-values.js';
import { producerGraphOf } from './producers/producer-graph.js';

/** As `tool.argument`. */
export function mustRefer(view: View, selection: Selection, request: Request): Set<string> {
  const graph = producerGraphOf(view);
  const names = selection.tools.map((tool) => tool.name);
  const given = givenOf(request);
  const needs = names.flatMap((name) => graph.needsOf(name));
  const found = needs.filter(
    (need) => need.required && !isGiven(need, given) && names.some((name) => graph.surelyProduces(name, need)),
  );
  return new Set(found.map((need) => `${need.tool}.${need.argument}`));
}
