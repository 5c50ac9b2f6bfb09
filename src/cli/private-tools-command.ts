/** `winnow private-tools`: the tools that users have added, one user at a time. */
import { Command } from 'commander';
import type { Agents } from '../agents/agents.js';
import type { Tool } from '../core/catalog/tool.js';
import { addStoreOption, addToolsOptions } from './agent-options.js';
import type { LookFlags } from './open-store-commands.js';
import { type Output, type OutputOptions, outputOf, print } from './output.js';
import { readJson } from './read-json.js';

interface Flags extends LookFlags {
  user: string;
  json?: boolean;
}

export function privateToolsCommand(options: OutputOptions = {}): Command {
  const output = outputOf(options);
  const command = new Command('private-tools').description("a user's own tools: list, add, remove");
  subcommand(command, 'list', 'by name').action(async (flags: Flags) => {
    const tools = await withTools({ flags, output }, async ({ privateTools }) => privateTools.list(flags.user));
    const text = tools.length === 0 ? `${flags.user} has no tools` : tools.map(renderTool).join('\n');
    print(output, flags, { value: tools, text });
  });
  subcommand(command, 'add <file>', 'an entry as in a catalogue file, as JSON; - reads it from stdin').action(
    async (file: string, flags: Flags) => {
      const entry = await readJson('tool', file);
      const { tool, notes } = await withTools({ flags, output, mayCreate: true }, ({ privateTools }) =>
        privateTools.add(flags.user, entry),
      );
      const text = [renderTool(tool), ...notes.map((note) => `note ${note}`)].join('\n');
      print(output, flags, { value: { ...tool, notes }, text });
    },
  );
  subcommand(command, 'remove <name>', 'for good').action(async (name: string, flags: Flags) => {
    await withTools({ flags, output }, ({ privateTools }) => privateTools.remove(flags.user, name));
    print(output, flags, { value: { removed: name }, text: `removed ${name}` });
  });
  return command;
}

function subcommand(parent: Command, name: string, description: string): Command {
  const stored = addStoreOption(parent.command(name).description(description));
  const ofUser = stored.requiredOption('--user <name>', 'whose tools; a running server sees a change within seconds');
  return addToolsOptions(ofUser).option('--json', 'print JSON');
}

interface Asking {
  flags: Flags;
  output: Output;
  mayCreate?: boolean;
}

async function withTools<Result>(
  { flags, output, mayCreate = false }: Asking,
  work: (agents: Agents) => Promise<Result>,
): Promise<Result> {
  const { withStoredAgents } = await import('./open-store-commands.js');
  return withStoredAgents(flags, work, { needsTools: output, mayCreate });
}

function renderTool({ name, toolType, risk, description }: Tool): string {
  return `${name} (${toolType}, ${risk})${description === '' ? '' : `: ${description}`}`;
}
