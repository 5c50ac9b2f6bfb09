/** What the tools take for arguments that are left out, by their schemas: top-level ones, as a plan writes them down. */

import { isObject } from '../core/catalog/schema/json.js';
import { fillDefaults } from '../core/catalog/schema/paths.js';
import type { JsonSchema, Tool } from '../core/catalog/tool.js';

const defaults = new WeakMap<Tool, JsonSchema>();

/** @returns undefined where the tool is not known, or its schema has no default for the argument. */
export function defaultsIn(tools: ReadonlyMap<string, Tool>): (tool: string, argument: string) => unknown {
  return (name, argument) => {
    const tool = tools.get(name);
    const values = tool ? defaultsOf(tool) : {};
    return Object.hasOwn(values, argument) ? values[argument] : undefined;
  };
}

/** Found once a tool: every argument of every case is looked up. */
function defaultsOf(tool: Tool): JsonSchema {
  const filled = defaults.get(tool) ?? fillDefaults(tool.inputSchema, {});
  const values = isObject(filled) ? filled : {};
  defaults.set(tool, values);
  return values;
}
