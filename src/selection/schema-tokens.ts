/** What a tool's full schema costs as it is bound today: name, description and input schema as JSON. Counted once. */
import type { Tool } from '../catalog/tool.js';
import type { Model } from '../model/model.js';

const counted = new WeakMap<Model, WeakMap<Tool, number>>();

/** In tokens of the model that would be shown it. */
export function createSchemaTokens(model: Model): (tool: Tool) => number {
  const known = counted.get(model) ?? new WeakMap<Tool, number>();
  counted.set(model, known);
  return (tool) => {
    let tokens = known.get(tool);
    if (tokens === undefined) {
      tokens = model.countTokens(
        JSON.stringify({ name: tool.name, description: tool.description, parameters: tool.inputSchema }),
      );
      known.set(tool, tokens);
    }
    return tokens;
  };
}
