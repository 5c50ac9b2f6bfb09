/**
 * By what a model file is known: its name, its size and samples of its content. So the copies of a file are one model on
 * every machine, and another file of the same name and size is, in practice, another.
 */
import { createHash } from 'node:crypto';
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { basename } from 'node:path';

const END_BYTES = 1024 ** 2;
const BLOCKS = 16;
const BLOCK_BYTES = 64 * 1024;
const SAMPLED_BYTES = 2 * END_BYTES + BLOCKS * BLOCK_BYTES;

/**
 * `NAME:SIZE:FINGERPRINT`. The fingerprint is 16 hex digits of the SHA-256 of the first and the last MiB and of 16 blocks
 * of 64 KiB spread evenly between, or of all of a small file: milliseconds, where a whole GGUF file takes seconds.
 */
export function fileIdentity(path: string): string {
  const file = openSync(path, 'r');
  try {
    const { size } = fstatSync(file);
    const hash = createHash('sha256');
    for (const [start, length] of samplesOf(size)) {
      const block = Buffer.alloc(length);
      hash.update(block.subarray(0, readSync(file, block, 0, length, start)));
    }
    return `${basename(path)}:${size}:${hash.digest('hex').slice(0, 16)}`;
  } finally {
    closeSync(file);
  }
}

function samplesOf(size: number): (readonly [start: number, length: number])[] {
  if (size <= SAMPLED_BYTES) return [[0, size]];
  const gap = (size - SAMPLED_BYTES) / (BLOCKS + 1);
  const blocks = Array.from({ length: BLOCKS }, (_, place) => {
    return [Math.floor(END_BYTES + gap + place * (BLOCK_BYTES + gap)), BLOCK_BYTES] as const;
  });
  return [[0, END_BYTES], ...blocks, [size - END_BYTES, END_BYTES]];
}

/** Whether an id is that of a file with this name and size, whatever its content. */
export function isIdentityOf(id: string, { file, bytes }: { file: string; bytes: number }): boolean {
  const start = `${file}:${bytes}:`;
  return id.startsWith(start) && /^[\da-f]{16}$/u.test(id.slice(start.length));
}
