/** `winnow plan` and `winnow select`: a request from the command line. What they need is loaded when they run. */
import { Command } from 'commander';
import type { RequestFlags } from './plan-request.js';
import { addSharedOptions } from './shared-options.js';

export function planCommand(): Command {
  return requestCommand('plan', 'write a checked plan for a request');
}

export function selectCommand(): Command {
  return requestCommand('select', 'only choose the tools for a request');
}

function requestCommand(name: 'plan' | 'select', description: string): Command {
  const command = new Command(name)
    .description(description)
    .argument('<request>', 'the request; - reads it from stdin');
  return addSharedOptions(command)
    .option('--history <file>', 'earlier messages as a JSON array of {role, content}')
    .option('--entities <json>', 'what is known already, as a JSON object')
    .option('--intent <name>', 'the business sub-intent')
    .option('--user <name>', 'whose private tools are visible')
    .option('--today <date>', 'the date of the user, YYYY-MM-DD')
    .option('--json', 'print the result as JSON')
    .action(async (text: string, flags: RequestFlags) => {
      const { printPlan, printSelection } = await import('./plan-request.js');
      await (name === 'plan' ? printPlan : printSelection)(text, flags);
    });
}
