/** Tools of MCP servers that a reload gave another name, since another server has, or no longer has, one of theirs. */
import { isObject } from '../schema/json.js';
import type { EntryIssue, Tool } from '../tool.js';

/** One warning a tool: whatever names it by hand must follow. */
export function findRenamed(now: readonly Tool[], before: readonly Tool[]): EntryIssue[] {
  const names = new Map(before.map((tool) => [ownNameOf(tool), tool.name]));
  return now.flatMap((tool) => {
    const ownName = ownNameOf(tool);
    const old = names.get(ownName);
    if (ownName === undefined || old === undefined || old === tool.name) return [];
    const message = `was "${old}" until now: rules, allow lists and policies that name it do not find it by that name`;
    return [{ level: 'warning', entry: tool.origin, name: tool.name, message }];
  });
}

/** Server and name there, which stay the same whatever it is called here. */
function ownNameOf({ metadata: { mcp } }: Tool): string | undefined {
  return isObject(mcp) ? JSON.stringify([mcp.server, mcp.tool]) : undefined;
}
