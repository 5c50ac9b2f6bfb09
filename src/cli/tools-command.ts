/** `winnow tools`: what a catalogue holds, and what is wrong with it. Data goes to stdout, progress to stderr. */
import { Command } from 'commander';
import { addStoreOption } from './agent-options.js';
import type { ToolFlags, ToolOutput } from './print-tools.js';
import type { ChangesFlags } from './tool-changes.js';

/** Actions throw WinnowError and may set `process.exitCode`; the caller's entry does the rest. */
export function toolsCommand(options: Partial<ToolOutput> = {}): Command {
  const output: ToolOutput = { stdout: process.stdout, stderr: process.stderr, ...options };
  const command = new Command('tools').description('list, show and check the tools of a catalogue');
  subcommand(command, 'list', 'one line a tool').action(async (flags: ToolFlags) => {
    const { listTools } = await import('./print-tools.js');
    await listTools(flags, output);
  });
  subcommand(command, 'show <name>', 'all that is known of one tool').action(async (name: string, flags: ToolFlags) => {
    const { showTool } = await import('./print-tools.js');
    await showTool(name, flags, output);
  });
  subcommand(command, 'check', 'every problem of the sources, and what is mended in schemas').action(
    async (flags: ToolFlags) => {
      const { checkTools } = await import('./print-tools.js');
      await checkTools(flags, output);
    },
  );
  reviewing(command, 'changes', 'definitions that wait until somebody has looked, with the difference').action(
    async (flags: ChangesFlags) => {
      const { showChanges } = await import('./tool-changes.js');
      await showChanges(flags, output);
    },
  );
  reviewing(command, 'accept [id...]', 'take those that you looked at; a running server sees it within seconds')
    .option('--all', 'all that wait, as they are now')
    .option('--by <user>', 'who accepts them, for the audit')
    .action(async (ids: string[], flags: ChangesFlags) => {
      const { acceptChanges } = await import('./tool-changes.js');
      await acceptChanges(ids, flags, output);
    });
  return command;
}

function reviewing(parent: Command, name: string, description: string): Command {
  return addStoreOption(subcommand(parent, name, description));
}

function subcommand(parent: Command, name: string, description: string): Command {
  const collect = (source: string, sources: string[] = []) => [...sources, source];
  return parent
    .command(name)
    .description(description)
    .option('-c, --catalog <source>', 'file, folder or URL; repeatable (default: the example catalogue)', collect)
    .option('--config <file>', 'configuration file whose catalogue is used without --catalog (YAML or JSON)')
    .option('--strict', 'a wrong entry or a failing source is an error')
    .option('--user <user>', 'also the private tools of this user')
    .option('--json', 'print JSON');
}
