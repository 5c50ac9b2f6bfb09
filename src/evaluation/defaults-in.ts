/** What the tools take for arguments that are left out, by their schemas: top-level ones, as a plan writes them down. */
import { fillDefaults } from '../catalog/schema/fill-defaults.js';
import { isObject } from '../catalog/schema/json.js';
import type { Tool } from '../catalog/tool.js';

/** @returns undefined where the tool is not known, or its schema has no default for the argument. */
export function defaultsIn(tools: ReadonlyMap<string, Tool>): (tool: string, argument: string) => unknown {
  return (name, argument) => {
    const tool = tools.get(name);
    const defaults = tool && fillDefaults(tool.inputSchema, {}, { nulls: false });
    return isObject(defaults) && Object.hasOwn(defaults, argument) ? defaults[argument] : undefined;
  };
}
