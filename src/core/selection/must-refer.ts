/** Arguments that only an earlier step can provide: the request does not hold the value, and a chosen tool finds it. */
import { isGiven, producerGraph } from '../catalog/producers.js';
import type { View } from '../catalog/scope.js';
import type { Request } from '../request.js';
import type { Selection } from '../result.js';

const SURE_SCORE = 0.6;

/** With the chosen tools whose results hold the value, in the order of the selection. */
export function mustRefer(view: View, selection: Selection, request: Request) {
  const graph = producerGraph(view);
  const tools = selection.tools.flatMap(({ name }) => view.byName.get(name) ?? []);
  const said = [...(request.history ?? []).map(({ content }) => content), request.message].join('\n');
  return tools
    .flatMap((tool) => graph.argumentsOf(tool))
    .filter((one) => one.isRequired && one.isIdentifier && !isGiven(one, { ...request, message: said }))
    .map((one) => {
      const sure = graph.provisionsFor(one.tool, one.name).filter(({ score }) => score >= SURE_SCORE);
      const producers = tools.filter((tool) => sure.some(({ producer }) => producer === tool)).map(({ name }) => name);
      return { tool: one.tool.name, argument: one.name, producers };
    })
    .filter(({ producers }) => producers.length > 0);
}
