import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Command } from 'commander';
import { modelSettings } from '../../src/cli/model-settings.js';
import { readConfig } from '../../src/cli/read-config.js';
import { setUp } from '../../src/cli/set-up.js';
import { addSharedOptions, assign, type SharedFlags } from '../../src/cli/shared-options.js';

const VARIABLES = [
  'WINNOW_BASE_URL',
  'WINNOW_MODEL',
  'WINNOW_CONFIG',
  'WINNOW_API_KEY',
  'WINNOW_LOG_LEVEL',
  'WINNOW_MODEL_FILE',
  'WINNOW_TEST_KEY',
];
const saved = VARIABLES.map((name) => [name, process.env[name]] as const);
let folder: string;
beforeEach(async () => {
  for (const name of VARIABLES) delete process.env[name];
  folder = await mkdtemp(join(tmpdir(), 'winnow-flags-'));
  const tool = (index: number) => ({ name: `tool_${index}`, toolType: 'builtin', description: 'Does things.' });
  await writeFile(join(folder, 'tools.json'), JSON.stringify(Array.from({ length: 20 }, (_, index) => tool(index))));
});
afterEach(async () => {
  for (const [name, value] of saved) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
  await rm(folder, { recursive: true });
});

const writeConfig = async (text: string): Promise<string> => {
  const path = join(folder, 'winnow.yaml');
  await writeFile(path, text);
  return path;
};
const open = (flags: SharedFlags) =>
  setUp({ catalog: [join(folder, 'tools.json')], ...flags }, { stderr: process.stderr });
const parse = (...words: string[]): SharedFlags =>
  addSharedOptions(new Command()).exitOverride().parse(words, { from: 'user' }).opts();

describe('assign', () => {
  it.each([
    ['answer=list', { answer: 'list' }],
    ['fillTokens=0', { fillTokens: 0 }],
    ['defaults=on', { defaults: true }],
    ['defaults=off', { defaults: false }],
    ['defaults=true', { defaults: true }],
    ['defaults=false', { defaults: false }],
    ['maxTools=12', { maxTools: 12 }],
    ['clarifyBelow=0.65', { clarifyBelow: 0.65 }],
    ['maxTools=-1', { maxTools: -1 }],
    ['repair=a=b.md', { repair: 'a=b.md' }],
    [' answer = rank ', { answer: 'rank' }],
    ['empty=', { empty: '' }],
    ['word=1e3', { word: '1e3' }],
  ])('reads %s', (text, value) => {
    expect(assign(text, undefined)).toEqual(value);
  });

  it('adds to what was given before, and the last word counts', () => {
    expect(assign('b=2', assign('a=1', { b: 1 }))).toEqual({ a: 1, b: 2 });
  });

  it.each(['answer', '=list', ''])('refuses "%s"', (text) => {
    expect(() => assign(text, undefined)).toThrow('write it as name=value.');
  });
});

describe('the flags', () => {
  it('may be repeated where they name several things', () => {
    expect(
      parse('--catalog', 'a', '--catalog', 'b', '--set', 'x=1', '--set', 'y=off', '--prompt', 'repair=r.md'),
    ).toEqual({
      catalog: ['a', 'b'],
      set: { x: 1, y: false },
      prompt: { repair: 'r.md' },
    });
  });

  it('leave out what is not said, so that the environment and the file can say it', () => {
    expect(parse()).toEqual({});
  });
});

describe('the model', () => {
  const FILE = 'model:\n  baseUrl: http://127.0.0.1:3/v1\n  name: of-file\n';

  it.each<[string, SharedFlags, Record<string, string>, string, string]>([
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
    const { baseUrl } = modelSettings(flags, setup.config);
    expect(`${setup.model.id}@${baseUrl}`).toBe(id);
    await setup.close();
  });

  it.each<[string, SharedFlags, Record<string, string>]>([
    ['the environment, over an endpoint in the configuration file', {}, { WINNOW_MODEL_FILE: 'own.gguf' }],
    [
      'a flag, over an endpoint in the environment',
      { modelFile: 'own.gguf' },
      { WINNOW_BASE_URL: 'http://127.0.0.1:2/v1' },
    ],
  ])('is a file of one’s own by %s', (_, flags, environment) => {
    Object.assign(process.env, environment);
    expect(modelSettings(flags, { model: { baseUrl: 'http://127.0.0.1:3/v1' } })).toMatchObject({
      modelFile: 'own.gguf',
      baseUrl: undefined,
    });
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
    expect(modelSettings({}, await readConfig({ config }))).toEqual({
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
  const modeOf = async (flags: SharedFlags, file: string) => {
    const setup = await open({ ...remote, config: await writeConfig(file), ...flags });
    const { mode, tools } = await setup.planner.select({ message: 'do things' });
    await setup.close();
    return `${mode} ${tools.length}`;
  };

  it.each<[string, SharedFlags, string, string]>([
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

  it('of the file is blamed on the file, and the environment wins over it', async () => {
    const config = await writeConfig('logLevel: loud\nmodel: {baseUrl: "http://127.0.0.1:3/v1", name: m}\n');
    await expect(open({ config })).rejects.toMatchObject({
      code: 'invalid_option',
      message: expect.stringMatching(/^logLevel of the configuration file: "loud" is none of/u),
    });
    process.env.WINNOW_LOG_LEVEL = 'error';
    const setup = await open({ config });
    expect(setup.logger.level).toBe('error');
    await setup.close();
  });
});
