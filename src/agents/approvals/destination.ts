/** Where a call of a tool goes, in words for whoever approves it: by what the executors go by, see `agents/sandbox/executors`. */
import { isObject } from '../../core/catalog/schema/json.js';
import type { Tool } from '../../core/catalog/tool.js';

export function destinationOf({ metadata: { http, mcp }, toolType, origin }: Tool): string {
  if (isObject(mcp)) return `the tool "${mcp.tool}" of the MCP server "${mcp.server}" (${origin})`;
  if (isObject(http)) return `${http.method} ${http.server ?? `at the server of ${origin}: `}${http.path}`;
  return toolType === 'skill' ? 'nowhere: the text of a skill' : `a function of this server (${origin})`;
}
