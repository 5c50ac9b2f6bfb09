/** Models: what is common to all, and which one is opened. */
import { afterEach, describe, expect, it } from 'vitest';
import { WinnowError } from '../../../src/core/errors.js';
import { estimateTokens } from '../../../src/core/model/count-tokens.js';
import { createLocalModels } from '../../../src/core/model/create-model.js';
import { spentUsage, wrapModel } from '../../../src/core/model/model.js';
import { createModel } from '../../../src/index.js';
import { createScriptedModel } from '../../support/scripted-model.js';
import { type ScriptedServer, startScriptedServer } from '../../support/scripted-server.js';
import { answer, fail } from '../../support/server-behaviours.js';

const request = { stage: 'planning', prompt: { system: 's', user: 'u' }, maxTokens: 9 } as const;
const reading = { prompt: request.prompt, opening: '"' };
const readers = [{ probabilities: new Map([['a', 1]]) }];

describe('a model in front of another', () => {
  it('answers for it, and is the same in all else', async () => {
    const inner = createScriptedModel({ answers: ['inner'], readers });
    const told: string[] = [];
    const model = wrapModel(inner, {
      async complete(one) {
        told.push('complete');
        return { ...(await inner.complete(one)), text: 'outer' };
      },
      openReader(one, open) {
        told.push('openReader');
        return open(one);
      },
    });
    const { id, limits, preferredAnswer } = inner;
    expect(model).toMatchObject({ id, limits, preferredAnswer });
    expect(model.countTokens('some words')).toBe(inner.countTokens('some words'));
    expect((await model.complete(request)).text).toBe('outer');
    await (await model.openReader?.(reading))?.close();
    expect(told).toEqual(['complete', 'openReader']);
    await model.close();
    expect(inner.isClosed).toBe(true);
    inner.assertDone();
  });

  it('has no readers where the inner one has none', () => {
    const inner = createScriptedModel();
    const { complete } = inner;
    expect(wrapModel(inner, { complete, openReader: (one, open) => open(one) })).not.toHaveProperty('openReader');
  });
});

const FAILED = new WinnowError('model_failed', 'broken', {
  details: { usage: { calls: 3, read: 30, cached: 20, written: 10 } },
});

describe('what a failed call spent', () => {
  it('is what the error tells', () => {
    expect(spentUsage(FAILED)).toEqual({ calls: 3, read: 30, cached: 20, written: 10 });
  });

  it.each([new Error('x'), 'x', undefined, new WinnowError('internal', 'x')])(
    'is one call where %s tells nothing',
    (error) => {
      expect(spentUsage(error)).toEqual({ calls: 1, read: 0, cached: 0, written: 0 });
    },
  );
});

describe('the estimate of tokens', () => {
  // The counts in the middle are those of o200k_base.
  it.each([
    ['nothing', '', 0, 0, 0],
    ['one space', ' ', 1, 1, 1],
    ['English', 'Get the latest water level of a reservoir by its station code.', 13, 13, 15],
    ['a name', 'query_reservoir_last', 5, 4, 6],
    ['Chinese', '查询盘石头水库最新水位和蓄水量', 14, 13, 16],
    ['JSON', '{"selected_tools": ["get_user"], "n": 12}', 13, 11, 17],
  ])('is near the count of a tokenizer for %s', (_, text, _real, least, most) => {
    expect(estimateTokens(text)).toBeGreaterThanOrEqual(least);
    expect(estimateTokens(text)).toBeLessThanOrEqual(most);
  });
});

describe('the choice of a model', () => {
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

    it.each([
      ['{"baseURL": "http://127.0.0.1:9/v1"}', /model: Unrecognized key "baseURL"; nearest: "baseUrl"/u],
      ['{"timeoutMs": 5}', /"timeoutMs"; known: .*callTimeoutMs/u],
    ])('refuses a setting that there is not, and names a near one, or all: %s', async (settings, message) => {
      await expect(createModel(JSON.parse(settings))).rejects.toMatchObject({
        code: 'invalid_option',
        message: expect.stringMatching(message),
      });
    });

    it('tells that a model file has no effect beside an endpoint', async () => {
      const notices: string[] = [];
      const settings = { baseUrl: 'http://127.0.0.1:9/v1', model: 'm', modelFile: 'own.gguf' };
      await createModel(settings, { onNotice: (text) => notices.push(text) });
      expect(notices).toEqual(['Without effect on the endpoint http://127.0.0.1:9/v1: modelFile.']);
    });

    it('shows no key of a base URL, which is refused with one', async () => {
      const notices: string[] = [];
      const settings = { baseUrl: 'http://127.0.0.1:9/v1?key=hunter2', model: 'm', modelFile: 'own.gguf' };
      const refused = createModel(settings, { onNotice: (text) => notices.push(text) });
      await expect(refused).rejects.toMatchObject({
        code: 'invalid_option',
        message: expect.stringContaining('baseUrl'),
      });
      expect(notices.join()).not.toContain('hunter2');
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
});
