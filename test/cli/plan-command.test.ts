import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { planCommand, selectCommand } from '../../src/cli/commands/plan.js';
import type { ErrorCode } from '../../src/core/errors.js';
import { resultSchema, selectResultSchema } from '../../src/core/result.js';
import { type ScriptedServer, type ServerScript, startScriptedServer } from '../support/scripted-server.js';
import { answerJson, fail } from '../support/server-behaviours.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const TOOLS = [
  {
    name: 'find_station',
    toolType: 'builtin',
    inputSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
  },
  { name: 'own', toolType: 'builtin', scope: { user: 'ann' } },
];
const PLAN = { kind: 'plan', steps: [{ id: 's1', tool: 'find_station', arguments: { name: 'a' } }] };

let folder: string;
let catalog: string;
let server: ScriptedServer | undefined;
const others: ScriptedServer[] = [];
beforeEach(async () => {
  folder = temporaryFolder();
  catalog = join(folder, 'tools.json');
  await writeFile(catalog, JSON.stringify(TOOLS));
});
afterEach(async () => {
  vi.restoreAllMocks();
  await server?.close();
  server = undefined;
  for (const other of others.splice(0)) await other.close();
});

/** What the command prints, run on a catalogue of two tools and a scripted server. */
async function run(name: 'plan' | 'select', words: readonly string[], script: ServerScript = []): Promise<string> {
  const printed: string[] = [];
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => printed.push(String(text)) > 0);
  server = await startScriptedServer(script);
  const command = (name === 'plan' ? planCommand() : selectCommand())
    .exitOverride()
    .configureOutput({ writeErr: () => undefined });
  const shared = words.includes('--catalog') ? [] : ['--catalog', catalog];
  await command.parseAsync([...words, ...shared, '--base-url', server.baseUrl, '--model', 'm'], { from: 'user' });
  return printed.join('');
}

