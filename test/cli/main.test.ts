/** The command line as its users have it: a process with arguments, two streams and an exit code. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { ERROR_TABLE } from '../../src/errors.js';
import { resultSchema } from '../../src/result.js';
import { type ServerScript, type ScriptedServer, startScriptedServer } from '../support/scripted-server.js';
import { answer, answerJson, fail, hang } from '../support/server-behaviours.js';
import { runCli } from './run-cli.js';

jest.setTimeout(60_000);

const TOOLS = [
  { name: 'find_station', toolType: 'builtin', inputSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }, outputSchema: { type: 'object', properties: { stcd: { type: 'string' } } } },
  { name: 'read_level', toolType: 'builtin', inputSchema: { type: 'object', properties: { stcd: { type: 'string' } }, required: ['stcd'] } },
];
const PLAN = {
  kind: 'plan',
  steps: [
    { id: 's1', tool: 'find_station', arguments: { name: '盘石头水库' } },
    { id: 's2', tool: 'read_level', arguments: { stcd: '${s1.stcd}' } },
  ],
};

let folder: string;
let catalog: string;
const servers = new Set<ScriptedServer>();
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'winnow-cli-'));
  catalog = join(folder, 'tools.json');
  await writeFile(catalog, JSON.stringify(TOOLS));
  await writeFile(join(folder, 'wrong.json'), JSON.stringify([...TOOLS, { name: '__proto__' }]));
  await writeFile(join(folder, 'wrong.yaml'), 'options:\n  maxTools: many\n');
});
afterAll(() => rm(folder, { recursive: true }));
afterEach(async () => {
  for (const server of servers) await server.close();
  servers.clear();
});

async function serve(script: ServerScript): Promise<{ server: ScriptedServer; words: string[] }> {
  const server = await startScriptedServer(script);
  servers.add(server);
  return { server, words: ['--catalog', catalog, '--base-url', server.baseUrl, '--model', 'm'] };
}

describe('winnow plan', () => {
  it('prints the plan for people, and nothing else on stdout', async () => {
    const { words } = await serve([answerJson(PLAN)]);
    const { exitCode, stdout, stderr } = await runCli(['plan', '盘石头水库水位', ...words]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout).toContain('s1  find_station\n');
    expect(stdout).toContain('s2  read_level  after s1\n');
    expect(stdout).toContain('stcd: ${s1.stcd}');
    expect(stdout).not.toContain('\u001b');
  });

  it('prints the whole result as JSON, which the published schema takes', async () => {
    const { words } = await serve([answerJson(PLAN)]);
    const { exitCode, stdout } = await runCli(['plan', 'level', ...words, '--json']);
    expect(exitCode).toBe(0);
    expect(resultSchema.parse(JSON.parse(stdout))).toMatchObject({ kind: 'plan', levels: [['s1'], ['s2']] });
  });

  it('reads the request from stdin, and sends what is known with it', async () => {
    const { server, words } = await serve([answerJson({ kind: 'unplannable', reason: 'no tool' })]);
    const history = join(folder, 'history.json');
    await writeFile(history, JSON.stringify([{ role: 'user', content: 'earlier words' }]));
    const known = ['--history', history, '--entities', '{"object":"盘石头"}', '--intent', 'data_query', '--today', '2026-11-22'];
    const { exitCode, stdout } = await runCli(['plan', '-', ...words, ...known], { stdin: 'What is the level?\n' });
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: expect.stringContaining('no tool') });
    const sent = JSON.stringify(server.requests[0]?.body);
    for (const part of ['What is the level?', 'earlier words', '盘石头', 'data_query', '2026-11-22']) expect(sent).toContain(part);
  });

  it('sends the key of the named variable and prints it nowhere', async () => {
    const { server, words } = await serve([fail(401, 'Incorrect API key provided: secret-key-123')]);
    const outcome = await runCli(['plan', 'level', ...words, '--api-key-env', 'MY_KEY'], { env: { MY_KEY: 'secret-key-123' } });
    expect(server.requests[0]?.headers.authorization).toBe('Bearer secret-key-123');
    expect(outcome.exitCode).toBe(ERROR_TABLE.model_refused.exitCode);
    expect(outcome.stdout + outcome.stderr).not.toContain('secret-key-123');
  });

  it('ends with the code of a plan that stayed invalid, and its issues', async () => {
    const { words } = await serve([answerJson({ kind: 'plan', steps: [] }), answer('no')]);
    const { exitCode, stdout, stderr } = await runCli(['plan', 'level', ...words]);
    expect({ exitCode, stdout }).toEqual({ exitCode: ERROR_TABLE.plan_invalid.exitCode, stdout: '' });
    expect(stderr).toContain('  - the answer holds no complete JSON');
  });

  it('ends at an interrupt with the code of a cancelled request', async () => {
    const { server, words } = await serve([hang()]);
    const { exitCode, stdout } = await runCli(['plan', 'level', ...words], {
      onStart: async (kill) => {
        await server.received(1);
        kill('SIGINT');
      },
    });
    expect({ exitCode, stdout }).toEqual({ exitCode: ERROR_TABLE.cancelled.exitCode, stdout: '' });
  });
});

describe('winnow select', () => {
  it('asks no model where so few tools are visible', async () => {
    const { server, words } = await serve([]);
    const { exitCode, stdout } = await runCli(['select', 'level', ...words, '--json']);
    expect({ exitCode, requests: server.requests.length }).toEqual({ exitCode: 0, requests: 0 });
    expect(JSON.parse(stdout)).toMatchObject({ mode: 'passthrough', tools: [{ name: 'find_station' }, { name: 'read_level' }] });
  });
});

describe('the exit code', () => {
  const remote = ['--base-url', 'http://127.0.0.1:9/v1', '--model', 'm'];

  it.each<[string, () => string[], keyof typeof ERROR_TABLE, string]>([
    ['an empty request', () => ['plan', ' ', '--catalog', catalog, ...remote], 'invalid_request', 'message: must not be empty'],
    ['an option that does not exist', () => ['plan', 'x', '--catalog', catalog, ...remote, '--set', 'maxTool=3'], 'invalid_option', 'maxTool'],
    ['an option out of its bounds', () => ['plan', 'x', '--catalog', catalog, ...remote, '--set', 'maxTools=0'], 'invalid_option', 'maxTools'],
    ['a wrong configuration file', () => ['plan', 'x', '--config', join(folder, 'wrong.yaml')], 'invalid_option', 'options.maxTools'],
    ['entities that are no JSON', () => ['plan', 'x', '--catalog', catalog, ...remote, '--entities', '{'], 'invalid_option', '--entities: not JSON'],
    ['a history file that is not there', () => ['plan', 'x', '--catalog', catalog, ...remote, '--history', 'none.json'], 'invalid_option', '--history: the file none.json'],
    ['a prompt file that is not there', () => ['plan', 'x', '--catalog', catalog, ...remote, '--prompt', 'repair=none.md'], 'prompt_invalid', 'none.md'],
    ['a variable for the key that is not set', () => ['plan', 'x', '--catalog', catalog, ...remote, '--api-key-env', 'NO_SUCH'], 'invalid_option', 'NO_SUCH'],
    ['a catalogue that is not there', () => ['plan', 'x', '--catalog', 'none.json', ...remote], 'source_failed', 'none.json'],
    ['a wrong entry under --strict', () => ['plan', 'x', '--strict', '--catalog', join(folder, 'wrong.json'), ...remote], 'invalid_catalog', 'this name is not allowed'],
    ['a tool that is not there', () => ['tools', 'show', 'none', '--catalog', catalog], 'not_found', 'no tool "none"'],
    ['an unknown command', () => ['pla'], 'invalid_option', "unknown command 'pla'"],
    ['an unknown flag', () => ['plan', 'x', '--catalogue', catalog], 'invalid_option', '--catalogue'],
    ['a flag without its value', () => ['plan', 'x', '--set', 'answer'], 'invalid_option', 'name=value'],
    ['a missing argument', () => ['plan'], 'invalid_option', "missing required argument 'request'"],
  ])('for %s is that of the table, with a word on stderr and none on stdout', async (_, words, code, text) => {
    const { exitCode, stdout, stderr } = await runCli(words());
    expect({ exitCode, stdout }).toEqual({ exitCode: ERROR_TABLE[code].exitCode, stdout: '' });
    expect(stderr).toContain(text);
    expect(stderr).not.toContain('    at ');
  });

  it.each([['--version'], ['--help'], ['plan', '--help']])('for %s %s is 0', async (...words) => {
    const { exitCode, stdout } = await runCli(words);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$|^Usage: winnow/u);
  });
});
