/** Says that the disk is too small before a gigabyte has come, not after. */
import { statfs } from 'node:fs/promises';
import { WinnowError } from '../../errors.js';
import { formatBytes } from './format-bytes.js';
import { WAYS_OUT } from './store-error.js';

/** Bytes that this user may still write; undefined where the file system does not tell. */
export type FreeBytes = (folder: string) => Promise<number | undefined>;

export async function readFreeBytes(folder: string): Promise<number | undefined> {
  try {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize;
  } catch {
    return undefined;
  }
}

/** @throws WinnowError `model_unavailable` with both figures. */
export async function assertDiskSpace(folder: string, neededBytes: number, freeBytes: FreeBytes): Promise<void> {
  const free = await freeBytes(folder);
  if (free === undefined || free >= neededBytes) return;
  const figures = `${formatBytes(neededBytes)} are needed, ${formatBytes(free)} are free`;
  throw new WinnowError('model_unavailable', `Not enough disk space in ${folder}: ${figures}.`, {
    issues: [`Free some, or choose another folder with the variable WINNOW_CACHE: ${figures}.`, WAYS_OUT],
    details: { folder, neededBytes, freeBytes: free },
  });
}
