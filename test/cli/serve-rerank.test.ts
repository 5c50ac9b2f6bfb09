/** `winnow serve --rerank`: which model orders what a search found, and what is left when it does not. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it, jest } from '@jest/globals';
import { serveCommand } from '../../src/cli/serve-command.js';
import { recordLog } from '../server/setup.js';
import { type Behaviour, type ScriptedServer, startScriptedServer } from '../support/scripted-server.js';
import { answerJson, fail, hang } from '../support/server-behaviours.js';
import { serve } from './serve-setup.js';

// The first test of a run loads the model client.
jest.setTimeout(60_000);

const tool = (name: string) => ({ name, toolType: 'builtin', risk: 'low', description: `A ${name} of the garden.` });
const opinion = { intent: 'dig', top_k_tools: ['spade'], confidence: 0.8, need_clarification: false };

let folder: string;
const at = (name: string) => join(folder, name);
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'winnow-rerank-'));
  await writeFile(at('tools.json'), JSON.stringify([tool('hose'), tool('rake'), tool('spade')]));
});
afterAll(() => rm(folder, { recursive: true }));

const models: ScriptedServer[] = [];
afterEach(async () => {
  for (const model of models.splice(0)) await model.close();
});

async function startModel(behaviour: Behaviour) {
  const model = await startScriptedServer(() => behaviour);
  models.push(model);
  return model;
}

async function searchWith({ baseUrl }: ScriptedServer, ...words: string[]) {
  const server = await serve('--base-url', baseUrl, '--model', 'big', '--catalog', at('tools.json'), ...words);
  const { id } = await server.ask('POST /v1/sessions', {});
  const found = await server.ask(`POST /v1/sessions/${id}/search`, { query: 'garden' });
  await server.stop();
  return { ...found, first: found.matches[0].name, log: server.log };
}

const modelsAsked = ({ requests }: ScriptedServer) => requests.map(({ body }) => body.model);

it('asks the model that plans, where it is switched on, by the flag or by the file', async () => {
  const model = await startModel(answerJson(opinion));
  expect(await searchWith(model)).toMatchObject({ ranked_by: 'rules', first: 'hose' });
  expect(modelsAsked(model)).toEqual([]);
  const asked = await searchWith(model, '--rerank', '--call-log', at('calls.jsonl'));
  expect(asked).toMatchObject({ ranked_by: 'model', first: 'spade', confidence: 0.8 });
  expect(modelsAsked(model)).toEqual(['big']);
  expect(await readFile(at('calls.jsonl'), 'utf8')).toContain('"promptName":"rerank-tools"');
  await writeFile(at('on.yaml'), 'rerank: { enabled: true, minConfidence: 0.9 }\n');
  const unsure = await searchWith(model, '--config', at('on.yaml'));
  expect(unsure).toMatchObject({ ranked_by: 'rules', degraded: expect.stringContaining('0.8 is below 0.9') });
  expect(await searchWith(model, '--config', at('on.yaml'), '--rerank-confidence', '0.5')).toMatchObject({
    ranked_by: 'model',
  });
  expect(await searchWith(model, '--config', at('on.yaml'), '--no-rerank')).not.toHaveProperty('degraded');
});

it('may have a model of its own, which is opened only where it is asked', async () => {
  const big = await startModel(fail(500, 'the big one is not asked'));
  const small = await startModel(answerJson(opinion));
  await writeFile(at('own.yaml'), `rerank: { model: { baseUrl: "${small.baseUrl}", name: small } }\n`);
  expect(await searchWith(big, '--config', at('own.yaml'), '--rerank')).toMatchObject({ ranked_by: 'model' });
  expect([modelsAsked(big), modelsAsked(small)]).toEqual([[], ['small']]);
});

it('leaves the order of the rules when the model is too slow or fails, and the log knows more than the agent', async () => {
  const slow = await searchWith(await startModel(hang()), '--rerank', '--rerank-timeout', '50');
  expect(slow).toMatchObject({ ranked_by: 'rules', first: 'hose', degraded: 'the model did not answer within 50 ms' });
  const { log, ...refused } = await searchWith(await startModel(fail(401, 'key sk-77 is bad')), '--rerank');
  expect(refused).toMatchObject({
    ranked_by: 'rules',
    first: 'hose',
    degraded: expect.stringMatching(/^model_refused/u),
  });
  expect(JSON.stringify(refused)).not.toContain('sk-77');
  expect(log.lines()).toContainEqual(expect.objectContaining({ level: 'warn', code: 'model_refused' }));
});

it.each([
  ['a time that is none', ['--rerank-timeout', '0'], /whole number above 0/u],
  ['a share above 1', ['--rerank-confidence', '1.5'], /from 0 to 1/u],
  ['an unknown key of the file', ['--config', 'unknown'], /rerank: .*treshold/u],
  ['a model without a name', ['--config', 'nameless'], /rerank\.model\.name/u],
])('refuses %s', async (_, words, message) => {
  await writeFile(at('unknown'), 'rerank: { treshold: 0.5 }\n');
  await writeFile(at('nameless'), 'rerank: { enabled: true, model: { baseUrl: "http://127.0.0.1:9/v1" } }\n');
  const [flag = '', value = ''] = words;
  const given = [flag, flag === '--config' ? at(value) : value];
  const command = serveCommand({ logger: recordLog().logger })
    .exitOverride()
    .configureOutput({ writeErr: () => {} });
  const model = ['--base-url', 'http://127.0.0.1:9/v1', '--model', 'none', '--catalog', at('tools.json')];
  await expect(command.parseAsync(['--port', '0', ...model, ...given], { from: 'user' })).rejects.toThrow(message);
});
