/** `winnow-planner/mcp`: Winnow as an MCP server, for programs that start it themselves. */
export type { McpLogger, McpParts } from './answering.js';
export { createMcpEndpoint, type McpEndpoint, type McpHttpParts } from './http-endpoint.js';
export { type McpOptions, type McpOptionsInput, resolveMcpOptions } from './mcp-options.js';
export type { PlanningPlanner } from './planning-tools.js';
export { type StdioStreams, serveStdio } from './serve-stdio.js';
export type { McpExchange } from './stateless-endpoint.js';
