/** Where settings come from: flags, the environment, the configuration file. */

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ConfigFile } from '../../src/cli/config-file.js';
import type { ConfigFlags } from '../../src/cli/flags.js';
import { configuredSecrets, modelSettings, planningModelSettings } from '../../src/cli/model-settings.js';
import { readConfig, withFlags } from '../../src/cli/read-config.js';
import { setUp } from '../../src/cli/set-up.js';
import { DEFAULT_MODEL } from '../../src/core/model/store/sources.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const VARIABLES = [
  'WINNOW_BASE_URL',
  'WINNOW_MODEL',
  'WINNOW_CONFIG',
  'WINNOW_API_KEY',
  'WINNOW_LOG_LEVEL',
  'WINNOW_MODEL_FILE',
  'WINNOW_TEST_KEY',
  'OPENAI_API_KEY',
];
const saved = VARIABLES.map((name) => [name, process.env[name]] as const);
let folder: string;
beforeEach(async () => {
  for (const name of VARIABLES) delete process.env[name];
  folder = temporaryFolder();
  const tool = (index: number) => ({ name: `tool_${index}`, toolType: 'builtin', description: 'Does things.' });
  await writeFile(join(folder, 'tools.json'), JSON.stringify(Array.from({ length: 20 }, (_, index) => tool(index))));
});
afterEach(async () => {
  for (const [name, value] of saved) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
});

const writeConfig = async (text: string): Promise<string> => {
  const path = join(folder, 'winnow.yaml');
  await writeFile(path, text);
  return path;
};
/** Of the model of selection. */
const settingsOf = async (flags: ConfigFlags, file: ConfigFile) => modelSettings(await withFlags(file, flags));
const open = (flags: ConfigFlags) =>
  setUp({ catalog: [join(folder, 'tools.json')], ...flags }, { stderr: process.stderr });

describe('the model', () => {
  const FILE = 'model:\n  baseUrl: http://127.0.0.1:3/v1\n  name: of-file\n';

  it.each<[string, ConfigFlags, Record<string, string>, string, string]>([
    ['the configuration file', {}, {}, FILE, 'of-file@http://127.0.0.1:3/v1'],
    [
      'the environment over the file',
      {},
      { WINNOW_BASE_URL: 'http://127.0.0.1:2/v1', WINNOW_MODEL: 'of-environment' },
      FILE,
      'of-environment@http://127.0.0.1:2/v1',
    ],
    [
      'the flags over both',
      { baseUrl: 'http://127.0.0.1:1/v1', model: 'of-flag' },
      { WINNOW_BASE_URL: 'http://127.0.0.1:2/v1', WINNOW_MODEL: 'of-environment' },
      FILE,
      'of-flag@http://127.0.0.1:1/v1',
    ],
    [
      'a part from each',
      { model: 'of-flag' },
      { WINNOW_BASE_URL: 'http://127.0.0.1:2/v1' },
      FILE,
      'of-flag@http://127.0.0.1:2/v1',
    ],
    [
      'an endpoint by flag over a file of one’s own in the environment',
      { baseUrl: 'http://127.0.0.1:1/v1', model: 'm' },
      { WINNOW_MODEL_FILE: 'none.gguf' },
      '',
      'm@http://127.0.0.1:1/v1',
    ],
  ])('comes from %s', async (_, flags, environment, file, id) => {
    Object.assign(process.env, environment);
    const setup = await open({ config: await writeConfig(file), ...flags });
    const { baseUrl } = modelSettings(setup.config);
    expect(`${setup.model.id}@${baseUrl}`).toBe(id);
    await setup.close();
  });

  it.each<[string, ConfigFlags, Record<string, string>]>([
    ['the environment, over an endpoint in the configuration file', {}, { WINNOW_MODEL_FILE: 'own.gguf' }],
    [
      'a flag, over an endpoint in the environment',
      { set: { 'model.file': 'own.gguf' } },
      { WINNOW_BASE_URL: 'http://127.0.0.1:2/v1' },
    ],
  ])('is a file of one’s own by %s', async (_, flags, environment) => {
    Object.assign(process.env, environment);
    expect(await settingsOf(flags, { model: { baseUrl: 'http://127.0.0.1:3/v1' } })).toMatchObject({
      modelFile: 'own.gguf',
      baseUrl: undefined,
    });
  });

  it.each<[string, ConfigFlags, Record<string, string>, ConfigFile]>([
    ['flags', { baseUrl: 'http://127.0.0.1:1/v1', model: 'm', set: { 'model.file': 'o' } }, {}, {}],
    ['the environment', { model: 'm' }, { WINNOW_BASE_URL: 'http://a.example/v1', WINNOW_MODEL_FILE: 'o' }, {}],
    ['the file', {}, {}, { model: { baseUrl: 'http://127.0.0.1:3/v1', name: 'm', file: 'own.gguf' } }],
    ['its block for planning', {}, {}, { planningModel: { baseUrl: 'http://127.0.0.1:4/v1', name: 'm', file: 'o' } }],
  ])('is not both, an endpoint and a file: in %s', async (_, flags, environment, file) => {
    Object.assign(process.env, environment);
    const config = await withFlags(file, flags);
    const read = () => planningModelSettings(config, modelSettings(config));
    expect(read).toThrow(/endpoint and a file/u);
  });

  it('of the environment takes the place of both in the file', async () => {
    process.env.WINNOW_BASE_URL = 'http://127.0.0.1:2/v1';
    const { baseUrl, modelFile } = await settingsOf({ model: 'm' }, { model: { file: 'own.gguf' } });
    expect([baseUrl, modelFile]).toEqual(['http://127.0.0.1:2/v1', undefined]);
  });

  it('at an endpoint needs a name, and the message tells how to give it', async () => {
    const error = await open({ baseUrl: 'http://127.0.0.1:1/v1' }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'invalid_option', message: expect.stringMatching(/--model|WINNOW_MODEL/u) });
  });
});

