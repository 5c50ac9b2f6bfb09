import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { loadConfigFile } from '../../src/cli/config-file.js';
import { readConfig } from '../../src/cli/read-config.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { textOf } from './run-here.js';

let folder: string;
beforeEach(() => {
  folder = temporaryFolder();
});

async function load(text: string, name = 'winnow.yaml') {
  await writeFile(join(folder, name), text);
  return loadConfigFile(join(folder, name));
}

describe('the configuration file of a command', () => {
  it('is `winnow.yaml` of the folder where none is named', async () => {
    const before = process.cwd();
    process.chdir(folder);
    const told = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    try {
      expect(await readConfig({})).toEqual({});
      await writeFile('winnow.yaml', 'strict: true\n');
      await writeFile('other.yaml', 'strict: false\n');
      expect(await readConfig({ config: 'other.yaml' })).toEqual({ strict: false });
      expect(told).not.toHaveBeenCalled();
      expect(await readConfig({})).toEqual({ strict: true });
      expect(told.mock.calls).toEqual([['Configuration: winnow.yaml of this folder.\n']]);
    } finally {
      told.mockRestore();
      process.chdir(before);
    }
  });
});

describe('a configuration file', () => {
  it.each([
    ['winnow.yaml', 'strict: true\noptions:\n  maxTools: 4\n'],
    ['winnow.json', '{"$schema": "winnow.schema.json", "strict": true, "options": {"maxTools": 4}}'],
  ])('may be %s', async (name, text) => {
    expect(await load(text, name)).toMatchObject({ strict: true, options: { maxTools: 4 } });
  });

  it.each(['', '# nothing\n', '{}'])('may hold nothing: %j', async (text) => {
    expect(await load(text)).toEqual({});
  });

  it('holds only the options that it names; defaults come later, so that flags can add to it', async () => {
    expect(await load('options:\n  answer: list\n')).toEqual({ options: { answer: 'list' } });
  });

  it('has paths from its own place, and leaves URLs, prefixes and absolute paths alone', async () => {
    const config = await load(
      [
        'catalog: [tools.json, ../up, /abs/tools.json, "https://example.org/tools.json", "openapi:api.yaml",',
        '  "openapi:https://example.org/api.yaml", "mcp:/abs/mcp.json"]',
        'model: {file: models/m.gguf}',
        'planningModel: {file: models/p.gguf}',
        'rerank: {enabled: true, model: {file: r.gguf}}',
        'prompts: {repair: repair.md}',
        'callLog: logs/calls.jsonl',
      ].join('\n'),
    );
    expect(config).toEqual({
      catalog: [
        join(folder, 'tools.json'),
        join(folder, '..', 'up'),
        '/abs/tools.json',
        'https://example.org/tools.json',
        `openapi:${join(folder, 'api.yaml')}`,
        'openapi:https://example.org/api.yaml',
        'mcp:/abs/mcp.json',
      ],
      model: { file: join(folder, 'models/m.gguf') },
      planningModel: { file: join(folder, 'models/p.gguf') },
      rerank: { enabled: true, model: { file: join(folder, 'r.gguf') } },
      prompts: { repair: join(folder, 'repair.md') },
      callLog: join(folder, 'logs/calls.jsonl'),
    });
  });

  it('names what agents need by paths from its own place, and a database by its URL', async () => {
    const text =
      'store: agents.db\npolicy: p.yaml\ntoolsModule: t.mjs\nworkerModule: w.mjs\nsandbox: { timeoutMs: 5 }\n';
    expect(await load(text)).toEqual({
      store: join(folder, 'agents.db'),
      policy: join(folder, 'p.yaml'),
      toolsModule: join(folder, 't.mjs'),
      workerModule: join(folder, 'w.mjs'),
      sandbox: { timeoutMs: 5 },
    });
    expect(await load('store: postgres://db.example.org/winnow\n')).toEqual({
      store: 'postgres://db.example.org/winnow',
    });
  });

  it('may turn the call log off', async () => {
    expect(await load('callLog: off\n')).toEqual({ callLog: 'off' });
    expect(await load('callLog: "off"\n')).toEqual({ callLog: 'off' });
  });

  it.each([
    ['an unknown key', 'catalogue: [a]\n', 'file: Unrecognized key "catalogue"; nearest: "catalog"'],
    ['an unknown key inside', 'model:\n  url: http://x\n', 'url'],
    ['an unknown option', 'options:\n  maxTool: 3\n', 'nearest: "maxTools"'],
    ['an option out of its bounds', 'options:\n  maxTools: 0\n', 'options.maxTools'],
    ['a text for a number', 'options:\n  maxTools: many\n', 'options.maxTools'],
    ['a key in the file', 'model:\n  apiKey: secret-123\n', 'apiKey'],
    ['a key for planning in the file', 'planningModel:\n  apiKey: secret-123\n', 'planningModel'],
    ['a temperature below nought', 'model:\n  temperature: -1\n', 'model.temperature'],
    ['an endpoint that is none', 'model:\n  baseUrl: here\n', 'model.baseUrl'],
    ['no catalogue', 'catalog: []\n', 'catalog'],
    ['one source without a list', 'catalog: tools.json\n', 'catalog: a list is expected'],
    ['a level that is none', 'logLevel: loud\n', 'logLevel: '],
    ['a slip in the sandbox', 'sandbox: { tools: { a: { timeoutMs: soon } } }\n', 'sandbox.tools.a.timeoutMs: '],
    [
      'a slip in a key of the sandbox',
      'sandbox: { timeOutMs: 5 }\n',
      'sandbox: Unrecognized key "timeOutMs"; nearest: ',
    ],
    ['a slip in the quotas', 'quotas: { session: 5 }\n', 'quotas: Unrecognized key "session"; nearest: "sessions"'],
    ['a slip in the retention', 'retention: { audit: never }\n', 'retention.audit: '],
    ['a slip in the sessions', 'sessions: { idleMinutes: 0 }\n', 'sessions.idleMinutes: '],
    ['a slip in the index', 'index: { snapshot: all }\n', 'index.snapshot: '],
    ['a slip in adaptation', 'adaptation: { enabled: 1 }\n', 'adaptation.enabled: '],
    ['a slip in the second opinion', 'rerank: { enable: true }\n', 'rerank: Unrecognized key "enable"; nearest: '],
    ['no time for a second opinion', 'rerank: { timeoutMs: 0 }\n', 'rerank.timeoutMs: '],
    ['a share above 1', 'rerank: { minConfidence: 1.5 }\n', 'rerank.minConfidence: '],
    ['a slip in who may ask', 'auth: { tokens: [{ env: A }] }\n', 'auth.tokens.0.user: '],
    ['a slip in OpenAPI tools', 'http: { hosts: [example] }\n', 'http.hosts.0: '],
    ['a slip in the server', 'server: { concurrency: 0 }\n', 'server.concurrency: '],
    ['a slip in MCP', 'mcp: { toolPrefix: w. }\n', 'mcp.toolPrefix: at most 32 letters'],
  ])('is refused with %s, naming file and key', async (_, text, key) => {
    const error = await load(text).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'invalid_option', message: expect.stringContaining('winnow.yaml') });
    expect(error).toMatchObject({ message: expect.stringContaining(key) });
    expect(String(error)).not.toContain('secret-123');
  });

  it.each([
    ['that is not there', undefined],
    ['that is no YAML', 'a: [1\n'],
  ])('%s is refused, naming the file', async (_, text) => {
    const loading = text === undefined ? loadConfigFile(join(folder, 'winnow.yaml')) : load(text);
    await expect(loading).rejects.toMatchObject({
      code: 'invalid_option',
      message: expect.stringContaining('winnow.yaml'),
    });
  });
});

