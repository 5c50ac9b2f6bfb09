/** Tuning from the command line, as a process of its own: what it writes, and that it begins again after a kill. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ERROR_TABLE } from '../../src/core/errors.js';
import { type ScriptedServer, startScriptedServer } from '../support/scripted-server.js';
import { answerJson } from '../support/server-behaviours.js';
import { runCli } from './run-cli.js';

const RULE = 'For what runs, take the flow.';
const INSTRUCTIONS = `${RULE} Answer {"selected_tools": []} or {{none}}.\n\n<!-- examples -->\n\nTools:\n{{summaries}}`;
const tools = ['read_level', 'read_flow', 'send_mail'].map((name) => ({
  name,
  toolType: 'builtin',
  description: name,
}));
const cases = Array.from({ length: 50 }, (_, place) => ({
  id: `c${place}`,
  query: `u${place} v${place} w${place} ${place % 2 === 0 ? 'stand' : 'run'}`,
  expectedTools: [place % 2 === 0 ? 'read_level' : 'read_flow'],
}));

let folder: string;
let server: ScriptedServer;
/** Called at each request, for example to end the process. */
let onRequest: (index: number) => void;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'winnow-tune-'));
  onRequest = () => undefined;
  writeFileSync(join(folder, 'set.tools.json'), JSON.stringify(tools));
  writeFileSync(join(folder, 'set.cases.jsonl'), cases.map((one) => `${JSON.stringify(one)}\n`).join(''));
  server = await startScriptedServer((request, index) => {
    onRequest(index);
    const body = JSON.stringify(request.body);
    if (body.includes('You improve the instructions'))
      return answerJson({ diagnosis: 'flow', instructions: INSTRUCTIONS });
    const isFlow = body.includes(RULE) && /w\d+ run/u.test(body);
    return answerJson({ selected_tools: [isFlow ? 'read_flow' : 'read_level'] });
  });
});
afterEach(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});

const out = () => join(folder, 'run');

const run = (more: readonly string[] = [], onStart?: (kill: (signal: NodeJS.Signals) => void) => void) =>
  runBoth(['--only', 'select', ...more], onStart);

function runBoth(more: readonly string[], onStart?: (kill: (signal: NodeJS.Signals) => void) => void) {
  const model = ['--base-url', server.baseUrl, '--model', 'm', '--set', 'passthroughTools=0,fillTokens=0'];
  const words = ['tune', '--suite', join(folder, 'set'), ...model, '--out', out(), ...more];
  return runCli(words, { env: { WINNOW_CACHE: join(folder, 'cache') }, ...(onStart ? { onStart } : {}) });
}
const reportOf = () => JSON.parse(readFileSync(join(out(), 'report.json'), 'utf8'));

describe('winnow tune', () => {
  it('writes the new prompt, its diff, a configuration that uses both, and the report', async () => {
    const { exitCode, stdout, stderr } = await run();
    expect({ exitCode, stdout }).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('select-tools: changed.'),
    });
    expect(stdout).toMatch(/held back: \+0\.\d+ \(0\.\d+ to 0\.\d+; \d+ better, 0 worse of \d+\)/u);
    expect(stderr).toContain('select-tools: round 1:');
    expect(readFileSync(join(out(), 'select-tools.md'), 'utf8')).toContain(RULE);
    expect(readFileSync(join(out(), 'select-tools.diff'), 'utf8')).toContain(`+${RULE}`);
    expect(stdout).toMatch(/^1 +wording 1: flow .* kept$/mu);
    expect(JSON.parse(readFileSync(join(out(), 'tuned.json'), 'utf8')).prompts).toEqual({
      'select-tools': 'select-tools.md',
    });
  });

  it('takes both prompts where none is named, and says of each where the budget ended', async () => {
    const { exitCode, stdout } = await runBoth(['--budget', '0.1s']);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(
      /^select-tools: left as it was\. The budget ended[\s\S]*^plan-steps: left as it was\. The budget/mu,
    );
  });

  it('that was killed begins again: nothing that was answered is asked again', async () => {
    let kill: (signal: NodeJS.Signals) => void = () => undefined;
    onRequest = (index) => {
      if (index === 45) kill('SIGKILL');
    };
    const killed = await run([], (given) => {
      kill = given;
    });
    expect(killed.exitCode).toBeNull();
    expect(existsSync(join(out(), 'report.json'))).toBe(false);
    expect((await run()).exitCode).toBe(0);
    expect(reportOf().prompts[0]).toMatchObject({ isChanged: true });
    const asked = server.requests
      .filter(({ path }) => path.endsWith('/completions'))
      .map(({ body }) => JSON.stringify(body.messages));
    // The one that was under way when the process died is asked again.
    expect(asked.length - new Set(asked).size).toBeLessThanOrEqual(1);
  });

  it('that is interrupted ends cleanly, and says how to go on', async () => {
    let kill: (signal: NodeJS.Signals) => void = () => undefined;
    onRequest = (index) => {
      if (index === 10) kill('SIGINT');
    };
    const { exitCode, stderr } = await run([], (given) => {
      kill = given;
    });
    expect(exitCode).toBe(ERROR_TABLE.cancelled.exitCode);
    expect(stderr).toContain('Run it again: answers so far are kept');
  });
});