describe('a block of the file', () => {
  it('says how the endpoint is asked, with headers that take their secrets from the environment', async () => {
    process.env.WINNOW_TEST_KEY = 's3';
    const config = await writeConfig(
      [
        'model:',
        '  baseUrl: http://127.0.0.1:3/v1',
        '  name: m',
        '  temperature: 0.5',
        '  maxRetries: 0',
        '  retryDelayMs: 10',
        '  timeoutMs: 1000',
        '  logprobs: true',
        '  headers: { x-team: blue, api-key: "${WINNOW_TEST_KEY}" }',
        '  extraBody: { seed: 1 }',
      ].join('\n'),
    );
    expect(modelSettings(await readConfig({ config }))).toEqual({
      ...{ baseUrl: 'http://127.0.0.1:3/v1', model: 'm', apiKey: undefined, callTimeoutMs: 1000 },
      ...{ temperature: 0.5, maxRetries: 0, retryDelayMs: 10, logprobs: true, extraBody: { seed: 1 } },
      headers: { 'x-team': 'blue', 'api-key': 's3' },
    });
    delete process.env.WINNOW_TEST_KEY;
    await expect(open({ config })).rejects.toMatchObject({
      code: 'invalid_option',
      message: expect.stringContaining('model.headers.api-key: the environment variable WINNOW_TEST_KEY'),
    });
  });
});

describe('the options of the planner', () => {
  const remote = { baseUrl: 'http://127.0.0.1:1/v1', model: 'm' };
  const modeOf = async (flags: ConfigFlags, file: string) => {
    const setup = await open({ ...remote, config: await writeConfig(file), ...flags });
    const { mode, tools } = await setup.planner.select({ message: 'do things' });
    await setup.close();
    return `${mode} ${tools.length}`;
  };

  it.each<[string, ConfigFlags, string, string]>([
    ['the file', {}, 'options:\n  passthroughTools: 20\n', 'passthrough 20'],
    ['a flag over the file', { set: { passthroughTools: 30 } }, 'options:\n  passthroughTools: 0\n', 'passthrough 20'],
    ['a flag beside the file', { set: { passthroughTools: 20 } }, 'options:\n  maxTools: 3\n', 'passthrough 20'],
  ])('come from %s', async (_, flags, file, outcome) => {
    expect(await modeOf(flags, file)).toBe(outcome);
  });

  it('are the defaults where neither says a word, not what the file leaves out', async () => {
    expect(await modeOf({}, 'options: {}\n')).toBe('passthrough 20');
  });
});

