import { writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { modelCommand } from '../../src/cli/commands/model.js';
import { CONTENT, CONTENT_HASH, errorOf, fileHash, type Setup, setUp } from '../core/model/store/store-setup.js';
import { type Printed, runHere } from './run-here.js';

let setup: Setup;
beforeEach(async () => {
  setup = await setUp();
});
afterEach(() => setup.close());

async function run(...words: string[]): Promise<Printed> {
  const printed = await runHere(words, modelCommand(setup.options));
  if (printed.error !== undefined) throw printed.error;
  return printed;
}

describe('winnow model pull', () => {
  it('fetches the default model, with its path alone on stdout and progress on stderr', async () => {
    const { stdout, stderr } = await run('pull');
    expect(stdout).toBe(`${setup.path}\n`);
    expect(stderr).toMatch(/100% {2}180\.0 kB of 180\.0 kB/);
    expect(await fileHash(setup.path)).toBe(CONTENT_HASH);
  });

  it('prints JSON, and notices on stderr', async () => {
    await writeFile(setup.path, 'wrong');
    const { stdout, stderr } = await run('pull', 'small', '--json');
    expect(JSON.parse(stdout)).toMatchObject({
      path: setup.path,
      name: 'small',
      sha256: CONTENT_HASH,
      bytes: CONTENT.length,
    });
    expect(stderr).toContain('the file is replaced');
  });

  it('throws for an unknown name', async () => {
    expect((await errorOf(run('pull', 'large'))).code).toBe('not_found');
  });
});
