/** `winnow model`: the files of the embedded model. Data goes to stdout, progress and notices to stderr. */
import type { Command } from 'commander';
import { ERROR_TABLE } from '../../core/errors.js';
import type { EnsureModelOptions } from '../../core/model/store/model-file.js';
import { command, group } from '../command.js';
import { JSON_OUTPUT } from '../flags.js';
import { print } from '../output.js';

/** @param store for tests, and for programs with their own models */
export function modelCommand(store: EnsureModelOptions = {}): Command {
  return group(
    'model',
    'fetch and list the files of the embedded model, in the folder of WINNOW_CACHE',
    'winnow model pull',
    [
      command({
        name: 'pull',
        words: '[name]',
        about: 'fetch a model, or continue to; prints its path',
        flags: JSON_OUTPUT,
        examples: ['winnow model pull'],
        async run([name], flags) {
          const { ensureModel } = await import('../../core/model/store/model-file.js');
          const { createProgressBar } = await import('../progress.js');
          const bar = createProgressBar(name ?? 'model', process.stderr);
          try {
            const stored = await ensureModel({ ...store, name, onProgress: bar.update, onNotice: bar.note });
            print(flags, { value: stored, text: stored.path });
          } finally {
            bar.stop();
          }
        },
      }),
      command({
        name: 'list',
        about: 'the known models, which of them are here, whether they are whole, and where',
        flags: JSON_OUTPUT,
        examples: ['winnow model list'],
        async run(_, flags) {
          const { formatBytes, locateModel, modelStatus, verify } = await import(
            '../../core/model/store/model-file.js'
          );
          const status = await modelStatus(store);
          const { name, state, bytes, bytesOnDisk, licence, path } = status;
          const issue = state === 'present' ? await verify(path, locateModel(store).model) : undefined;
          const here = issue ?? (state === 'partial' ? `partial, ${formatBytes(bytesOnDisk)}` : state);
          const line = [name.padEnd(20), formatBytes(bytes).padStart(9), here, licence, path].join('  ');
          print(flags, { value: [{ ...status, ...(issue === undefined ? {} : { issue }) }], text: line });
          if (issue === undefined) return;
          process.stderr.write('Remove the file, and fetch it again with: winnow model pull\n');
          process.exitCode = ERROR_TABLE.model_unavailable.exitCode;
        },
      }),
    ],
  );
}