describe('winnow plan', () => {
  it.runIf(existsSync('/dev/full'))('tells that its call log can not be written', async () => {
    const told: string[] = [];
    vi.spyOn(process.stderr, 'write').mockImplementation((text) => told.push(String(text)) > 0);
    await run('plan', ['level', '--set', 'callLog=/dev/full'], [answerJson(PLAN)]);
    const lost = told.join('').match(/^The call log \/dev\/full can't be written, so lines are lost: ENOSPC.*$/gmu);
    expect(lost).toHaveLength(1);
  });

  it('prints the whole result as JSON, which the published schema takes', async () => {
    const printed = await run('plan', ['level', '--json'], [answerJson(PLAN)]);
    expect(resultSchema.parse(JSON.parse(printed))).toMatchObject({ kind: 'plan', goal: 'level', levels: [['s1']] });
  });

  it.each([
    [
      'a question',
      { kind: 'clarification', question: 'Which one?', missing: ['name'] },
      'A question back\n  Which one?\n  missing: name',
    ],
    ['that there is none', { kind: 'unplannable', reason: 'No tool books.' }, 'No plan\n  No tool books.'],
  ])('prints %s for people, as a good end', async (_, answer, text) => {
    expect(await run('plan', ['book'], [answerJson(answer)])).toContain(text);
  });

  it('plans for the user with their own tools', async () => {
    await run('plan', ['x', '--user', 'ann'], [answerJson({ kind: 'unplannable', reason: 'r' })]);
    expect(JSON.stringify(server?.requests[0]?.body)).toContain('own');
  });

  it('has a plan written by the model for planning, where there is one', async () => {
    const other = await startScriptedServer([answerJson(PLAN)]);
    others.push(other);
    const config = join(folder, 'winnow.yaml');
    await writeFile(config, `planningModel: { baseUrl: "${other.baseUrl}", name: large }\n`);
    const words = ['-c', config];
    const log = join(folder, 'calls.jsonl');
    expect(await run('plan', ['level', ...words, '--set', `callLog=${log}`])).toContain('s1  find_station');
    expect(server?.requests).toEqual([]);
    expect(other.requests).toMatchObject([{ body: { model: 'large' } }]);
    expect(JSON.parse(await readFile(log, 'utf8'))).toMatchObject({ stage: 'planning', model: 'large' });
  });

  it('takes a request as JSON, which hands on no more tools than it says, of a catalogue that is taken whole', async () => {
    const tools = Array.from({ length: 10 }, (_, place) => ({ ...TOOLS[0], name: `tool_${place}` }));
    await writeFile(catalog, JSON.stringify(tools));
    const words = ['{"message": "x", "maxTools": 3}', '--json'];
    const chosen = { selected_tools: tools.slice(4).map(({ name }) => name), reason: 'r' };
    const selected = await run('select', words, [answerJson(chosen)]);
    expect(selectResultSchema.parse(JSON.parse(selected)).tools).toHaveLength(3);
    expect(JSON.stringify(server?.requests[0]?.body)).toContain('At most 3 tools.');
    await server?.close();
    const steps = [{ id: 's1', tool: 'tool_4', arguments: { name: 'a' } }];
    const planned = await run('plan', words, [answerJson(chosen), answerJson({ kind: 'plan', steps })]);
    expect(resultSchema.parse(JSON.parse(planned)).selection.tools).toHaveLength(3);
  });

  it('uses the prompt file that is named', async () => {
    const prompt = join(folder, 'repair.md');
    await writeFile(prompt, '<!-- system -->\nMEND {{system}}\n<!-- user -->\n{{user}}{{answer}}{{issues}}\n');
    await run('plan', ['x', '--set', `prompts.repair=${prompt}`], [answerJson({ kind: 'poem' }), answerJson(PLAN)]);
    expect(JSON.stringify(server?.requests[1]?.body)).toContain('MEND You write a plan');
  });

  it('writes each call of the model to the call log', async () => {
    const log = join(folder, 'calls.jsonl');
    await run('plan', ['x', '--set', `callLog=${log}`], [answerJson(PLAN)]);
    const lines = (await readFile(log, 'utf8')).trim().split('\n');
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ module: 'planning/write' });
  });

  it('sends the key of the named variable, and tells it to nobody', async () => {
    process.env.WINNOW_TEST_KEY = 'secret-key-123';
    const refusal = fail(401, 'Incorrect API key provided: secret-key-123');
    const error = await run('plan', ['level', '--set', 'model.apiKeyEnv=WINNOW_TEST_KEY'], [refusal]).catch(
      (thrown) => thrown,
    );
    delete process.env.WINNOW_TEST_KEY;
    expect(server?.requests[0]?.headers.authorization).toBe('Bearer secret-key-123');
    expect(error).toMatchObject({ code: 'model_refused', message: expect.stringContaining('Incorrect API key') });
    expect(JSON.stringify([error, error.message, error.issues])).not.toContain('secret-key-123');
  });

  it('tells beside the data that the selection failed', async () => {
    const told: string[] = [];
    vi.spyOn(process.stderr, 'write').mockImplementation((text) => told.push(String(text)) > 0);
    const words = ['level', '--json', '--set', 'passthroughTools=0'];
    const printed = await run('plan', words, [answerJson('none'), answerJson('none'), answerJson(PLAN)]);
    expect(JSON.parse(printed)).toMatchObject({ kind: 'plan', selection: { mode: 'fallback' } });
    expect(told.join('')).toMatch(/^selection failed \(model_failed: .+\): 1 of 1 tools are taken\n$/mu);
  });

  it('tells that the example catalogue is used where none is named, under --json beside the data', async () => {
    const told = 'Catalogue: the example "hydrology" that comes with Winnow; yours with --catalog.\n';
    const written = { stdout: '', stderr: '' };
    for (const stream of ['stdout', 'stderr'] as const) {
      vi.spyOn(process[stream], 'write').mockImplementation((text) => {
        written[stream] += text;
        return true;
      });
    }
    server = await startScriptedServer([]);
    const words = ['x', '--base-url', server.baseUrl, '--model', 'm', '--set', 'passthroughTools=128'];
    await selectCommand().parseAsync(words, { from: 'user' });
    expect(written.stdout).toMatch(new RegExp(`^${told}\\n`, 'u'));
    expect(written.stderr).toBe('');
    written.stdout = '';
    await selectCommand().parseAsync([...words, '--json'], { from: 'user' });
    expect(JSON.parse(written.stdout)).toMatchObject({ mode: 'passthrough' });
    expect(written.stderr).toBe(told);
  });

  it.each<[string, string[], ErrorCode, string]>([
    ['an empty request', [' '], 'invalid_request', 'message: must not be empty'],
    ['history of another form', ['{"message": "x", "history": [1]}'], 'invalid_request', 'history.0'],
    ['a request that is no JSON', ['{"message": "x"'], 'invalid_option', 'The request is not JSON'],
    ['an option that does not exist', ['x', '--set', 'maxTool=3'], 'invalid_option', 'maxTool'],
    ['a prompt that does not exist', ['x', '--set', 'prompts.repairs=a.md'], 'invalid_option', 'nearest: "repair"'],
    ['a prompt file that is not there', ['x', '--set', 'prompts.repair=none.md'], 'prompt_invalid', 'none.md'],
    ['a catalogue that is not there', ['x', '--catalog', 'none.json'], 'source_failed', 'none.json'],
  ])('refuses %s, before it asks the model', async (_, words, code, text) => {
    const error = await run('plan', words).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code, message: expect.stringContaining(text) });
    expect(server?.requests).toEqual([]);
  });

  it.each([
    ['--today', 'tomorrow'],
    ['--set', 'answer'],
  ])('refuses the flag %s %s with its name', async (flag, value) => {
    const error = await run('plan', ['x', flag, value]).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'commander.invalidArgument', message: expect.stringContaining(flag) });
  });
});

describe('winnow select', () => {
  it('prints the selection as JSON, and asks no model where so few tools are visible', async () => {
    const printed = await run('select', ['level', '--json']);
    expect(selectResultSchema.parse(JSON.parse(printed))).toMatchObject({
      mode: 'passthrough',
      tools: [{ name: 'find_station' }],
    });
    expect(server?.requests).toEqual([]);
  });

  it('prints it for people', async () => {
    expect(await run('select', ['level'])).toMatch(
      /^Tools \(all of them: .*\)\n {2}find_station {2}visible, and there is room\n/u,
    );
  });
});
