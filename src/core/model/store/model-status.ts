/** What of the manifest is in the folder, without fetching anything. */
import { join } from 'node:path';
import { WinnowError } from '../../errors.js';
import { modelFolder } from './cache-folder.js';
import { findModel, MODELS, type ModelEntry } from './manifest.js';
import { toStoreError } from './store-error.js';
import { checkFile, isVerified, statOf } from './verify.js';

export interface StatusOptions {
  /** Default: `models` in the user's cache folder of Winnow. */
  folder?: string | undefined;
  /** Default: MODELS. */
  models?: readonly ModelEntry[] | undefined;
  signal?: AbortSignal | undefined;
}

export interface ModelStatus {
  name: string;
  isDefault: boolean;
  /** `unverified`: a file is there, and has to be hashed before its first use. `partial`: a download has begun. */
  state: 'verified' | 'unverified' | 'partial' | 'absent';
  path: string;
  /** Of the whole file. */
  bytes: number;
  bytesOnDisk: number;
  sha256: string;
  licence: string;
}

export async function listModels(options: StatusOptions = {}): Promise<ModelStatus[]> {
  const { folder = modelFolder(), models = MODELS } = options;
  return Promise.all(models.map((model) => statusOf(model, folder, model === models[0])));
}

/** @throws WinnowError `not_found` when the name is unknown, or its file is not there whole. */
export async function findModelFile(name: string | undefined, options: StatusOptions = {}): Promise<ModelStatus> {
  const { folder = modelFolder(), models = MODELS } = options;
  const model = findModel(name, models);
  const status = await statusOf(model, folder, model === models[0]);
  if (status.state === 'verified' || status.state === 'unverified') return status;
  throw new WinnowError(
    'not_found',
    `The model ${model.name} is not in ${folder} (${status.state}). Fetch it with: winnow model pull ${model.name}`,
    { details: { model: model.name, folder, state: status.state } },
  );
}

export interface ModelVerification {
  name: string;
  path: string;
  ok: boolean;
  /** What is wrong; empty when it is ok. */
  issue: string;
}

/** Hashes the whole file; takes nothing away but the mark that it was verified. Errors as for `findModelFile`. */
export async function verifyModel(name: string | undefined, options: StatusOptions = {}): Promise<ModelVerification> {
  const { path, ...status } = await findModelFile(name, options);
  try {
    const check = await checkFile(path, findModel(name, options.models), options.signal);
    return { name: status.name, path, ok: check.ok, issue: check.ok ? '' : check.issue };
  } catch (error) {
    throw toStoreError(error, path);
  }
}

async function statusOf(model: ModelEntry, folder: string, isDefault: boolean): Promise<ModelStatus> {
  const path = join(folder, model.file);
  const whole = (await statOf(path))?.size;
  const part = (await statOf(`${path}.part`))?.size;
  const { name, bytes, sha256, licence } = model;
  return {
    name,
    isDefault,
    state: await stateOf({ path, model, whole, part }),
    path,
    bytes,
    bytesOnDisk: whole ?? part ?? 0,
    sha256,
    licence,
  };
}

async function stateOf(found: {
  path: string;
  model: ModelEntry;
  whole: number | undefined;
  part: number | undefined;
}): Promise<ModelStatus['state']> {
  if (found.whole === undefined) return found.part === undefined ? 'absent' : 'partial';
  return (await isVerified(found.path, found.model)) ? 'verified' : 'unverified';
}
