/** From flags to the options of the MCP server. */
import { type McpOptions, resolveMcpOptions } from '../adapters/mcp/mcp-options.js';
import type { McpFlags } from './mcp-flags.js';

/** @throws WinnowError `invalid_option` */
export function mcpOptionsOf({ toolPrefix, turnPause, clientFollowsList: followsList }: McpFlags): McpOptions {
  return resolveMcpOptions({
    ...(toolPrefix === undefined ? {} : { toolPrefix }),
    ...(turnPause === undefined ? {} : { turnPauseMs: Math.round(turnPause * 1000) }),
    ...(followsList === undefined ? {} : { followsList }),
  });
}
