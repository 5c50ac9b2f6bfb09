/** `winnow model`: the files of the embedded model. Data goes to stdout, progress and notices to stderr. */
import { Command } from 'commander';
import type { ModelFileFlags, ModelFileOutput } from './model-files.js';

/** Actions throw WinnowError and may set `process.exitCode`; the caller's entry does the rest. */
export function modelCommand(options: Partial<ModelFileOutput> = {}): Command {
  const output: ModelFileOutput = { stdout: process.stdout, stderr: process.stderr, store: {}, ...options };
  const command = new Command('model').description('fetch, list and check the files of the embedded model');
  subcommand(command, 'pull [name]', 'fetch a model, or continue to; prints its path').action(
    async (name: string | undefined, flags: ModelFileFlags) => {
      const { pullModel } = await import('./model-files.js');
      await pullModel(name, flags, output);
    },
  );
  subcommand(command, 'list', 'the known models, and which of them are here').action(async (flags: ModelFileFlags) => {
    const { printModels } = await import('./model-files.js');
    await printModels(flags, output);
  });
  subcommand(command, 'path [name]', 'the path of a model that is here').action(
    async (name: string | undefined, flags: ModelFileFlags) => {
      const { printModelPath } = await import('./model-files.js');
      await printModelPath(name, flags, output);
    },
  );
  subcommand(command, 'verify [name]', 'hash a model that is here and compare').action(
    async (name: string | undefined, flags: ModelFileFlags) => {
      const { checkModel } = await import('./model-files.js');
      await checkModel(name, flags, output);
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
