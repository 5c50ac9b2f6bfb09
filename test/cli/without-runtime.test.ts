/** A machine where the local runtime can't be loaded: an endpoint is all it needs, and who asks for more is told. */
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { ERROR_TABLE } from '../../src/core/errors.js';
import { startScriptedServer } from '../support/scripted-server.js';
import { answerJson } from '../support/server-behaviours.js';
import { runCli } from './run-cli.js';

jest.setTimeout(60_000);

let folder: string;
let cache: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'winnow-runtime-'));
  cache = join(folder, 'cache');
  const hooks = `export const resolve = (name, context, next) => {
    if (/^(@?node-llama-cpp)(\\/|$)/.test(name)) throw Object.assign(new Error('not here'), { code: 'ERR_MODULE_NOT_FOUND' });
    return next(name, context);
  };`;
  await writePreload('refuse', hooks);
  const library = `export const LlamaLogLevel = { error: 'error' };
  export const getLlama = async () => { throw new Error('no binary for this processor'); };`;
  await writeFile(join(folder, 'library.mjs'), library);
  await writePreload(
    'broken',
    `export const resolve = (name, context, next) => name === 'node-llama-cpp'
      ? { url: new URL('library.mjs', import.meta.url).href, shortCircuit: true }
      : next(name, context);`,
  );
  await writeFile(join(folder, 'tools.json'), JSON.stringify([{ name: 'read_level', toolType: 'builtin' }]));
});
afterAll(() => rm(folder, { recursive: true }));

/** A module that takes these hooks into a process. */
async function writePreload(name: string, hooks: string): Promise<void> {
  await writeFile(join(folder, `${name}.hooks.mjs`), hooks);
  const register = `import { register } from 'node:module'; register('./${name}.hooks.mjs', import.meta.url);`;
  await writeFile(join(folder, `${name}.mjs`), register);
}

const run = (...words: string[]) => runWith('refuse', words);

function runWith(preload: 'refuse' | 'broken', words: readonly string[]) {
  const env = { NODE_OPTIONS: `--import=${join(folder, `${preload}.mjs`)}`, WINNOW_CACHE: cache };
  return runCli(['plan', 'What is the level?', '--catalog', join(folder, 'tools.json'), ...words], { env });
}

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
    const outcome = await run('--model-file', file);
    expect(outcome).toMatchObject({ exitCode: ERROR_TABLE.model_unavailable.exitCode, stdout: '' });
    expect(outcome.stderr).toContain('The local runtime (package node-llama-cpp) is not installed here.');
    expect(outcome.stderr).toContain('--base-url URL --model NAME');
    expect(outcome.stderr).toContain('npm install node-llama-cpp');
  });

  it('that is told before a model is looked for, so that nothing is fetched in vain', async () => {
    const outcome = await run('--model', 'no-such-model');
    expect(outcome).toMatchObject({ exitCode: ERROR_TABLE.model_unavailable.exitCode, stdout: '' });
    expect(outcome.stderr).toContain('The local runtime (package node-llama-cpp) is not installed here.');
    await expect(readdir(cache)).rejects.toMatchObject({ code: 'ENOENT' });
  });
});

describe('with a local runtime that is installed but does not run here', () => {
  it('who asks for the local model is told why, and what to do', async () => {
    const file = join(folder, 'own.gguf');
    await writeFile(file, '');
    const outcome = await runWith('broken', ['--model-file', file]);
    expect(outcome).toMatchObject({ exitCode: ERROR_TABLE.model_unavailable.exitCode, stdout: '' });
    expect(outcome.stderr).toContain(`The local model ${file} can't be loaded: no binary for this processor.`);
    expect(outcome.stderr).toContain('--base-url URL --model NAME');
  });
});
