/** What is done with the files of the embedded model. */
import { ERROR_TABLE } from '../core/errors.js';
import { type EnsureModelOptions, ensureModel } from '../core/model/store/ensure-model.js';
import { formatBytes } from '../core/model/store/format-bytes.js';
import { findModelFile, listModels, type ModelStatus, verifyModel } from '../core/model/store/model-status.js';
import type { ProgressStream } from './bar.js';
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
  const models = await listModels(placesOf(flags, output));
  print(models, models.map(renderStatus).join('\n'), { flags, output });
}

export async function printModelPath(name: Name, flags: ModelFileFlags, output: ModelFileOutput): Promise<void> {
  const status = await findModelFile(name, placesOf(flags, output));
  print(status, status.path, { flags, output });
}

/** Sets `process.exitCode` where the file is not what it should be. */
export async function checkModel(name: Name, flags: ModelFileFlags, output: ModelFileOutput): Promise<void> {
  const checked = await verifyModel(name, placesOf(flags, output));
  print(checked, `${checked.path}: ${checked.ok ? 'ok' : checked.issue}`, { flags, output });
  if (checked.ok) return;
  output.stderr.write(`Fetch it anew with: winnow model pull ${checked.name}\n`);
  process.exitCode = ERROR_TABLE.model_unavailable.exitCode;
}

function print(value: unknown, text: string, to: { flags: ModelFileFlags; output: ModelFileOutput }): void {
  to.output.stdout.write(`${to.flags.json ? JSON.stringify(value, null, 2) : text}\n`);
}

function placesOf({ folder }: ModelFileFlags, { store }: ModelFileOutput): EnsureModelOptions {
  return folder === undefined ? store : { ...store, folder };
}

function renderStatus({ name, state, bytes, bytesOnDisk, licence, isDefault }: ModelStatus): string {
  const here = state === 'partial' ? `partial, ${formatBytes(bytesOnDisk)}` : state;
  return [name.padEnd(20), formatBytes(bytes).padStart(9), here, licence, ...(isDefault ? ['(default)'] : [])].join(
    '  ',
  );
}
