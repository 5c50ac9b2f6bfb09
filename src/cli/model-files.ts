/** What is done with the files of the embedded model. */
import { ERROR_TABLE, WinnowError } from '../core/errors.js';
import {
  type EnsureModelOptions,
  ensureModel,
  formatBytes,
  locateModel,
  type ModelStatus,
  modelStatus,
  verify,
} from '../core/model/store/model-file.js';
import type { ProgressStream } from './bar.js';
import { printable, renderJson } from './printable.js';
import { createProgressBar } from './progress-bar.js';

export interface ModelFileOutput {
  stdout: NodeJS.WritableStream;
  stderr: ProgressStream;
  /** For tests, and for a program that brings its own models. */
  store: EnsureModelOptions;
}

export interface ModelFileFlags {
  json?: boolean;
  folder?: string;
}

type Name = string | undefined;

export async function pullModel(name: Name, flags: ModelFileFlags, output: ModelFileOutput): Promise<void> {
  const bar = createProgressBar(name ?? 'model', output.stderr);
  try {
    const places = placesOf(flags, output);
    const stored = await ensureModel({ ...places, name, onProgress: bar.update, onNotice: bar.note });
    print(stored, stored.path, { flags, output });
  } finally {
    bar.stop();
  }
}

export async function printModels(flags: ModelFileFlags, output: ModelFileOutput): Promise<void> {
  const models = [await modelStatus(placesOf(flags, output))];
  print(models, models.map(renderStatus).join('\n'), { flags, output });
}

export async function printModelPath(name: Name, flags: ModelFileFlags, output: ModelFileOutput): Promise<void> {
  const status = await findFile(name, flags, output);
  print(status, status.path, { flags, output });
}

/** Sets `process.exitCode` where the file is not what it should be. */
export async function checkModel(name: Name, flags: ModelFileFlags, output: ModelFileOutput): Promise<void> {
  const { name: found, path } = await findFile(name, flags, output);
  const issue = await verify(path, locateModel(placesOf(flags, output)).model);
  const ok = issue === undefined;
  print({ name: found, path, ok, issue: issue ?? '' }, `${path}: ${issue ?? 'ok'}`, { flags, output });
  if (ok) return;
  output.stderr.write(`Fetch it anew with: winnow model pull\n`);
  process.exitCode = ERROR_TABLE.model_unavailable.exitCode;
}

/** @throws WinnowError `not_found` when the name is unknown, or its file is not there whole */
async function findFile(name: Name, flags: ModelFileFlags, output: ModelFileOutput): Promise<ModelStatus> {
  const status = await modelStatus({ ...placesOf(flags, output), name });
  if (status.state === 'present') return status;
  const message = `The model ${status.name} is not at ${status.path} (${status.state}). Fetch it with: winnow model pull`;
  throw new WinnowError('not_found', message, {
    details: { model: status.name, path: status.path, state: status.state },
  });
}

function print(value: unknown, text: string, to: { flags: ModelFileFlags; output: ModelFileOutput }): void {
  to.output.stdout.write(`${to.flags.json ? renderJson(value) : printable(text)}\n`);
}

function placesOf({ folder }: ModelFileFlags, { store }: ModelFileOutput): EnsureModelOptions {
  return folder === undefined ? store : { ...store, folder };
}

function renderStatus({ name, state, bytes, bytesOnDisk, licence }: ModelStatus): string {
  const here = state === 'partial' ? `partial, ${formatBytes(bytesOnDisk)}` : state;
  return [name.padEnd(20), formatBytes(bytes).padStart(9), here, licence].join('  ');
}
