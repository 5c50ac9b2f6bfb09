import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { answerRoom, createOpenAIModel } from '../../../../src/core/model/openai/openai-model.js';
import { createScriptedModel } from '../../../support/scripted-model.js';
import { type Behaviour, type RecordedRequest, startScriptedServer } from '../../../support/scripted-server.js';
import {
  answer,
  answerJson,
  cutJson,
  emptyAnswer,
  nextTokens,
  refusal,
  send,
  withCachedTokens,
} from '../../../support/server-behaviours.js';
import { describeModelContract } from '../contract.js';
import { errorOf, KEY, PLAIN, startModel, WITH_SCHEMA } from './setup.js';

const VALUE = { names: ['query_reservoir_last'] };

describe('what the OpenAI-compatible model sends', () => {
  it('sends system and user, the limit, the temperature and the schema, with the key as bearer token', async () => {
    const { server, model } = await startModel([answerJson(VALUE)]);
    await model.complete(WITH_SCHEMA);
    expect(server.requests[0]).toMatchObject({
      path: '/v1/chat/completions',
      headers: { authorization: `Bearer ${KEY}` },
    });
    expect(server.requests[0]?.body).toEqual({
      model: 'scripted-model',
      messages: [
        { role: 'system', content: PLAIN.prompt.system },
        { role: 'user', content: PLAIN.prompt.user },
      ],
      max_tokens: 50,
      temperature: 0,
      stream: false,
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'selection', strict: true, schema: WITH_SCHEMA.schema?.schema },
      },
    });
  });

  it('sends no authorization without a key, and adds headers and body fields of the options', async () => {
    const { server, model } = await startModel([answer('yes')], {
      apiKey: undefined,
      headers: { 'x-team': 'water' },
      extraBody: { seed: 7 },
      logprobs: true,
    });
    await model.complete(PLAIN);
    expect(server.requests[0]?.headers).not.toHaveProperty('authorization');
    expect(server.requests[0]?.headers).toMatchObject({ 'x-team': 'water' });
    expect(server.requests[0]?.body).toMatchObject({ seed: 7, logprobs: true });
    expect(server.requests[0]?.body).not.toHaveProperty('response_format');
  });

  it.each([
    ['a base URL without a scheme', { baseUrl: 'localhost:8080/v1' }, 'baseUrl'],
    ['a base URL with a password', { baseUrl: 'http://me:pass@host/v1' }, 'baseUrl'],
    ['a base URL with a query', { baseUrl: 'http://host/v1?key=hunter2' }, 'baseUrl'],
    ['a base URL with a fragment', { baseUrl: 'http://host/v1#hunter2' }, 'baseUrl'],
    ['no model', { model: ' ' }, 'model'],
    ['a key with a line break inside', { apiKey: 'hunter2\nhunter2' }, 'apiKey'],
    ['a header with a line break', { headers: { 'x-key': 'hunter2\n' } }, 'headers.x-key'],
    ['a header whose name holds a space', { headers: { 'x key': 'hunter2' } }, 'headers.x key'],
    ['a time-out of zero', { timeoutMs: 0 }, 'timeoutMs'],
    ['retries that are no number', { maxRetries: Number.NaN }, 'maxRetries'],
  ])('refuses %s', (_, wrong, named) => {
    const options = { baseUrl: 'http://host/v1', model: 'm', ...wrong };
    expect(() => createOpenAIModel(options)).toThrow(expect.objectContaining({ code: 'invalid_option' }));
    expect(() => createOpenAIModel(options)).toThrow(named);
    expect(() => createOpenAIModel(options)).not.toThrow('hunter2');
  });
});

describe('what the OpenAI-compatible model hands back', () => {
  it.each([
    ['JSON', answerJson(VALUE), JSON.stringify(VALUE), 'stop'],
    ['a refusal', refusal(), "I'm sorry, but I can't help with that.", 'stop'],
    ['an empty answer', emptyAnswer(), '', 'stop'],
    ['no content', answer(null), '', 'stop'],
    ['cut JSON', cutJson(VALUE), JSON.stringify(VALUE).slice(0, -4), 'length'],
  ])('keeps the raw text, finish and usage of %s', async (_, behaviour, text, finish) => {
    const { model } = await startModel([behaviour]);
    const completion = await model.complete(WITH_SCHEMA);
    expect(completion).toEqual({ text, finish, usage: { calls: 1, read: 10, cached: 0, written: 5 } });
  });

  it('takes cached tokens out of those read', async () => {
    const { model } = await startModel([withCachedTokens('yes', 80)]);
    const { usage } = await model.complete(PLAIN);
    expect(usage).toEqual({ calls: 1, read: 20, cached: 80, written: 7 });
  });

  it('estimates the usage when the server counts none', async () => {
    const { model } = await startModel([answer('Two words', { usage: null })]);
    const { usage } = await model.complete(PLAIN);
    expect(usage).toEqual({ calls: 1, read: 10, cached: 0, written: 2 });
  });

  it('hands the log-probabilities of the written tokens over', async () => {
    const logprobs = [{ token: 'yes', logprob: -0.25 }];
    const { model } = await startModel([answer('yes', { logprobs })], { logprobs: true });
    const completion = await model.complete(PLAIN);
    expect(completion.logprobs).toEqual([{ text: 'yes', logprob: -0.25 }]);
  });

  it('reads an answer whose server names no content type', async () => {
    const body = { choices: [{ message: { content: 'plain' } }] };
    const { model } = await startModel([send(200, body, { 'content-type': 'text/plain' })]);
    await expect(model.complete(PLAIN)).resolves.toMatchObject({ text: 'plain' });
  });
});

