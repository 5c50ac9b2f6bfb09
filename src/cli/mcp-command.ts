/** `winnow mcp`: one MCP client over stdin and stdout, as it stands in a client's configuration. */
import { Command, Option } from 'commander';
import { RISKS } from '../core/catalog/risk.js';
import { addAgentOptions } from './agent-options.js';
import { addDiscoveryOptions } from './discovery-options.js';
import { addMcpOptions, type McpCommandFlags } from './mcp-flags.js';
import { addSharedOptions, collect } from './shared-options.js';

/** The action throws WinnowError and returns when the client has left. */
export function mcpCommand(): Command {
  const command = new Command('mcp').description(
    'serve one MCP client over stdin and stdout; write it into the mcpServers of the client',
  );
  return addMcpOptions(addDiscoveryOptions(addAgentOptions(addSharedOptions(command))))
    .option('--user <name>', 'whose private tools are seen; risky calls need one, since somebody else approves')
    .option('--role <role>', 'role of the user, for the policy; may be given more than once', collect)
    .option('--project <name>', 'for telemetry and adaptation')
    .addOption(new Option('--risk-ceiling <risk>', 'tools above it can not be found or run').choices(RISKS))
    .option('--no-planner', 'without the tools plan and select, which need a model')
    .action(async (flags: McpCommandFlags) => {
      const { runMcp } = await import('./mcp-run.js');
      await runMcp(flags);
    });
}
