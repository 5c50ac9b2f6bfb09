import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Command } from 'commander';
import { adaptationCommand } from '../../src/cli/adaptation-command.js';
import { approvalsCommand } from '../../src/cli/approvals-command.js';
import { loadConfigFile } from '../../src/cli/config-file.js';
import { evalCommand } from '../../src/cli/eval-command.js';
import { indexCommand } from '../../src/cli/index-command.js';
import { mcpCommand } from '../../src/cli/mcp-command.js';
import { planCommand, selectCommand } from '../../src/cli/plan-command.js';
import { policyCommand } from '../../src/cli/policy-command.js';
import { privateToolsCommand } from '../../src/cli/private-tools-command.js';
import { readConfig } from '../../src/cli/read-config.js';
import { rulesCommand } from '../../src/cli/rules-command.js';
import { runCommand } from '../../src/cli/run-command.js';
import { serveCommand } from '../../src/cli/serve-command.js';
import { sessionsCommand } from '../../src/cli/sessions-command.js';
import { telemetryCommand } from '../../src/cli/telemetry-command.js';
import { toolsCommand } from '../../src/cli/tools-command.js';
import { tuneCommand } from '../../src/cli/tune-command.js';
import { workerCommand } from '../../src/cli/worker-command.js';

const EVERY_COMMAND = [
  ...[planCommand(), selectCommand(), runCommand(), serveCommand(), mcpCommand(), sessionsCommand(), evalCommand()],
  ...[approvalsCommand(), policyCommand(), toolsCommand(), indexCommand(), rulesCommand(), privateToolsCommand()],
  ...[adaptationCommand(), telemetryCommand(), tuneCommand(), workerCommand()],
];
const has = ({ options }: Command, flag: string) => options.some(({ short, long }) => flag === short || flag === long);
const namedCommands = (command: Command): [string, Command][] => [
  [command.name(), command],
  ...command.commands.flatMap(namedCommands),
];

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'winnow-config-'));
});
afterEach(() => rm(folder, { recursive: true }));

async function load(text: string, name = 'winnow.yaml') {
  await writeFile(join(folder, name), text);
  return loadConfigFile(join(folder, name));
}

describe('the configuration file of a command', () => {
  it('is `winnow.yaml` of the folder where none is named', async () => {
    const before = process.cwd();
    process.chdir(folder);
    try {
      expect(await readConfig({})).toEqual({});
      await writeFile('winnow.yaml', 'strict: true\n');
      await writeFile('other.yaml', 'strict: false\n');
      expect(await readConfig({})).toEqual({ strict: true });
      expect(await readConfig({ config: 'other.yaml' })).toEqual({ strict: false });
    } finally {
      process.chdir(before);
    }
  });

  it.each(EVERY_COMMAND.flatMap(namedCommands).filter(([, one]) => has(one, '--catalog')))(
    'has tools by -c in %s',
    (_, command) => expect(has(command, '-c')).toBe(true),
  );
});

describe('a configuration file', () => {
  it.each([
    ['winnow.yaml', 'strict: true\noptions:\n  maxTools: 4\n'],
    ['winnow.json', '{"strict": true, "options": {"maxTools": 4}}'],
  ])('may be %s', async (name, text) => {
    expect(await load(text, name)).toEqual({ strict: true, options: { maxTools: 4 } });
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
    ['a list for all', '- a\n', 'file'],
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
