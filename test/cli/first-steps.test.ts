/** What a newcomer runs first: `winnow init` in a folder of their own, and `winnow doctor` where something fails. */
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadConfigFile } from '../../src/cli/config-file.js';
import { type ScriptedServer, startScriptedServer } from '../support/scripted-server.js';
import { answer, fail } from '../support/server-behaviours.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { runHere, textOf } from './run-here.js';

const home = process.cwd();
let folder: string;
const servers: ScriptedServer[] = [];
beforeEach(() => {
  folder = temporaryFolder();
  process.chdir(folder);
});
afterEach(async () => {
  process.chdir(home);
  delete process.env.WINNOW_TEST_KEY;
  for (const server of servers.splice(0)) await server.close();
});

async function write(path: string, content: unknown): Promise<void> {
  await mkdir(dirname(join(folder, path)), { recursive: true });
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
}
const TOOL = { name: 'read_level', toolType: 'builtin', risk: 'low', description: 'Reads.', inputSchema: {} };

describe('winnow init', () => {
  it('finds tools in each form, and nothing else', async () => {
    await write('mcp.json', { mcpServers: { a: { command: 'a' } } });
    await write('.vscode/mcp.json', { servers: { b: { url: 'https://b.example/mcp' } } });
    await write('claude_desktop_config.json', { mcpServers: { c: { command: 'c' } } });
    await write('api.yaml', 'info: { title: Pets }\nopenapi: 3.1.0\n');
    await write('openai.json', [{ type: 'function', function: { name: 'f', parameters: {} } }]);
    await write('anthropic.json', { tools: [{ name: 'g', input_schema: {} }] });
    await write('lines.jsonl', `${JSON.stringify(TOOL)}\n`);
    await write('skills/pdf/SKILL.md', '---\nname: pdf\n---\n');
    for (const name of ['package.json', 'tsconfig.json']) await write(name, { name: 'mine', servers: [] });
    await write('people.json', [{ name: 'ann' }]);
    await write('broken.json', '{');
    const text = await textOf(['init']);
    expect(text).toMatch(/^winnow\.yaml is written with\n(?: {2}\S+ {2}[\w ]+\n){8}Next: winnow doctor\n$/u);
    const { catalog } = await loadConfigFile(join(folder, 'winnow.yaml'));
    expect(catalog?.map((path) => path.slice(folder.length + 1))).toEqual([
      ...['anthropic.json', 'api.yaml', 'claude_desktop_config.json', 'lines.jsonl', 'mcp.json', 'openai.json'],
      ...['.vscode/mcp.json', 'skills'],
    ]);
  });

  it('writes what is taken with each of its comments as a key', async () => {
    expect(await textOf(['init'])).toContain('no tools were found here');
    const written = await readFile('winnow.yaml', 'utf8');
    expect(await loadConfigFile(join(folder, 'winnow.yaml'))).toEqual({});
    await write('all.yaml', written.replace(/^# (?=\s*-? ?[a-zA-Z]+:(?: |$)(?!.* .*\.$))/gmu, ''));
    const keys = ['catalog', 'model', 'options', 'policy', 'store', 'toolsModule', 'sandbox', 'auth'];
    expect(Object.keys(await loadConfigFile(join(folder, 'all.yaml'))).sort()).toEqual(keys.sort());
  });

  it('shows the name of a file as what it is, and so does what reads it', async () => {
    const name = 'a\u001b]0;title\u0007\u202egpj.json';
    await write(name, [TOOL]);
    const shown = String.raw`a\u{1b}]0;title\u{7}\u{202e}gpj.json`;
    expect(await textOf(['init'])).toContain(`  ${shown}  tools\n`);
    const { stdout, stderr } = await runHere(['tools', 'list']);
    expect(stderr).toContain(`Reading ${folder}/${shown}\n`);
    expect(stdout).toContain('read_level');
    expect((await runHere([name])).stderr).toContain(`unknown command '${shown}'`);
  });

  it('writes over nothing', async () => {
    await write('winnow.yaml', 'strict: true\n');
    const { error, exitCode } = await runHere(['init']);
    expect([String(error), exitCode]).toEqual([expect.stringContaining('is there already, and stays as it is'), 2]);
    expect(await readFile('winnow.yaml', 'utf8')).toBe('strict: true\n');
  });
});

describe('winnow doctor', () => {
  async function endpoint(behaviour = answer('pong')): Promise<{ baseUrl: string; name: string; apiKeyEnv: string }> {
    const server = await startScriptedServer(() => behaviour);
    servers.push(server);
    return { baseUrl: server.baseUrl, name: 'm', apiKeyEnv: 'WINNOW_TEST_KEY' };
  }
  const SECRET = 'secret-key-123';

  async function diagnose(config: object) {
    process.env.WINNOW_TEST_KEY ??= SECRET;
    await write('winnow.yaml', config);
    const { stdout, stderr, exitCode } = await runHere(['doctor', '--json']);
    expect(stdout + stderr).not.toContain(SECRET);
    const findings: { part: string; ok: boolean; text: string }[] = JSON.parse(stdout);
    const wrong = findings.filter(({ ok }) => !ok).map(({ part, text }) => `${part}: ${text}`);
    return { exitCode, wrong, parts: findings.map(({ part }) => part) };
  }

  it('says that all is well, and makes no store', async () => {
    await write('tools.json', [TOOL]);
    await write('tools.mjs', 'export const read_level = () => 1;');
    await write('policy.yaml', 'rules: [{ name: a, match: { tool: read_level }, decision: allow }]\n');
    const rest = { policy: 'policy.yaml', store: 'agents.db', toolsModule: 'tools.mjs' };
    const config = { catalog: ['tools.json'], model: await endpoint(), planningModel: await endpoint(), ...rest };
    const parts = [
      'configuration',
      'sources',
      'policy',
      'runnable tools',
      'other files',
      'store',
      'who may ask',
      'model',
    ];
    expect(await diagnose(config)).toEqual({ exitCode: 0, wrong: [], parts: [...parts, 'planning model'] });
    expect(existsSync('agents.db')).toBe(false);
    const text = await textOf(['doctor']);
    expect(text).toContain('ok     sources         1 tool of 1 source\n');
    expect(text).toMatch(/ok {5}model {11}m at http:\S+ answers\n/u);
  });

  it.each<[string, object, string]>([
    ['no tools', {}, 'sources: No tools are named. Give --catalog FILE'],
    ['a source that is not there', { catalog: ['none.json'] }, "none.json can't be found"],
    ['a policy that is not there', { policy: 'none.yaml' }, 'policy: '],
    ['a policy that names no tool', { policy: 'slip.yaml' }, 'rules "slip": matches no tool. See: winnow policy check'],
    ['a store in no folder', { store: 'none/agents.db' }, 'none/agents.db is not there: make it'],
    ['a path that holds a key', { store: 'secret-key-123/agents.db' }, '/[masked]/agents.db is not there: make it'],
    ['a module that is not there', { toolsModule: 'none.mjs' }, 'runnable tools: toolsModule: '],
    ['a module for threads that is not there', { workerModule: 'none.mjs' }, 'workerModule: there is no file'],
    ['a prompt that is not there', { prompts: { 'rerank-tools': 'none.md' } }, 'other files: The prompt file '],
    ['synonyms that are not there', { synonyms: 'none.json' }, 'other files: The synonyms of '],
    [
      'a second opinion without its key',
      { rerank: { enabled: true, model: { baseUrl: 'http://127.0.0.1:9/v1', name: 'm', apiKeyEnv: 'NO_SUCH' } } },
      'search model: rerank.model.apiKeyEnv: the environment variable NO_SUCH is not set.',
    ],
    ['no model file', { model: { file: 'none.gguf' } }, 'model: There is no model file '],
    [
      'a token that is not set',
      { auth: { tokens: [{ env: 'WINNOW_NO_SUCH_TOKEN', user: 'ann' }] } },
      'who may ask: auth.tokens[0].env: the environment variable WINNOW_NO_SUCH_TOKEN is not set.',
    ],
    [
      'keys of an issuer that nobody serves',
      { auth: { jwt: { issuer: 'i', audience: 'a', jwksUrl: 'http://127.0.0.1:9/jwks' } } },
      "who may ask: The keys of auth.jwt.jwksUrl can't be read (",
    ],
    ['a slip in the file', { sandbox: { timeoutMs: 'soon' } }, 'configuration: The configuration file winnow.yaml'],
  ])('says what to do about %s', async (_, config, text) => {
    await write('tools.json', [TOOL]);
    await write('slip.yaml', 'rules: [{ name: slip, match: { tool: read_levle }, decision: deny }]\n');
    const rest = 'catalog' in config || Object.keys(config).length === 0 ? {} : { catalog: ['tools.json'] };
    const { exitCode, wrong } = await diagnose({ model: await endpoint(), ...rest, ...config });
    expect([exitCode, wrong]).toEqual([1, [expect.stringContaining(text)]]);
  });

  it.each<[string, object, object, string]>([
    [
      'no server',
      {},
      {},
      'api.json" names no whole server URL (none): give its base URL under this name (http.servers',
    ],
    ['a server within another', { servers: [{ url: '/v1' }] }, {}, 'names no whole server URL (/v1)'],
    [
      'a credential that nobody configured',
      { servers: [{ url: 'https://192.0.9.1' }], security: [{ key: [] }] },
      {},
      'runnable tools: read_level and 1 other: The operation needs key; no variable is configured for it.',
    ],
    [
      'a private address',
      { servers: [{ url: 'http://localhost:9/v1' }] },
      {},
      'runnable tools: read_level and 1 other: The host localhost is not a public address. Whoever runs Winnow allows',
    ],
    [
      'a variable that is not set',
      { servers: [{ url: 'https://192.0.9.1' }], security: [{ key: [] }] },
      { http: { secrets: { 'https://192.0.9.1': { key: 'WINNOW_NO_SUCH' } } } },
      'runnable tools: the variable WINNOW_NO_SUCH is not set: calls of https://192.0.9.1 that need "key" fail',
    ],
  ])('says before a call that an API can not be called, by %s', async (_, document, config, text) => {
    const operations = { get: { operationId: 'readLevel' }, put: { operationId: 'writeLevel' } };
    const components = { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-Key' } } };
    await write('api.json', { openapi: '3.1.0', paths: { '/level': operations }, components, ...document });
    const { exitCode, wrong } = await diagnose({ catalog: ['api.json'], model: await endpoint(), ...config });
    expect([exitCode, wrong]).toEqual([1, [expect.stringContaining(text)]]);
    const servers = { [join(folder, 'api.json')]: 'http://127.0.0.1:9' };
    const http = { servers, secrets: { 'http://127.0.0.1:9': { key: 'WINNOW_TEST_KEY' } } };
    const mended = { catalog: ['api.json'], http: { ...http, privateAddresses: ['127.0.0.1'] } };
    expect(await diagnose({ ...mended, model: await endpoint() })).toMatchObject({ exitCode: 0, wrong: [] });
  });

  it('puts what a server writes before it ends on one line', async () => {
    const args = ['-e', String.raw`console.error('one\ntwo'); process.exit(3)`];
    await write('mcp.json', { mcpServers: { ends: { command: process.execPath, args } } });
    await write('winnow.yaml', { catalog: ['mcp.json'], model: await endpoint() });
    process.env.WINNOW_TEST_KEY = SECRET;
    expect((await runHere(['doctor'])).stdout).toMatch(/^wrong {2}sources .*one two/mu);
  });

  it('tells a model that refuses, without the key that the server quotes', async () => {
    await write('tools.json', [TOOL]);
    const model = await endpoint(fail(401, `Incorrect API key provided: ${SECRET}`));
    const { exitCode, wrong } = await diagnose({ catalog: ['tools.json'], model });
    expect([exitCode, wrong]).toEqual([1, [expect.stringMatching(/^model: The model does not answer: .*Incorrect/u)]]);
  });
});
