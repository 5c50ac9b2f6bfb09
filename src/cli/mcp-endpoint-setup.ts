/** MCP under `/mcp` of `winnow serve`, from its flags. */

import { createMcpEndpoint, type McpEndpoint } from '../mcp/http-endpoint.js';
import { LOOPBACK_HOSTS } from '../mcp/origin-guard.js';
import type { PlanningPlanner } from '../mcp/planning-tools.js';
import type { Logger } from '../routing/logging/logger.js';
import type { Router } from '../routing/router.js';
import { isLoopback } from './is-loopback.js';
import { mcpOptionsOf } from './mcp-options.js';
import type { ServeFlags } from './serve-flags.js';

export interface McpEndpointSetup {
  flags: ServeFlags;
  router: Router;
  planner: PlanningPlanner;
  logger: Logger;
  /** Most connections of one user. */
  maxUserConnections: number;
}

/** Undefined: the flags want none. @throws WinnowError `invalid_option` */
export function openMcpEndpoint({ flags, ...parts }: McpEndpointSetup): McpEndpoint | undefined {
  const options = mcpOptionsOf(flags);
  return flags.mcp ? createMcpEndpoint({ ...parts, options, allowedHosts: hostsOf(flags) }) : undefined;
}

/** Undefined: whatever name a gateway sends on; web pages may not ask then. */
function hostsOf({ host, mcpHost }: ServeFlags): readonly string[] | undefined {
  if (mcpHost) return [...LOOPBACK_HOSTS, host, ...mcpHost];
  return isLoopback(host) ? [...LOOPBACK_HOSTS, host] : undefined;
}
