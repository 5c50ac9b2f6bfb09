/** Which weights a process loads, on a stand-in for the local runtime that tells of each. */

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { ERROR_TABLE } from '../../src/core/errors.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { runHere } from './run-here.js';

const tell = (text: string) => process.stderr.write(`${text}\n`);
const context = { contextSize: 4096, totalSequences: 1, getSequence: () => ({ contextTokens: [] }) };
const model = { trainContextSize: 4096, createContext: async () => context, tokenize: (text: string) => [...text] };
const llama = {
  llamaCppRelease: { release: 'b1' },
  loadModel: async () => {
    tell('loaded');
    return model;
  },
  dispose: async () => tell('given back'),
};
let open = async () => llama;
vi.doMock('node-llama-cpp', () => ({
  LlamaLogLevel: { error: 'error' },
  resolveChatWrapper: () => ({}),
  getModuleVersion: async () => '1',
  getLlama: () => open(),
}));

let folder: string;
const at = (name: string) => join(folder, name);
beforeAll(async () => {
  folder = temporaryFolder();
  process.env.WINNOW_CACHE = at('cache');
  for (const name of ['own.gguf', 'other.gguf']) await writeFile(at(name), '');
  await writeFile(at('tools.json'), JSON.stringify([{ name: 'read_level', toolType: 'builtin' }]));
});
afterAll(async () => {
  delete process.env.WINNOW_CACHE;
  vi.doUnmock('node-llama-cpp');
});

/** Nothing is asked of a model: both are opened and closed. */
async function openedBy(planningModel: object) {
  const config = { catalog: ['tools.json'], model: { file: 'own.gguf' }, planningModel };
  await writeFile(at('winnow.yaml'), JSON.stringify(config));
  const { stderr, error } = await runHere(['select', 'x', '--config', at('winnow.yaml')]);
  expect(error).toBeUndefined();
  return stderr.trim().split('\n');
}

/** Where no terminal shows the stages. */
const PATIENCE = 'The local model reads the tools: the first request on a catalogue takes a minute or more.';

describe('the weights of the local model', () => {
  it('are loaded once for both stages, and what only an endpoint has is told to be without effect', async () => {
    expect(await openedBy({ temperature: 0.2 })).toEqual([
      'loaded',
      'Without effect on the local model: temperature.',
      PATIENCE,
      'given back',
    ]);
  });

  it.each([
    ['another file', { file: 'other.gguf' }],
    ['another context', { contextTokens: 2048 }],
    ['other threads', { threads: 1 }],
  ])('are loaded for each stage where planning has %s', async (_, planningModel) => {
    expect(await openedBy(planningModel)).toEqual(['loaded', 'loaded', PATIENCE, 'given back', 'given back']);
  });
});

it('a local runtime that is installed but does not run here is told, with why and what to do', async () => {
  const usual = open;
  open = () => Promise.reject(new Error('no binary for this processor'));
  const words = ['select', 'x', '--catalog', at('tools.json'), '--set', `model.file=${at('own.gguf')}`];
  const { exitCode, stdout, error } = await runHere(words);
  open = usual;
  expect({ exitCode, stdout }).toEqual({ exitCode: ERROR_TABLE.model_unavailable.exitCode, stdout: '' });
  expect(String(error)).toContain(`The local model ${at('own.gguf')} can't be loaded: no binary for this processor.`);
  expect(String(error)).toContain('--base-url URL --model NAME');
});