describe('a file of tools in the place of the configuration', () => {
  it.each([
    ['a list', '- a\n'],
    ['MCP servers', '{"mcpServers": {}}'],
    ['an OpenAPI document', 'openapi: 3.1.0\n'],
  ])('is refused with the flag that takes it: %s', async (_, text) => {
    await expect(load(text)).rejects.toThrow(/winnow\.yaml holds tools, .*give it by --catalog/u);
  });
});

describe('the JSON Schema of the file', () => {
  it('describes each key, and gives each its default, in words or as a value', async () => {
    const text = await textOf(['config', 'keys']);
    const rows = [...text.matchAll(/^(\S+)( = \S+)? .*\n {4}(.*)$/gmu)].map(([, key = '', value, about = '']) => {
      return { key, value, about };
    });
    expect(rows.length).toBeGreaterThan(100);
    expect(rows.filter(({ about }) => about === '')).toEqual([]);
    expect(rows).toContainEqual(expect.objectContaining({ key: 'options.maxTools', value: ' = 8' }));
    const hasDefault = ({ key, value, about }: (typeof rows)[number]) =>
      value !== undefined || /default/iu.test(about) || WITHOUT.test(key);
    expect(rows.filter((row) => !hasDefault(row)).map(({ key }) => key)).toEqual([]);
  });

  it('is what an editor needs: known keys only, with ranges and choices', async () => {
    const schema = JSON.parse(await textOf(['config', 'keys', '--json']));
    expect(schema).toMatchObject({
      $schema: expect.stringContaining('json-schema.org'),
      additionalProperties: false,
      properties: {
        sandbox: { additionalProperties: false, properties: { timeoutMs: { type: 'integer', minimum: 1 } } },
        logLevel: { enum: expect.arrayContaining(['debug']) },
        catalog: { type: 'array', items: { type: 'string' } },
      },
    });
  });

  it('is shown for people, all of it or what has a word', async () => {
    const all = await textOf(['config', 'keys']);
    expect(all).toContain('options.maxTools = 8  integer\n    Most tools that selection passes to planning');
    expect(all).toContain('sourceTimeoutMs  integer\n    For one URL, ');
    const some = await textOf(['config', 'keys', 'quotas.']);
    expect(some.split('\n').filter((line) => line.startsWith('quotas.'))).toHaveLength(10);
    expect(some).not.toContain('sandbox');
    expect(await textOf(['config', 'keys', 'zzz'])).toBe('no key has "zzz"\n');
  });
});

/** What has none: who somebody is, which model, and keys that must be given. */
const WITHOUT = /^(?:auth\.|(?:planningModel|rerank\.model|model)\.name$|prompts\.|sandbox\.\w*[rR]ate\.)/u;
