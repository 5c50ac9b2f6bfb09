/** Where an optional package is missing, what needs it says so, and all else works. */
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { openRates } from '../../src/agents/rates/rate-limiter.js';
import { openStore } from '../../src/agents/store/open-store.js';
import { ERROR_TABLE } from '../../src/core/errors.js';
import { startScriptedServer } from '../support/scripted-server.js';
import { answerJson } from '../support/server-behaviours.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { runHere } from './run-here.js';
import { configured, NO_MODEL, serve } from './serve-setup.js';

const MISSING = ['bullmq', 'ioredis', 'pg', 'prom-client', '@fastify/swagger-ui', '@opentelemetry/sdk-trace-node'];
for (const name of MISSING)
  vi.doMock(name, () => notThere(new Error(`Cannot find package '${name}' imported from here`)));
afterAll(() => {
  for (const name of [...MISSING, 'node-llama-cpp']) vi.doUnmock(name);
});

/** A module whose import fails with just this error: one that is thrown here would be packed into another. */
function notThere(error: Error): object {
  const get = () => {
    throw error;
  };
  return new Proxy({}, { get });
}

const QUEUE = ['--queue', 'redis://127.0.0.1:9', '--suite', 'fixtures/hydrology'];

describe('without the package', () => {
  it.each([
    ['eval', ['--limit', '1']],
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

  it('ioredis, rates in a Redis say how to install it', async () => {
    await expect(openRates('redis://127.0.0.1:9', () => {})).rejects.toMatchObject({
      code: 'invalid_option',
      message: expect.stringMatching(/redis.* needs the package ioredis.*npm install ioredis/u),
    });
  });

  it('of OpenTelemetry, the server says how to install it, and answers without traces', async () => {
    const { log, ask } = await serve(...NO_MODEL, ...configured({ tracing: { endpoint: 'http://127.0.0.1:9' } }));
    expect(await ask('GET /v1/tools')).toMatchObject({ tools: expect.any(Array) });
    expect(log.text()).toMatch(/needs the package @opentelemetry\/sdk-trace-node.*npm install @opentelemetry/u);
  });

  it('prom-client and @fastify/swagger-ui, the server answers everything but its figures and its page', async () => {
    const folder = temporaryFolder();
    await writeFile(join(folder, 'tools.json'), '[{"name":"greet","toolType":"builtin"}]');
    const { address, ask } = await serve('--catalog', join(folder, 'tools.json'), ...NO_MODEL);
    expect(await ask('POST /v1/sessions', {})).toMatchObject({ turn: 1 });
    for (const [path, name] of [
      ['/metrics', 'prom-client'],
      ['/docs', '@fastify/swagger-ui'],
    ]) {
      const answer = await fetch(`${address}${path}`);
      expect([answer.status, await answer.text()]).toEqual([404, expect.stringContaining(`npm install ${name}`)]);
    }
  });
});

describe('the local runtime', () => {
  vi.doMock('node-llama-cpp', () => notThere(Object.assign(new Error('not here'), { code: 'ERR_MODULE_NOT_FOUND' })));

  let folder: string;
  let cache: string;
  beforeAll(async () => {
    folder = temporaryFolder();
    cache = join(folder, 'cache');
    process.env.WINNOW_CACHE = cache;
    await writeFile(join(folder, 'tools.json'), JSON.stringify([{ name: 'read_level', toolType: 'builtin' }]));
  });
  afterAll(async () => {
    delete process.env.WINNOW_CACHE;
  });

  const run = (...words: string[]) =>
    runHere(['plan', 'What is the level?', '--catalog', join(folder, 'tools.json'), ...words]);

  describe('without the local runtime', () => {
    it('an endpoint is used, and nothing local is loaded or fetched', async () => {
      const steps = [{ id: 's1', tool: 'read_level', arguments: {} }];
      const server = await startScriptedServer([answerJson({ kind: 'plan', steps })]);
      const outcome = await run('--base-url', server.baseUrl, '--model', 'm');
      await server.close();
      expect(outcome).toMatchObject({ exitCode: 0, stderr: '' });
      expect(outcome.stdout).toContain('s1  read_level');
      await expect(readdir(cache)).rejects.toMatchObject({ code: 'ENOENT' });
    });

    it('who asks for the local model is told what is missing, and what to do', async () => {
      const file = join(folder, 'own.gguf');
      await writeFile(file, '');
      const { exitCode, stdout, error } = await run('--set', `model.file=${file}`);
      expect({ exitCode, stdout }).toEqual({ exitCode: ERROR_TABLE.model_unavailable.exitCode, stdout: '' });
      expect(String(error)).toContain('The local runtime (package node-llama-cpp) is not installed here.');
      expect(String(error)).toContain('--base-url URL --model NAME');
      expect(String(error)).toContain('npm install node-llama-cpp');
    });

    it('so is who has an empty package in its place', async () => {
      vi.doMock('node-llama-cpp', () => ({ getLlama: undefined }));
      const { error } = await run('--set', `model.file=${join(folder, 'own.gguf')}`);
      expect(String(error)).toContain('The local runtime (package node-llama-cpp) is not installed here.');
    });

    it('that is told before a model is looked for, so that nothing is fetched in vain', async () => {
      const { exitCode, stdout, error } = await run('--model', 'no-such-model');
      expect({ exitCode, stdout }).toEqual({ exitCode: ERROR_TABLE.model_unavailable.exitCode, stdout: '' });
      expect(String(error)).toContain('The local runtime (package node-llama-cpp) is not installed here.');
      await expect(readdir(cache)).rejects.toMatchObject({ code: 'ENOENT' });
    });
  });
});
