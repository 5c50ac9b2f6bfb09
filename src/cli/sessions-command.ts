/** `winnow sessions`: the sessions in the store of a server. */
import { Command } from 'commander';
import type { SessionView } from '../agents/contracts.js';
import { addPolicyOption, addStoreOption, addToolsOptions } from './agent-options.js';
import type { LookFlags } from './open-store-commands.js';
import { type Output, type OutputOptions, outputOf, print } from './output.js';
import { printableLine } from './printable.js';
import { renderTable } from './render-table.js';
import { wholeNumber } from './shared-options.js';

interface Flags extends LookFlags {
  user?: string;
  limit?: number;
  json?: boolean;
}

export function sessionsCommand(options: OutputOptions = {}): Command {
  const output = outputOf(options);
  const command = new Command('sessions').description('list, show and end the sessions of agents');
  subcommand(command, 'list', 'newest first')
    .option('--user <name>', 'only of this user')
    .option('--limit <number>', 'most sessions shown', wholeNumber)
    .action((flags: Flags) => listSessions(flags, output));
  subcommand(command, 'show <id>', 'its turn, and what is enabled for how many turns').action(
    async (id: string, flags: Flags) => {
      const { withStoredAgents } = await import('./open-store-commands.js');
      const session = await withStoredAgents(flags, ({ router }) => router.session(id), {
        needsTools: output,
      });
      print(output, flags, { value: session, text: renderSession(session) });
    },
  );
  subcommand(command, 'end <id>', 'end it with all that is enabled in it').action(async (id: string, flags: Flags) => {
    const { withStoredAgents } = await import('./open-store-commands.js');
    const session = await withStoredAgents(flags, ({ router }) => router.endSession(id));
    print(output, flags, { value: session, text: `ended ${session.id}` });
  });
  return command;
}

function subcommand(parent: Command, name: string, description: string): Command {
  return addToolsOptions(addPolicyOption(addStoreOption(parent.command(name).description(description)))).option(
    '--json',
    'print JSON',
  );
}

async function listSessions(flags: Flags, output: Output): Promise<void> {
  const { withStoredAgents } = await import('./open-store-commands.js');
  const { user, limit } = flags;
  const query = { ...(user === undefined ? {} : { user }), ...(limit === undefined ? {} : { limit }) };
  const sessions = await withStoredAgents(flags, ({ router }) => router.sessions(query), {
    needsTools: output,
  });
  const rows = sessions.map(({ id, user: owner = '-', turn, enabled, activeAt, endedAt }) => {
    return [id, owner, activeAt, endedAt === undefined ? 'open' : 'ended', String(turn), String(enabled.length)];
  });
  const head = ['session', 'user', 'active', 'state', 'turn', 'enabled'];
  print(output, flags, { value: sessions, text: renderTable(head, rows, { leftColumns: 4 }) });
}

function renderSession({ id, user, roles, project, turn, createdAt, activeAt, endedAt, enabled }: SessionView): string {
  const facts = { session: id, user, roles: roles.join(', '), project, turn, createdAt, activeAt, endedAt };
  const lines = Object.entries(facts).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [`${name.padEnd(10)} ${printableLine(String(value))}`],
  );
  const rows = enabled.map(({ name, via, remainingTurns, once }) => {
    return [name, via, once ? 'one call' : String(remainingTurns ?? 'stays')];
  });
  const table =
    rows.length === 0 ? 'nothing is enabled' : renderTable(['enabled', 'via', 'turns'], rows, { leftColumns: 2 });
  return [...lines, '', table].join('\n');
}
