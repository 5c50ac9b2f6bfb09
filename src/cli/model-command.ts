/** `winnow model`: the files of the embedded model. Data goes to stdout, progress and notices to stderr. */
import { Command } from 'commander';
import { ERROR_TABLE } from '../errors.js';
import { type EnsureModelOptions, ensureModel } from '../model/store/ensure-model.js';
import { formatBytes } from '../model/store/format-bytes.js';
import { findModelFile, listModels, type ModelStatus, verifyModel } from '../model/store/model-status.js';
import { createProgressBar, type ProgressStream } from './progress-bar.js';

export interface ModelCommandOptions {
  stdout?: NodeJS.WritableStream;
  stderr?: ProgressStream;
  /** For tests, and for a program that brings its own models. */
  store?: EnsureModelOptions;
}

interface Flags {
  json?: boolean;
  folder?: string;
}

/** Actions throw WinnowError and may set `process.exitCode`; the caller's entry does the rest. */
export function modelCommand(options: ModelCommandOptions = {}): Command {
  const { stdout = process.stdout, stderr = process.stderr, store = {} } = options;
  const print = (flags: Flags, value: unknown, text: string) =>
    stdout.write(`${flags.json ? JSON.stringify(value, null, 2) : text}\n`);

  const command = new Command('model').description('fetch, list and check the files of the embedded model');

  subcommand(command, 'pull [name]', 'fetch a model, or continue to; prints its path').action(
    async (name: string | undefined, flags: Flags) => {
      const bar = createProgressBar(name ?? 'model', stderr);
      try {
        const onProgress = bar.update;
        const stored = await ensureModel({ ...store, ...withFolder(flags), name, onProgress, onNotice: bar.note });
        print(flags, stored, stored.path);
      } finally {
        bar.stop();
      }
    },
  );

  subcommand(command, 'list', 'the known models, and which of them are here').action(async (flags: Flags) => {
    const models = await listModels({ ...store, ...withFolder(flags) });
    print(flags, models, models.map(renderStatus).join('\n'));
  });

  subcommand(command, 'path [name]', 'the path of a model that is here').action(
    async (name: string | undefined, flags: Flags) => {
      const status = await findModelFile(name, { ...store, ...withFolder(flags) });
      print(flags, status, status.path);
    },
  );

  subcommand(command, 'verify [name]', 'hash a model that is here and compare').action(
    async (name: string | undefined, flags: Flags) => {
      const checked = await verifyModel(name, { ...store, ...withFolder(flags) });
      print(flags, checked, `${checked.path}: ${checked.ok ? 'ok' : checked.issue}`);
      if (checked.ok) return;
      stderr.write(`Fetch it anew with: winnow model pull ${checked.name}\n`);
      process.exitCode = ERROR_TABLE.model_unavailable.exitCode;
    },
  );

  return command;
}

function subcommand(parent: Command, name: string, description: string): Command {
  return parent
    .command(name)
    .description(description)
    .option('--json', 'print JSON')
    .option('--folder <folder>', "where model files lie (default: the user's cache folder, see WINNOW_CACHE)");
}

function withFolder({ folder }: Flags): { folder?: string } {
  return folder === undefined ? {} : { folder };
}

function renderStatus({ name, state, bytes, bytesOnDisk, licence, isDefault }: ModelStatus): string {
  const here = state === 'partial' ? `partial, ${formatBytes(bytesOnDisk)}` : state;
  return [name.padEnd(20), formatBytes(bytes).padStart(9), here, licence, ...(isDefault ? ['(default)'] : [])].join(
    '  ',
  );
}