describe('the configuration file', () => {
  it('is found by the environment, and by a flag before that', async () => {
    process.env.WINNOW_CONFIG = join(folder, 'none.yaml');
    await expect(open({})).rejects.toMatchObject({
      code: 'invalid_option',
      message: expect.stringContaining('none.yaml'),
    });
    const config = await writeConfig('model: {baseUrl: "http://127.0.0.1:3/v1", name: m}\n');
    const setup = await open({ config });
    expect(setup.model.id).toBe('m');
    await setup.close();
  });

  it('names a catalogue beside itself, which a flag takes the place of', async () => {
    const config = await writeConfig('catalog: [tools.json]\nmodel: {baseUrl: "http://127.0.0.1:3/v1", name: m}\n');
    const setup = await setUp({ config }, { stderr: process.stderr });
    expect(setup).toMatchObject({ isExample: false, loaded: { catalog: { tools: { length: 20 } } } });
    await setup.close();
    const other = await setUp({ config, catalog: ['fixtures/catalogs/assistant.json'] }, { stderr: process.stderr });
    expect(other.loaded.catalog.name).toBe('assistant');
    await other.close();
  });

  it('names the variable of the key, which must be set', async () => {
    const config = await writeConfig(
      'model: {baseUrl: "http://127.0.0.1:3/v1", name: m, apiKeyEnv: WINNOW_NO_SUCH_KEY}\n',
    );
    await expect(open({ config })).rejects.toMatchObject({
      code: 'invalid_option',
      message: expect.stringContaining('WINNOW_NO_SUCH_KEY'),
    });
  });
});

describe('the log level', () => {
  it('of another word is refused with the words there are', async () => {
    process.env.WINNOW_LOG_LEVEL = 'loud';
    await expect(open({})).rejects.toMatchObject({
      code: 'invalid_option',
      message: expect.stringMatching(/^WINNOW_LOG_LEVEL: "loud" is none of .*debug/u),
    });
  });

  it('of the file is checked with the file, and the environment wins over it', async () => {
    const model = 'model: {baseUrl: "http://127.0.0.1:3/v1", name: m}';
    const wrong = open({ config: await writeConfig(`logLevel: loud\n${model}\n`) });
    await expect(wrong).rejects.toMatchObject({
      code: 'invalid_option',
      message: expect.stringMatching(/winnow\.yaml is not usable: logLevel: .*"debug"/u),
    });
    const config = await writeConfig(`logLevel: info\n${model}\n`);
    process.env.WINNOW_LOG_LEVEL = 'error';
    const setup = await open({ config });
    expect(setup.logger.level).toBe('error');
    await setup.close();
  });
});

describe('the key of the endpoint', () => {
  const FILE = { model: { baseUrl: 'http://127.0.0.1:3/v1', name: 'm', apiKeyEnv: 'WINNOW_TEST_KEY' } };

  it.each<[string, ConfigFlags, Record<string, string>, string | undefined]>([
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
      { set: { 'model.apiKeyEnv': 'WINNOW_BASE_URL' } },
      { WINNOW_API_KEY: 'e', WINNOW_TEST_KEY: 'f', WINNOW_BASE_URL: 'http://127.0.0.1:2/v1' },
      'http://127.0.0.1:2/v1',
    ],
    [
      'none of the file for an address by flag',
      { baseUrl: 'http://127.0.0.1:9/v1' },
      { WINNOW_TEST_KEY: 'f' },
      undefined,
    ],
    [
      'none of the file for an address of the environment',
      {},
      { WINNOW_BASE_URL: 'http://127.0.0.1:9/v1', WINNOW_TEST_KEY: 'f' },
      undefined,
    ],
    ['none for a local model, whatever the file names', { set: { 'model.file': 'own.gguf' } }, {}, undefined],
  ])('is %s', async (_, flags, environment, key) => {
    Object.assign(process.env, environment);
    expect((await settingsOf(flags, FILE)).apiKey).toBe(key);
  });

  it.each<[string, ConfigFlags]>([
    ['model.apiKeyEnv: the environment variable WINNOW_TEST_KEY', {}],
    [
      'model.apiKeyEnv: the environment variable WINNOW_NO_SUCH_KEY',
      { set: { 'model.apiKeyEnv': 'WINNOW_NO_SUCH_KEY' } },
    ],
  ])('is missed with the place that names it: %s', async (message, flags) => {
    await expect(settingsOf(flags, FILE)).rejects.toThrow(`${message} is not set.`);
  });
});

