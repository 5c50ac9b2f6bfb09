/** `winnow rules`: what kinds of requests always get, as the catalogue says and as operators keep it in the store. */
import { Command } from 'commander';
import type { Agents } from '../agents/agents.js';
import type { ListedRule, RuleList } from '../agents/kept-rules.js';
import { addStoreOption, addToolsOptions } from './agent-options.js';
import type { LookFlags } from './open-store-commands.js';
import { type Output, type OutputOptions, outputOf, print } from './output.js';
import { readJson } from './read-json.js';

interface Flags extends LookFlags {
  json?: boolean;
}
interface ChangeFlags extends Flags {
  by?: string;
}

export function rulesCommand(options: OutputOptions = {}): Command {
  const output = outputOf(options);
  const command = new Command('rules').description('what kinds of requests always get: list, put, remove');
  subcommand(command, 'list', 'those in force, in the order in which they count').action(async (flags: Flags) => {
    const list = await withRules({ flags, output }, async ({ rules }) => rules.list());
    print(output, flags, { value: list, text: renderList(list) });
  });
  changing(command, 'put <file>', 'keep a rule as in a catalogue file, as JSON; - reads it from stdin').action(
    async (file: string, flags: ChangeFlags) => {
      const content = await readJson('rule', file);
      const rule = await withRules({ flags, output, mayCreate: true }, ({ rules }) =>
        rules.put(content, { by: flags.by }),
      );
      print(output, flags, { value: rule, text: renderRule(rule) });
    },
  );
  changing(command, 'remove <name>', 'for good').action(async (name: string, flags: ChangeFlags) => {
    await withRules({ flags, output }, ({ rules }) => rules.remove(name, flags.by));
    print(output, flags, { value: { removed: name }, text: `removed ${name}` });
  });
  return command;
}

function subcommand(parent: Command, name: string, description: string): Command {
  return addToolsOptions(addStoreOption(parent.command(name).description(description))).option('--json', 'print JSON');
}

function changing(parent: Command, name: string, description: string): Command {
  return subcommand(parent, name, `${description}; a running server sees it within seconds`).option(
    '--by <user>',
    'who changes it, for the audit',
  );
}

interface Asking {
  flags: Flags;
  output: Output;
  mayCreate?: boolean;
}

async function withRules<Result>(
  { flags, output, mayCreate = false }: Asking,
  work: (agents: Agents) => Promise<Result>,
): Promise<Result> {
  const { withStoredAgents } = await import('./open-store-commands.js');
  return withStoredAgents(flags, work, { needsTools: output, mayCreate });
}

function renderList({ rules, leftOut }: RuleList): string {
  const unusable = leftOut.map(({ name, reason }) => `${name} (kept, left out): ${reason}`);
  return [...rules.map(renderRule), ...unusable].join('\n') || 'no rules';
}

function renderRule({ name, from, when, first, last, include, unknownTools }: ListedRule): string {
  const added = Object.entries({ first, include, last }).flatMap(([place, names]) =>
    names ? [`${place} ${names.join(', ')}`] : [],
  );
  return [
    `${name} (${from === 'kept' ? 'kept' : 'of the catalogue'}), when ${renderWhen(when)}: ${added.join('; ')}`,
    ...unknownTools.map((tool) => `  no tool of the system is named ${tool}`),
  ].join('\n');
}

/** All conditions must hold, all entities be there, and one of several intents. */
function renderWhen({ entities, intent, message }: ListedRule['when']): string {
  const conditions = [
    entities && `entities has ${entities.join(' and ')}`,
    intent && `intent is ${[intent].flat().join(' or ')}`,
    message && `message has ${message}`,
  ];
  return conditions.filter(Boolean).join(', ');
}
