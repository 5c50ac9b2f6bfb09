/** Winnow as an MCP server, for programs that start it themselves: `winnow/mcp`. */

export { LOOPBACK_HOSTS } from '../http/auth/page-guard.js';
export { type McpLogger, type McpParts, TURN_KEY } from './connection.js';
export { createMcpEndpoint, type McpEndpoint, type McpExchange, type McpHttpParts } from './http-endpoint.js';
export { type McpOptions, type McpOptionsInput, resolveMcpOptions } from './mcp-options.js';
export type { PlanningPlanner } from './planning-tools.js';
export { type StdioStreams, serveStdio } from './serve-stdio.js';
