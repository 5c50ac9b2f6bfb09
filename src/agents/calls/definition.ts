/** The properties of a tool that approvals and recorded calls are bound to. */
import { bindingHash } from '../../core/catalog/catalog.js';
import { isObject } from '../../core/catalog/schema/json.js';
import type { Tool } from '../../core/catalog/tool.js';
import { canonicalHash } from '../approvals/canonical-json.js';
import type { Situation } from '../sessions/situation.js';

/** The key of a recorded call. A tool of the same name with another source or definition has another key. */
export function callKey(tool: Tool): string {
  return `${tool.name} ${bindingHash(tool)}`;
}

/** Changes with the definition or destination of the tool, and with the policy. */
export function definitionOf(tool: Tool, { policy }: Pick<Situation, 'policy'>): string {
  return `${policy.version}.${bindingHash(tool)}`;
}

/** The same for all tools of a plan: a change of one of them makes it another plan. */
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

/** Where a call goes, in words for approvers; from the metadata that the executors use. */
export function destinationOf({ metadata: { http, mcp }, toolType, origin }: Tool): string {
  if (isObject(mcp)) return `the tool "${mcp.tool}" of the MCP server "${mcp.server}" (${origin})`;
  if (isObject(http)) return `${http.method} ${http.server ?? `at the server of ${origin}: `}${http.path}`;
  return toolType === 'skill' ? 'nowhere: the text of a skill' : `a function of this server (${origin})`;
}
