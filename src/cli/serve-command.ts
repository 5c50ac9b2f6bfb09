/** `winnow serve`: planning and agents over HTTP until SIGINT or SIGTERM. What it needs is loaded when it runs. */
import { Command, InvalidArgumentError } from 'commander';
import { SERVER_DEFAULTS } from '../adapters/http/server-options.js';
import { addAgentOptions } from './agent-options.js';
import { addDiscoveryOptions } from './discovery-options.js';
import { addMcpOptions } from './mcp-flags.js';
import type { ServeCommandOptions, ServeFlags } from './serve-flags.js';
import { addSharedOptions, collect, wholeNumber } from './shared-options.js';

/** The action throws WinnowError and returns when the server has stopped. */
export function serveCommand(output: ServeCommandOptions = {}): Command {
  const command = new Command('serve').description('answer requests over HTTP; see GET /openapi.json');
  return addMcpOptions(addDiscoveryOptions(addAgentOptions(addSharedOptions(command))))
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--port <number>', 'port to listen on; 0 takes a free one', portNumber, 8787)
    .option(
      '--concurrency <number>',
      'most requests at once; more are told to come back',
      wholeNumber,
      SERVER_DEFAULTS.concurrency,
    )
    .option('--body-limit <bytes>', 'longest body of a request', wholeNumber, SERVER_DEFAULTS.bodyLimitBytes)
    .option(
      '--stop-timeout <seconds>',
      'what running requests get to end',
      wholeNumber,
      SERVER_DEFAULTS.stopTimeoutMs / 1000,
    )
    .option('--host-name <name>', 'a name under which this server is reached; repeatable', collect)
    .option('--ready-model', 'GET /readyz asks the model, too, at most once a minute')
    .option('--no-mcp', 'without MCP under /mcp')
    .option('--json', 'print the address as one line of JSON')
    .action(async (flags: ServeFlags) => {
      const { serve } = await import('./serve.js');
      await serve(flags, output);
    });
}

function portNumber(text: string): number {
  const port = Number(text);
  if (text.trim() === '' || !Number.isInteger(port) || port < 0 || port > 65_535)
    throw new InvalidArgumentError('must be a whole number from 0 to 65535.');
  return port;
}
