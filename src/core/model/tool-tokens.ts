/** What a tool costs in tokens of a model, in the form that it is sent in. Counted once a model and tool. */
import type { Tool } from '../catalog/tool.js';
import type { Model } from './model.js';

/** @param textOf the form that is counted */
export function createToolTokens(textOf: (tool: Tool) => string): (model: Model) => (tool: Tool) => number {
  const counted = new WeakMap<Model, WeakMap<Tool, number>>();
  return (model) => {
    const known = counted.get(model) ?? new WeakMap<Tool, number>();
    counted.set(model, known);
    return (tool) => {
      const tokens = known.get(tool) ?? model.countTokens(textOf(tool));
      known.set(tool, tokens);
      return tokens;
    };
  };
}
