/**
 * A file that only grows. What was appended is with the system at once, and on the disk at the latest a second later and
 * when the file is closed: a kill takes nothing of it, a power loss at most the last second.
 */
import { closeSync, fdatasync, fdatasyncSync, openSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { WinnowError } from '../core/errors.js';
import { syncFolder } from './replace-file.js';

export interface DurableFile {
  /** @throws WinnowError `invalid_option` when the disk is full; `store_failed` when it could not keep what came before */
  append(text: string): void;
  /** When all that was appended before is on the disk. @throws WinnowError `store_failed` when the disk fails */
  synced(): Promise<void>;
  /** All is on the disk then, too. @throws WinnowError `store_failed` when the disk did not keep what came before */
  close(): void;
}

export interface DurableFileOptions {
  /** What was appended lies at most so long in the memory of the system. Default: 1,000. */
  everyMs?: number;
  /** Has the system write the file's data. Default: `fdatasync`. */
  sync?: (file: number) => Promise<void>;
}

/** Made where it is not there. @throws WinnowError `invalid_option` when it can't be opened */
export function openDurableFile(path: string, options: DurableFileOptions = {}): DurableFile {
  const { everyMs = 1_000, sync = promisify(fdatasync) } = options;
  const file = openForAppending(path);
  let written = 0;
  let onDisk = 0;
  let underWay: Promise<void> | undefined;
  let failure: WinnowError | undefined;
  let timer: NodeJS.Timeout | undefined;

  const syncOnce = async (): Promise<void> => {
    const upTo = written;
    try {
      await sync(file);
    } catch (cause) {
      if (isRefused(cause)) return;
      failure = new WinnowError('store_failed', `${path}: the disk does not keep what is written (${cause}).`, {
        cause,
      });
    } finally {
      onDisk = upTo;
      underWay = undefined;
    }
  };

  const synced = async (): Promise<void> => {
    const wanted = written;
    while (onDisk < wanted) {
      underWay ??= syncOnce();
      await underWay;
    }
    if (failure) throw failure;
  };

  return {
    append(text) {
      if (failure) throw failure;
      const bytes = Buffer.from(text);
      if (writeSync(file, bytes) !== bytes.length) {
        throw new WinnowError('invalid_option', `${path} can't be written whole: is the disk full?`);
      }
      written += 1;
      timer ??= setTimeout(() => {
        timer = undefined;
        // A failure is told by the next to append, to wait or to close.
        synced().catch(() => undefined);
      }, everyMs).unref();
    },
    synced,
    close() {
      clearTimeout(timer);
      try {
        fdatasyncSync(file);
      } catch (error) {
        if (!isRefused(error)) throw error;
      } finally {
        // The number of a file that is still being written must not be given to another one.
        if (underWay) void underWay.then(() => closeSync(file));
        else closeSync(file);
      }
      // A disk tells of a failure once: what is asked after it may look well.
      if (failure) throw failure;
    },
  };
}

function openForAppending(path: string): number {
  try {
    const file = openSync(path, 'a');
    syncFolder(dirname(path));
    return file;
  } catch (cause) {
    throw new WinnowError('invalid_option', `${path} can't be opened for writing.`, { cause });
  }
}

/** Some places, such as pipes and a few network file systems, know no such call: the system does what it does. */
function isRefused(error: unknown): boolean {
  return (
    error instanceof Error && 'code' in error && ['EINVAL', 'ENOTSUP', 'ENOSYS', 'EROFS'].includes(String(error.code))
  );
}
