/** One file is one model, wherever it lies and whenever it came there. */
import {
  closeSync,
  copyFileSync,
  mkdirSync,
  openSync,
  truncateSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { fileIdentity, isIdentityOf } from '../../../../src/core/model/embedded/file-identity.js';
import { temporaryFolder } from '../../../support/temporary-folder.js';

const MIB = 1024 ** 2;
const folder = temporaryFolder();

/** A file of zeros that takes no room on the disk. */
function aFile(size: number, place = 'here'): string {
  mkdirSync(join(folder, place), { recursive: true });
  const path = join(folder, place, 'weights.gguf');
  writeFileSync(path, '');
  truncateSync(path, size);
  return path;
}

function writeByte(path: string, at: number): void {
  const file = openSync(path, 'r+');
  writeSync(file, Buffer.from([1]), 0, 1, at);
  closeSync(file);
}

describe.each([7, 3 * MIB, 100 * MIB])('the identity of a file of %d bytes', (size) => {
  it('is its name, its size and 16 hex digits', () => {
    expect(fileIdentity(aFile(size))).toMatch(new RegExp(`^weights\\.gguf:${size}:[0-9a-f]{16}$`, 'u'));
  });

  it('is that of each copy, whenever it was made', () => {
    const path = aFile(size);
    mkdirSync(join(folder, 'there'), { recursive: true });
    const copy = join(folder, 'there', 'weights.gguf');
    copyFileSync(path, copy);
    utimesSync(copy, 1_000, 1_000);
    expect(fileIdentity(copy)).toBe(fileIdentity(path));
  });

  it.each([
    ['first', 0],
    ['last', size - 1],
  ])('is another where the %s byte is', (_, at) => {
    const path = aFile(size);
    const before = fileIdentity(path);
    writeByte(path, at);
    expect(fileIdentity(path)).not.toBe(before);
  });
});

describe('the identity of a large file', () => {
  it('is another where what lies between its ends is', () => {
    const path = aFile(100 * MIB);
    const before = fileIdentity(path);
    const file = openSync(path, 'r+');
    // So close together that every sample holds one.
    for (let at = 2 * MIB; at < 98 * MIB; at += 64 * 1024) writeSync(file, Buffer.from([at % 251]), 0, 1, at);
    closeSync(file);
    expect(fileIdentity(path)).not.toBe(before);
  });

  it('is known by the name and size that a list of models gives', () => {
    const id = fileIdentity(aFile(7));
    const fits = (file: string, bytes: number) => isIdentityOf(id, { file, bytes });
    expect([fits('weights.gguf', 7), fits('weights.gguf', 8), fits('other.gguf', 7)]).toEqual([true, false, false]);
    expect(isIdentityOf(`${id} + large`, { file: 'weights.gguf', bytes: 7 })).toBe(false);
  });
});
