/** The command line as its users have it: a process with arguments, two streams and an exit code. */

import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { ERROR_TABLE } from '../../src/core/errors.js';
import { type ScriptedServer, type ServerScript, startScriptedServer } from '../support/scripted-server.js';
import { answer, answerJson, hang } from '../support/server-behaviours.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { COMMAND, runCli } from './run-cli.js';
import { runHere } from './run-here.js';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const TOOLS = [
  {
    name: 'find_station',
    toolType: 'builtin',
    inputSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
    outputSchema: { type: 'object', properties: { stcd: { type: 'string' } } },
  },
  {
    name: 'read_level',
    toolType: 'builtin',
    inputSchema: { type: 'object', properties: { stcd: { type: 'string' } }, required: ['stcd'] },
  },
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
  folder = temporaryFolder();
  catalog = join(folder, 'tools.json');
  await writeFile(catalog, JSON.stringify(TOOLS));
});
afterEach(async () => {
  for (const server of servers) await server.close();
  servers.clear();
});

async function serve(script: ServerScript): Promise<{ server: ScriptedServer; words: string[] }> {
  const server = await startScriptedServer(script);
  servers.add(server);
  return { server, words: ['--catalog', catalog, '--base-url', server.baseUrl, '--model', 'm'] };
}

describe('the process', () => {
  it('takes the request as JSON from stdin, and prints the plan and nothing else on stdout', async () => {
    const { server, words } = await serve([answerJson(PLAN)]);
    const stdin = JSON.stringify({
      message: 'What is the level?',
      history: [{ role: 'user', content: 'earlier words' }],
      entities: { object: '盘石头' },
      intent: 'data_query',
    });
    const outcome = await runCli(['plan', '-', ...words, '--today', '2026-11-22'], { stdin });
    expect(outcome).toMatchObject({ exitCode: 0, stderr: '' });
    expect(outcome.stdout).toContain('s2  read_level  after s1\n');
    expect(outcome.stdout).not.toContain('\u001b');
    const sent = JSON.stringify(server.requests[0]?.body);
    for (const part of ['What is the level?', 'earlier words', '盘石头', 'data_query', '2026-11-22'])
      expect(sent).toContain(part);
  });

  it('prints the issues of a plan that stayed invalid', async () => {
    const { words } = await serve([answerJson({ kind: 'plan', steps: [] }), answer('no')]);
    const { exitCode, stdout, stderr } = await runCli(['plan', 'level', ...words]);
    expect({ exitCode, stdout }).toEqual({ exitCode: ERROR_TABLE.plan_invalid.exitCode, stdout: '' });
    expect(stderr).toContain('  - the answer holds no complete JSON\n');
    expect(stderr).not.toContain('    at ');
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

  it('ends at a signal the servers that it has started, too', async () => {
    const written = join(folder, 'pid');
    const script = `require('fs').writeFileSync(${JSON.stringify(written)}, String(process.pid)); setInterval(() => {}, 9)`;
    const servers = { mcpServers: { hangs: { command: process.execPath, args: ['-e', script] } } };
    await writeFile(join(folder, 'hangs.json'), JSON.stringify(servers));
    const words = ['tools', 'list', '--catalog', `mcp:${join(folder, 'hangs.json')}`];
    const { exitCode } = await runCli(words, {
      onStart: async (kill) => {
        await expect.poll(() => existsSync(written) && readFileSync(written, 'utf8'), { timeout: 20_000 }).toBeTruthy();
        kill('SIGTERM');
      },
    });
    expect(exitCode).toBe(ERROR_TABLE.cancelled.exitCode);
    expect(() => process.kill(Number(readFileSync(written, 'utf8')), 0)).toThrow('ESRCH');
  });

  it('takes an unknown command for a wrong option', async () => {
    const { exitCode, stdout, stderr } = await runCli(['pla']);
    expect({ exitCode, stdout }).toEqual({ exitCode: ERROR_TABLE.invalid_option.exitCode, stdout: '' });
    expect(stderr).toContain("unknown command 'pla'");
  });

  it.each([
    ['an unknown flag', ['tools', 'list', '--catalogue', 'x'], '--catalogue'],
    ['a missing request', ['plan'], 'The request is missing: winnow plan "What'],
    ['a request without quotes', ['plan', 'read', 'the', 'level'], 'quotes: winnow plan "read the level"'],
  ])('takes %s for a wrong option, not for a fault of its own', async (_, words, text) => {
    const { exitCode, stdout, stderr, error } = await runHere(words);
    expect({ exitCode, stdout }).toEqual({ exitCode: ERROR_TABLE.invalid_option.exitCode, stdout: '' });
    expect(`${stderr}${error}`).toContain(text);
  });

  it('prints its version and ends well', async () => {
    const stdout = expect.stringMatching(/^\d+\.\d+\.\d+\n$/u);
    expect(await runCli(['--version'])).toEqual({ exitCode: 0, stdout, stderr: '' });
  });
});

describe('output through a pipe', () => {
  const NAMES = Array.from({ length: 2_000 }, (_, place) => `tool_${place}`);
  const large = () => join(folder, 'large.json');
  beforeAll(async () => {
    const tools = NAMES.map((name) => ({ name, toolType: 'builtin', description: name.repeat(20) }));
    await writeFile(large(), JSON.stringify(tools));
  });

  /** @param reader what stands behind the pipe; the exit code of the command is its last line */
  const piped = (words: string, reader: string) => {
    const command = COMMAND.map((word) => `'${word}'`).join(' ');
    const line = `${command} ${words} | ${reader}; echo "\${PIPESTATUS[0]}"`;
    return promisify(execFile)('bash', ['-c', line], { maxBuffer: 10 ** 8 });
  };

  it('is whole, more than a pipe holds and however slowly it is read', async () => {
    const { stdout } = await piped(`tools list --json --catalog ${large()}`, '(sleep 1; cat)');
    expect(stdout.length).toBeGreaterThan(300_000);
    const lines = stdout.trimEnd().split('\n');
    expect(lines.pop()).toBe('0');
    expect(JSON.parse(lines.join('\n')).map(({ name }: { name: string }) => name)).toEqual(NAMES);
  });

  const itWhereFull = existsSync('/dev/full') ? it : it.skip;
  itWhereFull('is told in one line where it can not be written', async () => {
    const { stdout, stderr } = await piped(`tools list --catalog ${large()} > /dev/full`, 'cat');
    expect(stdout).toBe(`${ERROR_TABLE.invalid_option.exitCode}\n`);
    expect(stderr).toBe(`Reading ${large()}\nwinnow: the output can't be written (ENOSPC).\n`);
  });

  it('ends quietly where the reader has had enough', async () => {
    const { stdout, stderr } = await piped(`tools list --catalog ${large()}`, 'head -n 1');
    expect(stdout).toMatch(/^tool_0: .*\n0\n$/u);
    expect(stderr).toBe(`Reading ${large()}\n`);
  });
});
