/** A folder of its own for a test, gone when all tests of the file have run. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

const folders = new Set<string>();

afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  folders.clear();
});

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'winnow-test-'));
  folders.add(folder);
  return folder;
}
