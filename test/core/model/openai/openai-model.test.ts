import { describe, expect, it } from '@jest/globals';
import { createOpenAIModel } from '../../../../src/core/model/openai/openai-model.js';
import {
  answer,
  answerJson,
  cutJson,
  emptyAnswer,
  fencedJson,
  proseAroundJson,
  refusal,
  send,
  withCachedTokens,
  wrongKey,
} from '../../../support/server-behaviours.js';
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

  it('uses the fetch of the options', async () => {
    const urls: string[] = [];
    const model = createOpenAIModel({
      baseUrl: 'http://model.invalid/v1/',
      model: 'm',
      fetch: async (input) => {
        urls.push(String(input));
        return Response.json({ choices: [{ message: { role: 'assistant', content: 'hi' } }] });
      },
    });
    await expect(model.complete(PLAIN)).resolves.toMatchObject({ text: 'hi' });
    expect(urls).toEqual(['http://model.invalid/v1/chat/completions']);
  });

  it.each([
    ['a base URL without a scheme', { baseUrl: 'localhost:8080/v1' }, 'baseUrl'],
    ['a base URL with a password', { baseUrl: 'http://me:pass@host/v1' }, 'baseUrl'],
    ['no model', { model: ' ' }, 'model'],
    ['a key with a line break inside', { apiKey: 'hunter2\nhunter2' }, 'apiKey'],
    ['a header with a line break', { headers: { 'x-key': 'hunter2\n' } }, 'headers.x-key'],
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
    ['fenced JSON', fencedJson(VALUE), `\`\`\`json\n${JSON.stringify(VALUE, null, 2)}\n\`\`\``, 'stop'],
    ['prose around JSON', proseAroundJson(VALUE), `Sure! Here it is: ${JSON.stringify(VALUE)} Anything else?`, 'stop'],
    ['a wrong key', wrongKey(), '{"tools_i_like": ["a"]}', 'stop'],
    ['a refusal', refusal(), "I'm sorry, but I can't help with that.", 'stop'],
    ['an empty answer', emptyAnswer(), '', 'stop'],
    ['no content', answer(null), '', 'stop'],
    ['cut JSON', cutJson(VALUE), JSON.stringify(VALUE).slice(0, -4), 'length'],
  ])('keeps the raw text, finish and usage of %s', async (_, behaviour, text, finish) => {
    const { model } = await startModel([behaviour]);
    const completion = await model.complete(WITH_SCHEMA);
    expect(completion).toEqual({ text, finish, usage: { calls: 1, read: 10, cached: 0, written: 5 } });
  });

  it("keeps OpenAI's own refusal field as the text", async () => {
    const message = { role: 'assistant', content: null, refusal: 'I must not.' };
    const { model } = await startModel([send(200, { choices: [{ message, finish_reason: 'stop' }] })]);
    await expect(model.complete(WITH_SCHEMA)).resolves.toMatchObject({ text: 'I must not.' });
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

  it('refuses a prompt over the context before it sends anything', async () => {
    const { server, model } = await startModel([], { contextTokens: 20 });
    const prompt = { system: 'word '.repeat(30), user: 'x' };
    const error = await errorOf(model.complete({ ...PLAIN, prompt }));
    expect(error).toMatchObject({ code: 'context_exceeded', details: { contextTokens: 20, usage: { calls: 0 } } });
    expect(server.requests).toHaveLength(0);
  });
});