describe("a key of OpenAI's without an endpoint", () => {
  const THEIRS = { baseUrl: 'https://api.openai.com/v1', apiKey: 'sk-theirs' };

  it.each<[string, ConfigFlags, ConfigFile, object]>([
    ['means their address for a model of theirs', { model: 'gpt-4o-mini' }, {}, { ...THEIRS, model: 'gpt-4o-mini' }],
    ['means it for the model of the file', {}, { model: { name: 'gpt-4o' } }, { ...THEIRS, model: 'gpt-4o' }],
    ['means nothing without a model', {}, {}, { baseUrl: undefined }],
    ['means nothing for a model of the store', { model: DEFAULT_MODEL.name }, {}, { baseUrl: undefined }],
    ['means nothing for a file', { model: 'mine', set: { 'model.file': 'own.gguf' } }, {}, { baseUrl: undefined }],
    [
      'goes to no other endpoint',
      { model: 'gpt-4o-mini', baseUrl: 'http://127.0.0.1:3/v1' },
      {},
      { baseUrl: 'http://127.0.0.1:3/v1', apiKey: undefined },
    ],
  ])('%s', async (_, flags, file, expected) => {
    process.env.OPENAI_API_KEY = 'sk-theirs';
    expect(await settingsOf(flags, file)).toMatchObject(expected);
  });
});

it('knows every configured secret: each key, and each variable of a header', () => {
  Object.assign(process.env, { WINNOW_API_KEY: 'key-1', WINNOW_TEST_KEY: 'key-2', WINNOW_MODEL: 'no key' });
  const headers = { 'x-team': 'blue', authorization: 'Bearer ${WINNOW_TEST_KEY}' };
  expect(configuredSecrets({})).toEqual(['key-1']);
  expect(configuredSecrets({ rerank: { model: { headers } } })).toEqual(['key-1', 'key-2']);
  expect(configuredSecrets({ planningModel: { apiKeyEnv: 'WINNOW_TEST_KEY' } })).toEqual(['key-1', 'key-2']);
});

describe('the model of planning', () => {
  const SELECTION = { baseUrl: 'http://127.0.0.1:3/v1', model: 'small', apiKey: 'k', temperature: 0.2 };
  const LARGE = { baseUrl: 'http://127.0.0.1:4/v1', name: 'large' };

  it.each<[string, ConfigFile, ReturnType<typeof planningModelSettings>]>([
    ['no other one where nothing says so', {}, undefined],
    ['another one of the same endpoint', { planningModel: { name: 'large' } }, { ...SELECTION, model: 'large' }],
    [
      'the same one, asked in another way',
      { planningModel: { temperature: 0.7, timeoutMs: 9 } },
      { ...SELECTION, temperature: 0.7, callTimeoutMs: 9 },
    ],
    [
      'one of an endpoint of its own, without the key of the other',
      { planningModel: LARGE },
      { baseUrl: LARGE.baseUrl, model: 'large' },
    ],
    ['a file of one’s own', { planningModel: { file: 'own.gguf' } }, { modelFile: 'own.gguf' }],
    [
      'with the key that the block names, which is not that of selection',
      { planningModel: { ...LARGE, apiKeyEnv: 'WINNOW_TEST_KEY' } },
      { baseUrl: LARGE.baseUrl, model: 'large', apiKey: 'planning-key' },
    ],
  ])('is %s', (_, config, settings) => {
    process.env.WINNOW_TEST_KEY = 'planning-key';
    expect(planningModelSettings(config, SELECTION)).toEqual(settings);
  });

  it('of the local store takes the place of a file of one’s own', () => {
    const settings = planningModelSettings({ planningModel: { name: 'large' } }, { modelFile: 'own.gguf', threads: 2 });
    expect(settings).toEqual({ model: 'large', modelFile: undefined, threads: 2 });
  });

  it('at an endpoint needs a name, and the message tells how to give it', () => {
    const config = { planningModel: { baseUrl: 'http://127.0.0.1:5/v1' } };
    expect(() => planningModelSettings(config, SELECTION)).toThrow('planningModel.name');
  });
});
