/** Which weights a process loads, on a stand-in for the local runtime that tells of each. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { runCli } from './run-cli.js';

jest.setTimeout(60_000);

const LIBRARY = `
const tell = (text) => process.stderr.write(text + '\\n');
const context = { contextSize: 4096, totalSequences: 1, getSequence: () => ({ contextTokens: [] }) };
const model = { trainContextSize: 4096, createContext: async () => context, tokenize: (text) => [...text] };
export const LlamaLogLevel = { error: 'error' };
export const resolveChatWrapper = () => ({});
export const getModuleVersion = async () => '1';
export const getLlama = async () => ({
  llamaCppRelease: { release: 'b1' },
  loadModel: async () => (tell('loaded'), model),
  dispose: async () => tell('given back'),
});`;
const HOOKS = `export const resolve = (name, context, next) => name === 'node-llama-cpp'
  ? { url: new URL('library.mjs', import.meta.url).href, shortCircuit: true }
  : next(name, context);`;

let folder: string;
const at = (name: string) => join(folder, name);
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'winnow-weights-'));
  await writeFile(at('library.mjs'), LIBRARY);
  await writeFile(at('hooks.mjs'), HOOKS);
  await writeFile(
    at('preload.mjs'),
    `import { register } from 'node:module'; register('./hooks.mjs', import.meta.url);`,
  );
  for (const name of ['own.gguf', 'other.gguf']) await writeFile(at(name), '');
  await writeFile(at('tools.json'), JSON.stringify([{ name: 'read_level', toolType: 'builtin' }]));
});
afterAll(() => rm(folder, { recursive: true }));

/** Nothing is asked of a model: both are opened and closed. */
async function openedBy(planningModel: object) {
  const config = { catalog: ['tools.json'], model: { file: 'own.gguf' }, planningModel };
  await writeFile(at('winnow.yaml'), JSON.stringify(config));
  const env = { NODE_OPTIONS: `--import=${at('preload.mjs')}`, WINNOW_CACHE: at('cache') };
  const outcome = await runCli(['select', 'x', '--config', at('winnow.yaml')], { env });
  expect(outcome.exitCode).toBe(0);
  return outcome.stderr.trim().split('\n');
}

describe('the weights of the local model', () => {
  it('are loaded once for both stages, and what only an endpoint has is told to be without effect', async () => {
    expect(await openedBy({ temperature: 0.2 })).toEqual([
      'loaded',
      'Only an endpoint has temperature: without effect on the local model.',
      'given back',
    ]);
  });

  it.each([
    ['another file', { file: 'other.gguf' }],
    ['another context', { contextTokens: 2048 }],
    ['other threads', { threads: 1 }],
  ])('are loaded for each stage where planning has %s', async (_, planningModel) => {
    expect(await openedBy(planningModel)).toEqual(['loaded', 'loaded', 'given back', 'given back']);
  });
});
