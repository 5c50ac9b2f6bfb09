/** What a tool's full schema costs as it is bound today: name, description and input schema as JSON. */
import type { View } from '../catalog/scope.js';
import type { Tool } from '../catalog/tool.js';
import { createToolTokens } from '../model/count-tokens.js';

/** In tokens of the model that would be shown it. */
export const createSchemaTokens = createToolTokens(({ name, description, inputSchema: parameters }) =>
  JSON.stringify({ name, description, parameters }),
);

export function totalTokens(tools: readonly Tool[], tokensOf: (tool: Tool) => number): number {
  return tools.reduce((sum, tool) => sum + tokensOf(tool), 0);
}

/** All tools of a view together, counted once. */
export function createViewTokens(tokensOf: (tool: Tool) => number): (view: View) => number {
  const known = new WeakMap<View, number>();
  return (view) => {
    const tokens = known.get(view) ?? totalTokens(view.tools, tokensOf);
    known.set(view, tokens);
    return tokens;
  };
}
