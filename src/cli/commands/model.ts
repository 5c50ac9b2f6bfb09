/** `winnow model`: the files of the embedded model. Data goes to stdout, progress and notices to stderr. */
import type { Command } from 'commander';
import { ERROR_TABLE, WinnowError } from '../../core/errors.js';
import type { EnsureModelOptions, ModelStatus } from '../../core/model/store/model-file.js';
import { command, group } from '../command.js';
import { JSON_OUTPUT } from '../flags.js';
import { print } from '../output.js';

/** @param store for tests, and for a program that brings its own models */
export function modelCommand(store: EnsureModelOptions = {}): Command {
  return group(
    'model',
    'fetch, list and check the files of the embedded model, in the folder of WINNOW_CACHE',
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
        about: 'the known models, which of them are here, and where',
        flags: JSON_OUTPUT,
        examples: ['winnow model list'],
        async run(_, flags) {
          const { formatBytes, modelStatus } = await import('../../core/model/store/model-file.js');
          const status = await modelStatus(store);
          const { name, state, bytes, bytesOnDisk, licence, path } = status;
          const here = state === 'partial' ? `partial, ${formatBytes(bytesOnDisk)}` : state;
          const line = [name.padEnd(20), formatBytes(bytes).padStart(9), here, licence, path].join('  ');
          print(flags, { value: [status], text: line });
        },
      }),
      command({
        name: 'verify',
        words: '[name]',
        about: 'hash a model that is here and compare',
        flags: JSON_OUTPUT,
        examples: ['winnow model verify'],
        async run([name], flags) {
          const { locateModel, modelStatus, verify } = await import('../../core/model/store/model-file.js');
          const status = requirePresent(await modelStatus({ ...store, name }));
          const issue = await verify(status.path, locateModel(store).model);
          const value = { name: status.name, path: status.path, ok: issue === undefined, issue: issue ?? '' };
          print(flags, { value, text: `${status.path}: ${issue ?? 'ok'}` });
          if (issue === undefined) return;
          process.stderr.write('Fetch it anew with: winnow model pull\n');
          process.exitCode = ERROR_TABLE.model_unavailable.exitCode;
        },
      }),
    ],
  );
}

/** @throws WinnowError `not_found` when the file is not there whole */
function requirePresent(status: ModelStatus): ModelStatus {
  const { name: model, state, path } = status;
  if (state === 'present') return status;
  const message = `The model ${model} is not at ${path} (${state}). Fetch it with: winnow model pull`;
  throw new WinnowError('not_found', message, { details: { model, path, state } });
}
