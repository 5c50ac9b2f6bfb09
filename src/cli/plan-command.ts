/** `winnow plan` and `winnow select`: a request from the command line. What they need is loaded when they run. */
import { Command } from 'commander';
import { WinnowError } from '../core/errors.js';
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
    .argument('[request...]', 'the request in quotes; - reads it from stdin')
    .usage('[options] "<request>"');
  return addSharedOptions(command)
    .option('--history <file>', 'earlier messages as a JSON array of {role, content}')
    .option('--entities <json>', 'what is known already, as a JSON object')
    .option('--intent <name>', 'the business sub-intent')
    .option('--user <name>', 'whose private tools are visible')
    .option('--today <date>', 'the date of the user, YYYY-MM-DD')
    .option('--json', 'print the result as JSON')
    .action(async (words: string[], flags: RequestFlags) => {
      const text = oneRequest(name, words);
      const { printPlan, printSelection } = await import('./plan-request.js');
      await (name === 'plan' ? printPlan : printSelection)(text, flags);
    });
}

/** A shell takes a request apart that stands in no quotes. @throws WinnowError `invalid_option` */
function oneRequest(name: string, words: readonly string[]): string {
  const [first, ...others] = words;
  if (first === undefined)
    throw new WinnowError('invalid_option', `The request is missing: winnow ${name} "What is the weather in Oslo?"`);
  if (others.length > 0)
    throw new WinnowError('invalid_option', `Put the request in quotes: winnow ${name} "${words.join(' ')}"`);
  return first;
}
