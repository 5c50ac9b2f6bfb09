/** `winnow model`: the file of the embedded model. Data goes to stdout, progress and notices to stderr. */
import type { Command } from 'commander';
import type { EnsureModelOptions } from '../../core/model/store/model-file.js';
import { command, group } from '../command.js';
import { JSON_OUTPUT } from '../flags.js';
import { print } from '../output.js';

/** @param store for tests, and for programs with their own models */
export function modelCommand(store: EnsureModelOptions = {}): Command {
  return group('model', 'the file of the embedded model, in the folder of WINNOW_CACHE', 'winnow model pull', [
    command({
      name: 'pull',
      words: '[name]',
      about: 'fetch a model, or continue to; prints its path',
      flags: JSON_OUTPUT,
      examples: ['winnow model pull'],
      async run([name], flags) {
        const { ensureModel } = await import('../../core/model/store/model-file.js');
        const { createDownloadLine } = await import('../progress.js');
        const bar = createDownloadLine(name ?? 'model', process.stderr);
        try {
          const stored = await ensureModel({ ...store, name, onProgress: bar.update, onNotice: bar.note });
          print(flags, { value: stored, text: stored.path });
        } finally {
          bar.stop();
        }
      },
    }),
  ]);
}
