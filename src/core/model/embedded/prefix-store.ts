/**
 * Evaluated prefixes on disk, so that a restart reads no prefix twice. A file is used only when model, runtime and
 * tokens are the same and its checksum holds: a wrong one could crash the runtime. Bounded; what was not used for the
 * longest time goes first, and drafts that a killed process left behind. A disk that refuses costs the keeping, never
 * the request.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { messageOf } from '../../errors.js';

export interface PrefixStore {
  /** Loads the prefix through `load(file)`; false when there is none that can be trusted. */
  load(tokens: readonly number[], load: (file: string) => Promise<void>): Promise<boolean>;
  /** Saves what `save(file)` writes. A failure is told to `onWarning` and costs nothing but the saving. */
  save(tokens: readonly number[], save: (file: string) => Promise<unknown>): Promise<void>;
  /** The prefix is in use: others go first. One that is not there, or in a folder that can only be read, stays so. */
  touch(tokens: readonly number[]): Promise<void>;
}

export interface PrefixStoreOptions {
  folder: string;
  /** Whatever makes a state file unusable when it changes: model file, context size, version of the runtime. */
  identity: string;
  /** All states together; the one saved last stays whatever its size. Default: 2 GiB. */
  maxBytes?: number;
  /** Told each text once. */
  onWarning?: (message: string) => void;
}

const headerSchema = z.object({ bytes: z.int(), sha256: z.string() });
const DEFAULT_MAX_BYTES = 2 * 1024 ** 3;
/** Nobody writes for so long: a draft of this age is of a process that was killed. */
const ABANDONED_MS = 60 * 60 * 1000;

export function createPrefixStore(options: PrefixStoreOptions): PrefixStore {
  const { folder, identity, maxBytes = DEFAULT_MAX_BYTES, onWarning = () => {} } = options;
  const pathOf = (tokens: readonly number[]) => {
    const key = createHash('sha256')
      .update(identity)
      .update(Buffer.from(Int32Array.from(tokens).buffer))
      .digest('hex');
    return join(folder, key.slice(0, 32));
  };
  const told = new Set<string>();
  const warn = (message: string) => {
    if (!told.has(message)) onWarning(message);
    told.add(message);
  };
  const tidy = () =>
    removeAbandoned(folder).catch((error) => warn(`an old draft could not be removed: ${reasonOf(error)}`));
  return {
    async load(tokens, load) {
      await tidy();
      const path = pathOf(tokens);
      try {
        const header = await readHeader(path);
        if (!header) return false;
        const { size } = await stat(`${path}.state`);
        if (size !== header.bytes || (await sha256Of(`${path}.state`)) !== header.sha256)
          throw new Error('its checksum does not hold');
        await load(`${path}.state`);
      } catch (error) {
        const isGone = await remove(path).then(
          () => true,
          () => false,
        );
        const fate = isGone ? 'was thrown away' : "is not used, and can't be thrown away";
        warn(`the saved prefix ${path} ${fate}: ${reasonOf(error)}`);
        return false;
      }
      return true;
    },
    async save(tokens, save) {
      const path = pathOf(tokens);
      const draft = `${path}.${process.pid}.part`;
      try {
        await mkdir(folder, { recursive: true });
        await tidy();
        await save(draft);
        const { size } = await stat(draft);
        await writeFile(`${path}.json`, JSON.stringify({ bytes: size, sha256: await sha256Of(draft) }));
        await rename(draft, `${path}.state`);
        await removeOldest(folder, maxBytes);
      } catch (error) {
        warn(`the prefix could not be saved in ${folder}: ${reasonOf(error)}`);
        // What is left of it is abandoned, and goes with the next that is tidied up.
        await rm(draft, { force: true }).catch(() => undefined);
      }
    },
    async touch(tokens) {
      const now = new Date();
      await utimes(`${pathOf(tokens)}.state`, now, now).catch(() => undefined);
    },
  };
}

/** Undefined where nothing was saved. @throws Error for one that is there and is none */
async function readHeader(path: string): Promise<z.infer<typeof headerSchema> | undefined> {
  const text = await readFile(`${path}.json`, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  try {
    return headerSchema.parse(JSON.parse(text));
  } catch (cause) {
    throw new Error('its header is not of the form of one', { cause });
  }
}

async function remove(path: string): Promise<void> {
  await Promise.all([rm(`${path}.state`, { force: true }), rm(`${path}.json`, { force: true })]);
}

async function removeAbandoned(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  const drafts = names.filter((name) => name.endsWith('.part')).map((name) => join(folder, name));
  const abandonedBefore = Date.now() - ABANDONED_MS;
  for (const draft of drafts) if ((await facts(draft)).time < abandonedBefore) await rm(draft, { force: true });
}

async function removeOldest(folder: string, maxBytes: number): Promise<void> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.state'));
  const files = await Promise.all(names.map(async (name) => ({ name, ...(await facts(join(folder, name))) })));
  files.sort((a, b) => b.time - a.time);
  let total = 0;
  for (const [place, file] of files.entries()) {
    total += file.bytes;
    if (total > maxBytes && place > 0) await remove(join(folder, file.name.replace(/\.state$/u, '')));
  }
}

async function facts(path: string): Promise<{ bytes: number; time: number }> {
  // Another process may have taken it away since the folder was listed.
  const { size, mtimeMs } = (await stat(path).catch(() => undefined)) ?? { size: 0, mtimeMs: 0 };
  return { bytes: size, time: mtimeMs };
}

async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path, { highWaterMark: 1024 * 1024 }), hash);
  return hash.digest('hex');
}

/** Without the call and the file that Node adds, which differ each time. */
function reasonOf(error: unknown): string {
  return messageOf(error).replace(/, \w+ '.*$/su, '');
}
