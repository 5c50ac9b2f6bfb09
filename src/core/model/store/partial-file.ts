/**
 * The beginning of a model file, hashed while it grows. Every source delivers the same bytes, so any of them
 * continues where another one, or an earlier run, has stopped; the checksum at the end decides.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { throwIfCancelled } from '../../errors.js';
import { toStoreError } from './store-error.js';

export interface PartialFile {
  readonly path: string;
  readonly bytes: number;
  /** @throws WinnowError `model_unavailable` when the disk is full or not writable. */
  append(chunk: Uint8Array): Promise<void>;
  startOver(): Promise<void>;
  /**
   * Of what is there now. Undefined when the file on the disk is not as long as what was written here:
   * somebody else has written to it.
   */
  sha256(): Promise<string | undefined>;
  /** Puts all on the disk and gives the file back; an empty one is removed. Idempotent. */
  close(): Promise<void>;
}

/** Opens or creates it, and hashes what an earlier run has left. */
export async function openPartialFile(path: string, signal?: AbortSignal | undefined): Promise<PartialFile> {
  const handle = await open(path, 'a');
  try {
    return await createPartialFile(path, handle, signal);
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function createPartialFile(
  path: string,
  handle: FileHandle,
  signal: AbortSignal | undefined,
): Promise<PartialFile> {
  let hash = createHash('sha256');
  let bytes = 0;
  let isOpen = true;
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 })) {
    throwIfCancelled(signal);
    hash.update(chunk);
    bytes += chunk.length;
  }
  return {
    path,
    get bytes() {
      return bytes;
    },
    async append(chunk) {
      try {
        await handle.appendFile(chunk);
      } catch (error) {
        throw toStoreError(error, dirname(path));
      }
      hash.update(chunk);
      bytes += chunk.length;
    },
    async startOver() {
      await handle.truncate(0);
      hash = createHash('sha256');
      bytes = 0;
    },
    async sha256() {
      return (await handle.stat()).size === bytes ? hash.copy().digest('hex') : undefined;
    },
    async close() {
      if (!isOpen) return;
      isOpen = false;
      await handle.sync();
      await handle.close();
      if (bytes === 0) await rm(path, { force: true });
    },
  };
}