/** About 700 tokens. */
const prompt = { system: 'word '.repeat(600), user: 'word '.repeat(100) };

describe('the room for an answer', () => {
  it.each([
    ['what was asked for where it fits', 10_000, 300],
    ['what was asked for where it fits with the margin', 1_090, 300],
    ['what the context leaves, less a margin, since the server may count higher', 1_000, 214],
    ['the least that an answer needs where the margin would take it', 780, 64],
  ])('is %s', (_, contextTokens, expected) => {
    expect(answerRoom({ prompt, maxTokens: 300 }, contextTokens)).toBe(expected);
  });

  it('is no more than was asked for, however little that is', () => {
    expect(answerRoom({ prompt, maxTokens: 1 }, 701)).toBe(1);
  });

  it('is not there in a context that ends behind the prompt', () => {
    expect(() => answerRoom({ prompt, maxTokens: 300 }, 763)).toThrow(
      expect.objectContaining({ code: 'context_exceeded', details: { tokens: 700, contextTokens: 763 } }),
    );
  });

  it('is what the server is asked for, and a prompt that leaves none is not sent', async () => {
    const { server, model } = await startModel([answer('yes')], { contextTokens: 1_000 });
    await model.complete({ ...PLAIN, prompt, maxTokens: 300 });
    expect(server.requests[0]?.body).toMatchObject({ max_tokens: 214 });
    const longer = { ...prompt, user: 'word '.repeat(350) };
    const error = await errorOf(model.complete({ ...PLAIN, prompt: longer, maxTokens: 300 }));
    expect(error).toMatchObject({ code: 'context_exceeded', details: { usage: { calls: 0 } } });
    server.assertDone();
  });
});

describe('the environment', () => {
  const before = process.env;
  afterEach(() => {
    process.env = before;
    vi.restoreAllMocks();
  });

  it('re-routes, copies and prints no prompt, and adds no key: LANGSMITH_* and OPENAI_* are without effect', async () => {
    process.env = { ...before };
    const elsewhere = await startScriptedServer(() => send(200, {}));
    const spies = [vi.spyOn(console, 'log'), vi.spyOn(console, 'debug'), vi.spyOn(process.stdout, 'write')];
    Object.assign(process.env, {
      LANGSMITH_TRACING: 'true',
      LANGSMITH_API_KEY: 'tracing-key',
      LANGSMITH_ENDPOINT: elsewhere.baseUrl,
      OPENAI_BASE_URL: elsewhere.baseUrl,
      OPENAI_API_KEY: 'key-of-the-environment',
      OPENAI_CUSTOM_HEADERS: 'x-secret: header-of-the-environment',
      OPENAI_LOG: 'debug',
    });
    const { server, model } = await startModel([answer('yes')], { apiKey: undefined });
    await expect(model.complete(PLAIN)).resolves.toMatchObject({ text: 'yes' });
    await new Promise((resolve) => setTimeout(resolve, 200)); // tracers post in the background
    await elsewhere.close();
    expect(elsewhere.requests).toHaveLength(0);
    expect(server.requests).toHaveLength(1);
    expect(JSON.stringify(server.requests[0])).not.toMatch(/environment|tracing-key/);
    for (const spy of spies) expect(spy).not.toHaveBeenCalled();
  });
});

const closing: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const close of closing) await close();
});

/** Behaves as a server with a good model would on the contract's requests. */
function behave({ path, body }: RecordedRequest): Behaviour {
  if (path === '/v1/completions') {
    return String(body.prompt).endsWith('banana')
      ? nextTokens({ '"}': 0.98, q: 0.02 })
      : nextTokens({ ban: 0.9, qu: 0.1 });
  }
  if (body.max_tokens === 3) return answer('One two three', { finish: 'length' });
  return body.response_format ? answerJson({ fruit: 'banana' }) : answer('banana');
}

describeModelContract('the OpenAI-compatible model', async () => {
  const server = await startScriptedServer(behave);
  closing.push(server.close);
  return createOpenAIModel({ baseUrl: server.baseUrl, model: 'scripted-model', contextTokens: 2_000 });
});

describeModelContract('the scripted model', async () =>
  createScriptedModel({
    answers: (request) => (request.maxTokens === 3 ? 'One two three four five' : '{"fruit": "banana"}'),
    readers: () => ({
      probabilities: new Map([
        ['banana', 0.9],
        ['quince', 0.1],
      ]),
    }),
    limits: { contextTokens: 2_000 },
  }),
);
