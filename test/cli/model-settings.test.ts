import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { ConfigFile } from '../../src/cli/config-file.js';
import { configuredSecrets, modelSettings, planningModelSettings } from '../../src/cli/model-settings.js';
import type { SharedFlags } from '../../src/cli/shared-options.js';
import { DEFAULT_MODEL } from '../../src/core/model/store/sources.js';

const VARIABLES = [
  'WINNOW_BASE_URL',
  'WINNOW_MODEL',
  'WINNOW_API_KEY',
  'WINNOW_MODEL_FILE',
  'WINNOW_TEST_KEY',
  'OPENAI_API_KEY',
];
const saved = VARIABLES.map((name) => [name, process.env[name]] as const);
beforeEach(() => {
  for (const name of VARIABLES) delete process.env[name];
});
afterEach(() => {
  for (const [name, value] of saved) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
});

describe('the key of the endpoint', () => {
  const FILE = { model: { baseUrl: 'http://127.0.0.1:3/v1', name: 'm', apiKeyEnv: 'WINNOW_TEST_KEY' } };

  it.each<[string, SharedFlags, Record<string, string>, string | undefined]>([
    ['the variable that the file names', {}, { WINNOW_TEST_KEY: 'of-file' }, 'of-file'],
    ['the environment over the file', {}, { WINNOW_API_KEY: 'of-environment', WINNOW_TEST_KEY: 'f' }, 'of-environment'],
    [
      'the environment where the file names what is not set',
      {},
      { WINNOW_API_KEY: 'of-environment' },
      'of-environment',
    ],
    [
      'the variable that a flag names, over both',
      { apiKeyEnv: 'WINNOW_BASE_URL' },
      { WINNOW_API_KEY: 'e', WINNOW_TEST_KEY: 'f', WINNOW_BASE_URL: 'http://127.0.0.1:2/v1' },
      'http://127.0.0.1:2/v1',
    ],
    ['none for a local model, whatever the file names', { modelFile: 'own.gguf' }, {}, undefined],
  ])('is %s', (_, flags, environment, key) => {
    Object.assign(process.env, environment);
    expect(modelSettings(flags, FILE).apiKey).toBe(key);
  });

  it.each<[string, SharedFlags]>([
    ['model.apiKeyEnv: the environment variable WINNOW_TEST_KEY', {}],
    ['--api-key-env: the environment variable WINNOW_NO_SUCH_KEY', { apiKeyEnv: 'WINNOW_NO_SUCH_KEY' }],
  ])('is missed with the place that names it: %s', (message, flags) => {
    expect(() => modelSettings(flags, FILE)).toThrow(`${message} is not set.`);
  });
});

describe("a key of OpenAI's without an endpoint", () => {
  const THEIRS = { baseUrl: 'https://api.openai.com/v1', apiKey: 'sk-theirs' };

  it.each<[string, SharedFlags, ConfigFile, object]>([
    ['means their address for a model of theirs', { model: 'gpt-4o-mini' }, {}, { ...THEIRS, model: 'gpt-4o-mini' }],
    ['means it for the model of the file', {}, { model: { name: 'gpt-4o' } }, { ...THEIRS, model: 'gpt-4o' }],
    ['means nothing without a model', {}, {}, { baseUrl: undefined }],
    ['means nothing for a model of the store', { model: DEFAULT_MODEL.name }, {}, { baseUrl: undefined }],
    ['means nothing for a file', { model: 'mine', modelFile: 'own.gguf' }, {}, { baseUrl: undefined }],
    [
      'goes to no other endpoint',
      { model: 'gpt-4o-mini', baseUrl: 'http://127.0.0.1:3/v1' },
      {},
      { baseUrl: 'http://127.0.0.1:3/v1', apiKey: undefined },
    ],
  ])('%s', (_, flags, file, expected) => {
    process.env.OPENAI_API_KEY = 'sk-theirs';
    expect(modelSettings(flags, file)).toMatchObject(expected);
  });
});

it('knows every configured secret: each key, and each variable of a header', () => {
  Object.assign(process.env, { WINNOW_API_KEY: 'key-1', WINNOW_TEST_KEY: 'key-2', WINNOW_MODEL: 'no key' });
  const headers = { 'x-team': 'blue', authorization: 'Bearer ${WINNOW_TEST_KEY}' };
  expect(configuredSecrets({}, {})).toEqual(['key-1']);
  expect(configuredSecrets({ planningApiKeyEnv: 'WINNOW_TEST_KEY' }, {})).toEqual(['key-1', 'key-2']);
  expect(configuredSecrets({}, { rerank: { model: { headers } } })).toEqual(['key-1', 'key-2']);
  expect(configuredSecrets({}, { planningModel: { apiKeyEnv: 'WINNOW_TEST_KEY' } })).toEqual(['key-1', 'key-2']);
});

describe('the model of planning', () => {
  const SELECTION = { baseUrl: 'http://127.0.0.1:3/v1', model: 'small', apiKey: 'k', temperature: 0.2 };
  const LARGE = { baseUrl: 'http://127.0.0.1:4/v1', name: 'large' };

  it.each<[string, SharedFlags, ConfigFile, ReturnType<typeof planningModelSettings>]>([
    ['no other one where nothing says so', {}, {}, undefined],
    ['another one of the same endpoint, by flag', { planningModel: 'large' }, {}, { ...SELECTION, model: 'large' }],
    [
      'the same one, asked in another way, by the file',
      {},
      { planningModel: { temperature: 0.7, timeoutMs: 9 } },
      { ...SELECTION, temperature: 0.7, callTimeoutMs: 9 },
    ],
    [
      'one of an endpoint of its own, without the key of the other, by the file',
      {},
      { planningModel: LARGE },
      { baseUrl: LARGE.baseUrl, model: 'large' },
    ],
    [
      'a flag over the file',
      { planningModel: 'huge', planningBaseUrl: 'http://127.0.0.1:5/v1' },
      { planningModel: LARGE },
      { baseUrl: 'http://127.0.0.1:5/v1', model: 'huge' },
    ],
    [
      'a file of one’s own by flag, over an endpoint in the file',
      { planningModelFile: 'own.gguf' },
      { planningModel: LARGE },
      { model: 'large', modelFile: 'own.gguf' },
    ],
    [
      'with the key that a flag names',
      { planningApiKeyEnv: 'WINNOW_TEST_KEY' },
      { planningModel: LARGE },
      { baseUrl: LARGE.baseUrl, model: 'large', apiKey: 'planning-key' },
    ],
    [
      'with the key that the block names, which is not that of selection',
      {},
      { planningModel: { ...LARGE, apiKeyEnv: 'WINNOW_TEST_KEY' } },
      { baseUrl: LARGE.baseUrl, model: 'large', apiKey: 'planning-key' },
    ],
  ])('is %s', (_, flags, config, settings) => {
    process.env.WINNOW_TEST_KEY = 'planning-key';
    expect(planningModelSettings(flags, config, SELECTION)).toEqual(settings);
  });

  it('of the local store takes the place of a file of one’s own', () => {
    const settings = planningModelSettings({ planningModel: 'large' }, {}, { modelFile: 'own.gguf', threads: 2 });
    expect(settings).toEqual({ model: 'large', modelFile: undefined, threads: 2 });
  });

  it('at an endpoint needs a name, and the message tells how to give it', () => {
    const flags = { planningBaseUrl: 'http://127.0.0.1:5/v1' };
    expect(() => planningModelSettings(flags, {}, SELECTION)).toThrow('--planning-model or planningModel.name');
  });
});
