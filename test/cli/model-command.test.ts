import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { modelCommand } from '../../src/cli/commands/model.js';
import { CONTENT, CONTENT_HASH, errorOf, FILE, fileHash, type Setup, setUp } from '../core/model/store/store-setup.js';
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

describe('winnow model list', () => {
  it('shows what is here', async () => {
    expect((await run('list')).stdout).toBe(`small                  180.0 kB  absent  Apache-2.0  ${setup.path}\n`);
    await run('pull');
    expect((await run('list')).stdout).toContain('present');
  });

  it('hashes what is here: a wrong file sets the exit code, and what to do is said', async () => {
    await writeFile(setup.path, Buffer.alloc(CONTENT.length, 'wrong'));
    const { stdout, stderr, exitCode } = await run('list', '--json');
    expect(JSON.parse(stdout)).toMatchObject([{ name: 'small', issue: expect.stringMatching(/^wrong checksum/u) }]);
    expect(stderr).toContain('winnow model pull');
    expect(exitCode).toBe(4);
    await writeFile(setup.path, CONTENT);
    expect(await run('list')).toMatchObject({ stdout: expect.stringContaining('present'), exitCode: 0 });
    expect(setup.hub.requests).toEqual([]);
  });

  it('prints JSON', async () => {
    const listed = JSON.parse((await run('list', '--json')).stdout);
    expect(listed).toMatchObject([{ name: 'small', state: 'absent', path: join(setup.folder, FILE) }]);
  });
});
