import { afterEach, describe, expect, it } from '@jest/globals';
import { createLocalModels } from '../../../src/core/model/create-model.js';
import { createModel } from '../../../src/index.js';
import { createScriptedModel } from '../../support/scripted-model.js';
import { type ScriptedServer, startScriptedServer } from '../../support/scripted-server.js';
import { answer, fail } from '../../support/server-behaviours.js';

let server: ScriptedServer | undefined;
afterEach(() => server?.close());

const REQUEST = { stage: 'planning' as const, prompt: { system: 's', user: 'u' }, maxTokens: 8 };

describe('a model from settings', () => {
  it('asks the endpoint as the settings say', async () => {
    server = await startScriptedServer([answer('hello')]);
    const model = await createModel({
      ...{ baseUrl: server.baseUrl, model: 'm', apiKey: 'k', temperature: 0.5, logprobs: true },
      ...{ headers: { 'x-team': 'blue' }, extraBody: { seed: 1 } },
    });
    expect((await model.complete(REQUEST)).text).toBe('hello');
    expect(server.requests).toMatchObject([
      {
        headers: { authorization: 'Bearer k', 'x-team': 'blue' },
        body: { model: 'm', temperature: 0.5, logprobs: true, seed: 1 },
      },
    ]);
  });

  it.each([
    [0, 1],
    [1, 2],
  ])('with %i retries asks a server that fails %i times', async (maxRetries, asked) => {
    server = await startScriptedServer(() => fail(503, 'later'));
    const model = await createModel({ baseUrl: server.baseUrl, model: 'm', maxRetries, retryDelayMs: 1 });
    await expect(model.complete(REQUEST)).rejects.toMatchObject({ code: expect.stringMatching(/^model_/u) });
    expect(server.requests).toHaveLength(asked);
  });

  it('tells that a model file has no effect beside an endpoint', async () => {
    const notices: string[] = [];
    const settings = { baseUrl: 'http://127.0.0.1:9/v1', model: 'm', modelFile: 'own.gguf' };
    await createModel(settings, { onNotice: (text) => notices.push(text) });
    expect(notices).toEqual(['Without effect on the endpoint http://127.0.0.1:9/v1: modelFile.']);
  });

  it('tells what has no effect on a local model', async () => {
    const notices: string[] = [];
    const settings = { modelFile: 'none.gguf', temperature: 0.5, headers: { a: 'b' }, apiKey: 'k' };
    await expect(createModel(settings, { onNotice: (text) => notices.push(text) })).rejects.toMatchObject({
      code: 'model_unavailable',
      message: 'There is no model file none.gguf. Correct the path, or leave it out.',
    });
    expect(notices).toEqual(['Without effect on the local model: temperature, headers.']);
  });
});

it('one model is shared under a key, and closed by the last who uses it', async () => {
  const models = createLocalModels();
  const bare = createScriptedModel({ answers: ['hello'] });
  const loads: string[] = [];
  const load = async () => {
    loads.push('load');
    return bare;
  };
  const [one, other] = await Promise.all([models.open('weights', load), models.open('weights', load)]);
  expect(loads).toHaveLength(1);
  await one?.close();
  await one?.close();
  expect(bare.isClosed).toBe(false);
  expect(await other?.complete({ stage: 'planning', prompt: { system: '', user: '' }, maxTokens: 9 })).toMatchObject({
    text: 'hello',
  });
  await other?.close();
  expect(bare.isClosed).toBe(true);
  await models.open('weights', load);
  await models.open('others', load);
  expect(loads).toHaveLength(3);
});

it('what could not be loaded is tried again', async () => {
  const models = createLocalModels();
  await expect(models.open('weights', () => Promise.reject(new Error('no memory')))).rejects.toThrow('no memory');
  await expect(models.open('weights', async () => createScriptedModel({ id: 'm' }))).resolves.toMatchObject({
    id: 'm',
  });
});
