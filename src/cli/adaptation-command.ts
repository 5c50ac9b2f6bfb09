/** `winnow adaptation`: what was learnt from use, and the way for a person to decide on it. */
import { Command, Option } from 'commander';
import type { LearntView } from '../adapters/http/agents/adaptation-routes.js';
import type { Agents } from '../agents/agents.js';
import { addStoreOption } from './agent-options.js';
import type { LookFlags } from './open-store-commands.js';
import { type Output, type OutputOptions, outputOf, print } from './output.js';
import { renderTable } from './render-table.js';

const LEVELS = ['person', 'project', 'all'] as const;
const KINDS = ['weight', 'synonym', 'always_on'] as const;
const STATES = ['proposed', 'active', 'reverted'] as const;

interface Flags extends LookFlags {
  json?: boolean;
}
interface ListFlags extends Flags {
  level?: (typeof LEVELS)[number];
  subject?: string;
  kind?: (typeof KINDS)[number];
  state?: (typeof STATES)[number];
}
interface DecideFlags extends Flags {
  by: string;
}

export function adaptationCommand(options: OutputOptions = {}): Command {
  const output = outputOf(options);
  const command = new Command('adaptation').description(
    'what was learnt from use: look at it, decide on it, learn now',
  );
  subcommand(command, 'list', 'one line each')
    .addOption(new Option('--level <level>', 'for whom it holds').choices(LEVELS))
    .option('--subject <name>', 'only of this person or project')
    .addOption(new Option('--kind <kind>', 'what it is').choices(KINDS))
    .addOption(new Option('--state <state>', 'proposed ones wait for approval').choices(STATES))
    .action((flags: ListFlags) => listLearnt(flags, output));
  subcommand(command, 'show <id>', 'for whom, what, and on which evidence').action((id: string, flags: Flags) =>
    showOne(flags, output, ({ adaptation }) => adaptation.find(id)),
  );
  deciding(command, 'approve <id>', 'let a proposal have its effect; never by whom it comes from').action(
    (id: string, flags: DecideFlags) =>
      showOne(flags, output, async ({ adaptation }) => adaptation.approve(await adaptation.find(id), flags.by)),
  );
  deciding(command, 'revert <id>', 'refuse a proposal, or take an effect away; it is not learnt again').action(
    (id: string, flags: DecideFlags) =>
      showOne(flags, output, async ({ adaptation }) => adaptation.revert(await adaptation.find(id), flags.by)),
  );
  deciding(command, 'remove <id>', 'forget it with what was decided; it may be learnt again').action(
    async (id: string, flags: DecideFlags) => {
      const { withStoredAgents } = await import('./open-store-commands.js');
      await withStoredAgents(flags, async ({ adaptation }) => adaptation.remove(await adaptation.find(id), flags.by));
      print(output, flags, { value: { removed: id }, text: `removed ${id}` });
    },
  );
  subcommand(command, 'learn', 'look at use now, whether or not a server does it by itself').action(
    async (flags: Flags) => {
      const { withStoredAgents } = await import('./open-store-commands.js');
      const learnt = await withStoredAgents(flags, ({ adaptation }) => adaptation.learn(), { learns: true });
      print(output, flags, { value: learnt, text: `${learnt.entries} entries are new or have changed` });
    },
  );
  return command;
}

function subcommand(parent: Command, name: string, description: string): Command {
  return addStoreOption(parent.command(name).description(description))
    .option('--config <file>', 'configuration file (YAML or JSON)')
    .option('--json', 'print JSON');
}

function deciding(parent: Command, name: string, description: string): Command {
  return subcommand(parent, name, description).requiredOption('--by <user>', 'who decides');
}

async function listLearnt(flags: ListFlags, output: Output): Promise<void> {
  const { withStoredAgents } = await import('./open-store-commands.js');
  const { toLearntView } = await import('../adapters/http/agents/adaptation-routes.js');
  const { level, subject, kind, state } = flags;
  const entries = await withStoredAgents(flags, ({ adaptation }) => adaptation.list({ level, subject, kind, state }));
  const views = entries.map(toLearntView);
  const rows = views.map((one) => [
    one.id,
    one.level === 'all' ? 'all' : `${one.level} ${one.subject}`,
    one.kind,
    one.key,
    one.state,
    String(one.evidence),
  ]);
  const text =
    rows.length === 0
      ? 'nothing was learnt'
      : renderTable(['id', 'for', 'kind', 'what', 'state', 'evidence'], rows, { leftColumns: 5 });
  print(output, flags, { value: views, text });
}

async function showOne(
  flags: Flags,
  output: Output,
  work: (agents: Agents) => ReturnType<Agents['adaptation']['find']>,
): Promise<void> {
  const { withStoredAgents } = await import('./open-store-commands.js');
  const { toLearntView } = await import('../adapters/http/agents/adaptation-routes.js');
  const view: LearntView = toLearntView(await withStoredAgents(flags, work));
  print(output, flags, { value: view, text: `${view.id}  ${view.state}\n${view.explanation}` });
}
