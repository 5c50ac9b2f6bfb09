/** Where an optional package is missing, what needs it says so, and all else works. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, jest } from '@jest/globals';
import { openStore } from '../../src/agents/store/open-store.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { runHere } from './run-here.js';
import { NO_MODEL, serve } from './serve-setup.js';

for (const name of ['bullmq', 'pg', 'prom-client'])
  jest.unstable_mockModule(name, () => {
    throw new Error(`Cannot find package '${name}' imported from here`);
  });

const QUEUE = ['--queue', 'redis://127.0.0.1:9', '--catalog', 'fixtures/catalogs/hydrology.json'];

describe('without the package', () => {
  it.each([
    ['eval', ['--cases', 'fixtures/cases/hydrology.jsonl', '--limit', '1']],
    ['worker', ['--base-url', 'http://127.0.0.1:9/v1', '--model', 'm']],
  ])('bullmq, winnow %s --queue says how to install it', async (name, words) => {
    const out = name === 'eval' ? ['--out', join(temporaryFolder(), 'run')] : [];
    const { error } = await runHere([name, ...QUEUE, ...words, ...out]);
    expect(error).toMatchObject({
      code: 'invalid_option',
      message: expect.stringMatching(/needs the package bullmq.*npm install bullmq ioredis/u),
    });
  });

  it('pg, a store with a URL says how to install it', async () => {
    await expect(openStore({ url: 'postgres://127.0.0.1:9/none' })).rejects.toMatchObject({
      code: 'invalid_option',
      message: expect.stringMatching(/needs the package pg.*npm install pg/u),
    });
  });

  it('prom-client, the server answers everything but its figures', async () => {
    const folder = temporaryFolder();
    await writeFile(join(folder, 'tools.json'), '[{"name":"greet","toolType":"builtin"}]');
    const { address, ask } = await serve('--catalog', join(folder, 'tools.json'), ...NO_MODEL);
    expect(await ask('POST /v1/sessions', {})).toMatchObject({ turn: 1 });
    const answer = await fetch(`${address}/metrics`);
    expect([answer.status, await answer.text()]).toEqual([404, expect.stringContaining('npm install prom-client')]);
  });
});
