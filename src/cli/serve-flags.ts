/** The flags of `winnow serve`, and where it writes. */
import type { Logger } from '../agents/logging/logger.js';
import type { AgentFlags } from './agent-options.js';
import type { DiscoveryFlags } from './discovery-options.js';
import type { McpFlags } from './mcp-flags.js';
import type { SharedFlags } from './shared-options.js';

export interface ServeCommandOptions {
  stdout?: Pick<NodeJS.WritableStream, 'write'>;
  stderr?: NodeJS.WriteStream;
  /** In place of the logger of the command line. */
  logger?: Logger;
}

export interface ServeFlags extends SharedFlags, AgentFlags, DiscoveryFlags, McpFlags {
  host: string;
  port: number;
  concurrency: number;
  bodyLimit: number;
  stopTimeout: number;
  hostName?: string[];
  readyModel?: boolean;
  /** False for `--no-mcp`. */
  mcp: boolean;
  json?: boolean;
}
