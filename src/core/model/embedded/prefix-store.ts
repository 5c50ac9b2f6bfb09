/**
 * Saves evaluated prefixes on disk, so that a restart evaluates none again. A file is used only for the same model, runtime
 * and tokens, and gets its name only once it is complete: a wrong one could crash the runtime. The folder is limited in
 * size; the least recently used files are deleted first. Failures of the disk never fail a request. The folder also has the
 * readings: results for prompts that do not contain a request.
 */
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  closeSync,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  writeFileSync,
} from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { messageOf, orUndefined } from '../../errors.js';
import { keepLatest } from '../../kept.js';
import { MAX_READINGS, type Readings } from '../model.js';
import { parseJson } from '../structured.js';

export interface PrefixStoreOptions {
  folder: string;
  /** All that a state file depends on: model file, context size, version of the runtime. */
  identity: string;
  /** Limit of all files together; the latest one stays whatever its size. Default: 2 GiB. */
  maxBytes?: number;
  onWarning?: ((message: string) => void) | undefined;
}

export type PrefixStore = ReturnType<typeof createPrefixStore>;

export function createPrefixStore(options: PrefixStoreOptions) {
  const { folder, identity, maxBytes = 2 * 1024 ** 3, onWarning = () => {} } = options;
  const reported = new Set<string>();
  const warn = (what: string, error: unknown) => {
    if (!reported.has(what)) onWarning(`${what}: ${messageOf(error)}`);
    reported.add(what);
  };
  const pathOf = (tokens: readonly number[]) => {
    const hash = createHash('sha256')
      .update(identity)
      .update(Buffer.from(Int32Array.from(tokens).buffer));
    return join(folder, `${hash.digest('hex').slice(0, 32)}.state`);
  };
  return {
    /** Loads the prefix through `load(file)`; false when there is no usable one. */
    async load(tokens: readonly number[], load: (file: string) => Promise<void>): Promise<boolean> {
      const path = pathOf(tokens);
      if (!existsSync(path)) return false;
      try {
        await load(path);
        return true;
      } catch (error) {
        await rm(path, { force: true }).catch(() => undefined);
        warn(`the saved prefix ${path} is not used`, error);
        return false;
      }
    },
    /** Saves what `save(file)` writes. Reports a failure to `onWarning` and does not throw it. */
    async save(tokens: readonly number[], save: (file: string) => Promise<unknown>): Promise<void> {
      const path = pathOf(tokens);
      const draft = `${path}.${process.pid}.part`;
      try {
        await mkdir(folder, { recursive: true });
        await save(draft);
        const file = await open(draft, 'r+');
        await file.sync().finally(() => file.close());
        await rename(draft, path);
        await tidy(folder, maxBytes);
      } catch (error) {
        warn(`the prefix could not be saved in ${folder}`, error);
        // A draft that can't be deleted now is deleted later by `tidy`.
        await rm(draft, { force: true }).catch(() => undefined);
      }
    },
    /** Marks the prefix as recently used. Ignores a missing file and a read-only folder. */
    async touch(tokens: readonly number[]): Promise<void> {
      await utimes(pathOf(tokens), new Date(), new Date()).catch(() => undefined);
    },
  };
}

/** Deletes the oldest files until the others fit, including drafts of killed processes. */
async function tidy(folder: string, maxBytes: number): Promise<void> {
  const names = (await readdir(folder)).filter((name) => /\.(?:state|part|readings)$/u.test(name));
  const files = await Promise.all(
    names.map(async (name) => {
      const path = join(folder, name);
      // Another process may have deleted it since the folder was listed.
      const { size, mtimeMs } = (await stat(path).catch(() => undefined)) ?? { size: 0, mtimeMs: 0 };
      return { path, size, mtimeMs };
    }),
  );
  let room = maxBytes;
  for (const { path, size } of files.sort((one, other) => other.mtimeMs - one.mtimeMs)) {
    if (room < maxBytes && size > room) await rm(path, { force: true });
    room -= size;
  }
}

const SAMPLES = 32;
const SAMPLE_BYTES = 128 * 1024;

/**
 * Identifies a model file: `NAME:SIZE:FINGERPRINT`. The fingerprint is 16 hex digits of the SHA-256 of 32 blocks of
 * 128 KiB spread evenly, from the first byte to the last. Copies of a file have the same identity on every machine. This
 * takes milliseconds; hashing a whole GGUF file takes seconds.
 */
export function fileIdentity(path: string): string {
  const file = openSync(path, 'r');
  try {
    const { size } = fstatSync(file);
    const hash = createHash('sha256');
    const block = Buffer.alloc(SAMPLE_BYTES);
    for (let sample = 0; sample < SAMPLES; sample++) {
      const start = Math.floor((Math.max(0, size - SAMPLE_BYTES) * sample) / (SAMPLES - 1));
      hash.update(block.subarray(0, readSync(file, block, 0, SAMPLE_BYTES, start)));
    }
    return `${basename(path)}:${size}:${hash.digest('hex').slice(0, 16)}`;
  } finally {
    closeSync(file);
  }
}

/** About three times as many readings as are kept; of a larger file the latest stay. */
const MAX_BYTES = 16 * 1024 ** 2;

/**
 * Saves readings on disk, so that a new process computes none of them again. Each line has a key and its value; invalid
 * lines are ignored.
 * @param identity all that a reading depends on: model file, context size, version of the runtime */
export function createReadingStore({ folder, identity }: { folder: string; identity: string }): Readings {
  const name = createHash('sha256').update(identity).digest('hex').slice(0, 32);
  const file = join(folder, `${name}.readings`);
  let kept: Map<string, unknown> | undefined;
  /** Loaded on first use, since some ways of planning never need it. */
  const all = () => {
    kept ??= new Map(readLines(file));
    return kept;
  };
  return {
    get: (key) => all().get(key),
    set(key, value) {
      keepLatest(all(), [key, value], MAX_READINGS);
      // If the disk fails, this process still has the reading in memory.
      orUndefined(() => mkdirSync(folder, { recursive: true }));
      orUndefined(() => appendFileSync(file, lineOf([key, value]), { mode: 0o600 }));
    },
  };
}

function readLines(file: string): [string, unknown][] {
  const text = orUndefined(() => readFileSync(file, 'utf8')) ?? '';
  const latest = text.split('\n').slice(-MAX_READINGS).map(parseJson).filter(isEntry);
  if (text.length > MAX_BYTES) orUndefined(() => writeFileSync(file, latest.map(lineOf).join('')));
  return latest;
}

function lineOf(entry: readonly [string, unknown]): string {
  return `${JSON.stringify(entry)}\n`;
}

function isEntry(line: unknown): line is [string, unknown] {
  return Array.isArray(line) && line.length === 2 && typeof line[0] === 'string' && line[1] !== null;
}
