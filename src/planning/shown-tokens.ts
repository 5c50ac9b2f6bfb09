/** What a tool takes in the planning prompt, with what it returns and its instructions, not only its input schema. Counted once. */
import type { Tool } from '../catalog/tool.js';
import type { Model } from '../model/model.js';
import { renderTool } from './render-tool.js';

const counted = new WeakMap<Model, WeakMap<Tool, number>>();

/** In tokens of the model that is shown it. */
export function createShownTokens(model: Model): (tool: Tool) => number {
  const known = counted.get(model) ?? new WeakMap<Tool, number>();
  counted.set(model, known);
  return (tool) => {
    const tokens = known.get(tool) ?? model.countTokens(renderTool(tool));
    known.set(tool, tokens);
    return tokens;
  };
}
