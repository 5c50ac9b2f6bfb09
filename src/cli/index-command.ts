/** `winnow index`: an index built ahead, for a server to take over at its start in place of building one. */
import { writeFile } from 'node:fs/promises';
import { Command, Option } from 'commander';
import { ERROR_TABLE } from '../core/errors.js';
import { addStoreOption, addToolsOptions } from './agent-options.js';
import type { LookFlags } from './open-store-commands.js';
import { type Output, type OutputOptions, outputOf, print } from './output.js';
import { readJson } from './read-json.js';
import { wholeNumber } from './shared-options.js';

const LEVELS = ['none', 'meta', 'full'] as const;

interface ExportFlags extends LookFlags {
  level: (typeof LEVELS)[number];
  maxBytes?: number;
  out?: string;
}

interface ImportFlags extends LookFlags {
  json?: boolean;
}

export function indexCommand(options: OutputOptions = {}): Command {
  const output = outputOf(options);
  const command = new Command('index').description('build the index of the tools ahead, and hand it to a server');
  subcommand(command, 'export', 'build it, and write it as one JSON document')
    .addOption(new Option('--level <level>', 'what is written').choices(LEVELS).default('full'))
    .option('--max-bytes <number>', 'a larger full one becomes meta (default: 32 MiB)', wholeNumber)
    .option('--out <file>', 'in place of stdout')
    .action((flags: ExportFlags) => exportIndex(flags, output));
  subcommand(command, 'import <file>', 'check it against the catalogue, and keep it in the store for the next start')
    .option('--json', 'print JSON')
    .action((file: string, flags: ImportFlags) => importIndex(file, flags, output));
  return command;
}

function subcommand(parent: Command, name: string, description: string): Command {
  return addToolsOptions(addStoreOption(parent.command(name).description(description)));
}

async function exportIndex({ level, maxBytes, out, ...flags }: ExportFlags, { stdout, stderr }: Output): Promise<void> {
  const { withStoredAgents } = await import('./open-store-commands.js');
  const snapshot = await withStoredAgents(
    flags,
    async ({ rebuild, index }) => {
      await rebuild();
      return index.exportSnapshot({ level, maxBytes });
    },
    { needsTools: { stderr }, storeIsOptional: true },
  );
  const text = `${JSON.stringify(snapshot)}\n`;
  if (out === undefined) stdout.write(text);
  else await writeFile(out, text);
}

async function importIndex(file: string, flags: ImportFlags, output: Output): Promise<void> {
  const { withStoredAgents } = await import('./open-store-commands.js');
  const content = await readJson('snapshot', file);
  const imported = await withStoredAgents(flags, ({ keepSnapshot }) => keepSnapshot(content), {
    needsTools: output,
    mayCreate: true,
  });
  const { snapshot, fingerprint = '', tools } = imported;
  const text = {
    taken: `taken: ${tools} tools, fingerprint ${fingerprint}; a server takes it over at its next start`,
    stale: 'stale: it is of other tools or weights; nothing was kept',
    empty: 'empty: it holds no index; export it with --level full',
  }[snapshot];
  print(output, flags, { value: imported, text });
  if (snapshot !== 'taken') process.exitCode = ERROR_TABLE.invalid_request.exitCode;
}
