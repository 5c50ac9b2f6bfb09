/** A file in place of another, whole or not at all, also after a power loss. */
import { closeSync, fsyncSync, openSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

export function replaceFile(path: string, text: string): void {
  const unfinished = `${path}.unfinished`;
  writeFileSync(unfinished, text);
  putInPlace(unfinished, path);
}

/** The same with what is written already. */
export function putInPlace(unfinished: string, path: string): void {
  syncPath(unfinished, 'r+');
  renameSync(unfinished, path);
  syncFolder(dirname(path));
}

/** That a folder holds a file of this name is kept apart from what is in the file. */
export function syncFolder(path: string): void {
  try {
    syncPath(path, 'r');
  } catch {
    // Not every system takes this for a folder: the name is then kept when the system comes to it.
  }
}

function syncPath(path: string, flags: 'r' | 'r+'): void {
  const opened = openSync(path, flags);
  try {
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
}
