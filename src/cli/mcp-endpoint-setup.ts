/** MCP under `/mcp` of `winnow serve`, from its flags. */

import { createMcpEndpoint, type McpEndpoint } from '../adapters/mcp/http-endpoint.js';
import type { PlanningPlanner } from '../adapters/mcp/planning-tools.js';
import type { Logger } from '../agents/logging/logger.js';
import type { Router } from '../agents/router.js';
import { mcpOptionsOf } from './mcp-options.js';
import type { ServeFlags } from './serve-flags.js';

export interface McpEndpointSetup {
  flags: ServeFlags;
  router: Router;
  planner: PlanningPlanner;
  logger: Logger;
  /** As the server around it has them. */
  allowedHosts: readonly string[] | undefined;
  /** Most connections of one user. */
  maxUserConnections: number;
}

/** Undefined: the flags want none. @throws WinnowError `invalid_option` */
export function openMcpEndpoint({ flags, ...parts }: McpEndpointSetup): McpEndpoint | undefined {
  const options = mcpOptionsOf(flags);
  return flags.mcp ? createMcpEndpoint({ ...parts, options }) : undefined;
}
