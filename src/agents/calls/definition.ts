/** What of a tool an approval or a recorded call is bound to. */
import { bindingHash } from '../../core/catalog/catalog.js';
import { isObject } from '../../core/catalog/schema/json.js';
import type { Tool } from '../../core/catalog/tool.js';
import { canonicalHash } from '../approvals/canonical-json.js';
import type { Situation } from '../sessions/situation.js';

/** Under which a call is recorded: a tool of the name that has another source or definition has made none. */
export function callKey(tool: Tool): string {
  return `${tool.name} ${bindingHash(tool)}`;
}

/** Another definition or another destination under the same name is another tool. */
export function definitionOf(tool: Tool, { policy }: Pick<Situation, 'policy'>): string {
  return `${policy.version}.${bindingHash(tool)}`;
}

/** The same of all tools of a plan: when one of them changes, it is another plan. */
export function planDefinitionOf(
  names: readonly string[],
  { policy, find }: Pick<Situation, 'policy' | 'find'>,
): string {
  const tools = [...new Set(names)].map((name) => {
    const tool = find(name);
    return [name, tool ? bindingHash(tool) : null];
  });
  return `${policy.version}.${canonicalHash(tools)}`;
}

/** Where a call of a tool goes, in words for whoever approves it: by what the executors go by, see `agents/sandbox/executors`. */
export function destinationOf({ metadata: { http, mcp }, toolType, origin }: Tool): string {
  if (isObject(mcp)) return `the tool "${mcp.tool}" of the MCP server "${mcp.server}" (${origin})`;
  if (isObject(http)) return `${http.method} ${http.server ?? `at the server of ${origin}: `}${http.path}`;
  return toolType === 'skill' ? 'nowhere: the text of a skill' : `a function of this server (${origin})`;
}
