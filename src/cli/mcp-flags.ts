/** Flags of Winnow as an MCP server, over stdio and over HTTP. */
import { type Command, InvalidArgumentError } from 'commander';
import type { Risk } from '../core/catalog/tool.js';
import type { AgentFlags } from './agent-options.js';
import type { DiscoveryFlags } from './discovery-options.js';
import type { SharedFlags } from './shared-options.js';

export interface McpFlags {
  toolPrefix?: string;
  /** In seconds. */
  turnPause?: number;
  clientFollowsList?: boolean;
  /** The example catalogue, where no other is named. */
  example?: boolean;
}

/** Those of `winnow mcp`. */
export interface McpCommandFlags extends SharedFlags, AgentFlags, DiscoveryFlags, McpFlags {
  user?: string;
  role?: string[];
  project?: string;
  riskCeiling?: Risk;
  /** False for `--no-planner`. */
  planner: boolean;
}

export function addMcpOptions(command: Command): Command {
  return command
    .option('--example', 'serve the example catalogue that comes with Winnow')
    .option('--tool-prefix <text>', "MCP: before the names of Winnow's own tools, such as winnow_")
    .option(
      '--turn-pause <seconds>',
      'MCP: so long without a call ends a turn; 0: none does (default: 300)',
      notNegative,
    )
    .option('--client-follows-list', 'MCP: clients take up a changed list of tools, so tool_call is not needed');
}

function notNegative(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value) || value < 0)
    throw new InvalidArgumentError('must be a number of seconds, 0 or more.');
  return value;
}
