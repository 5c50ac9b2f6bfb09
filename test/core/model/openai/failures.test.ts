import { getEventListeners } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { createOpenAIModel } from '../../../../src/core/model/openai/openai-model.js';
import {
  answer,
  cutBeforeAnswer,
  cutInsideBody,
  cutInsideStream,
  fail,
  hang,
  rateLimited,
  send,
} from '../../../support/server-behaviours.js';
import { errorOf, KEY, PLAIN, startModel } from './setup.js';

const OK = answer('yes');

describe('failures that may pass', () => {
  it.each([
    ['429', rateLimited()],
    ['500', fail(500, 'oops')],
    ['503', fail(503, 'loading')],
    ['408', fail(408, 'slow')],
    ['a connection cut before the answer', cutBeforeAnswer()],
    ['a connection cut inside the body', cutInsideBody()],
    ['a connection cut inside a stream', cutInsideStream()],
    ['a body that is not JSON', send(200, '<html>')],
    ['an error with status 200', send(200, { error: { message: 'upstream failed' } })],
  ])('tries again after %s, and counts both calls', async (_, behaviour) => {
    const { server, model } = await startModel([behaviour, OK]);
    const { usage } = await model.complete(PLAIN);
    expect(usage).toMatchObject({ calls: 2, read: 10, written: 5 });
    server.assertDone();
  });

  it.each([
    ['429', rateLimited(), '429'],
    ['429', rateLimited(), 'Wait, or ask for less at once'],
    ['500', fail(500, 'oops'), '500: oops. The log of the server'],
    ['a cut connection', cutBeforeAnswer(), 'was cut'],
    ['no choices', send(200, { choices: [] }), 'choices'],
  ])('ends as model_failed when %s stays, after the retries', async (_, behaviour, said) => {
    const { server, model } = await startModel(() => behaviour, { maxRetries: 2 });
    const error = await errorOf(model.complete(PLAIN));
    expect(error).toMatchObject({ code: 'model_failed', details: { usage: { calls: 3 } } });
    expect(error.message).toContain(said);
    expect(server.requests).toHaveLength(3);
  });

  it('waits as Retry-After says, not as the back-off would', async () => {
    const { model } = await startModel([rateLimited({ 'retry-after': '0' }), OK], { retryDelayMs: 1_000_000 });
    await expect(model.complete(PLAIN)).resolves.toMatchObject({ text: 'yes' });
  });

  it.each([
    ['seconds', '120'],
    ['a date', 'Fri, 31 Dec 2100 23:59:59 GMT'],
  ])('does not wait for a Retry-After in %s that lies beyond the time-out', async (_, retryAfter) => {
    const { server, model } = await startModel([rateLimited({ 'retry-after': retryAfter })]);
    await expect(model.complete(PLAIN)).rejects.toMatchObject({ code: 'model_failed' });
    expect(server.requests).toHaveLength(1);
  });
});

describe('failures that do not pass', () => {
  it.each([
    ['a wrong key', fail(401, `Incorrect API key provided: ${KEY}.`), 'model_refused', 'Incorrect API key'],
    ['a key that may not', fail(401, 'No.'), 'model_refused', 'Check the key'],
    ['a forbidden model', fail(403, 'Not for you.'), 'model_refused', 'Not for you'],
    ['an unknown model', fail(404, 'The model `x` does not exist.'), 'model_refused', 'The model `x` does not exist'],
    ['a spent quota', fail(429, 'insufficient_quota'), 'model_refused', 'insufficient_quota. Check the quota'],
    [
      'a bad field',
      send(422, { detail: 'max_tokens too large' }),
      'model_refused',
      'max_tokens too large. Headers and further fields',
    ],
    ['a long prompt (OpenAI)', fail(400, 'maximum context length is 8192 tokens'), 'context_exceeded', '8192'],
    ['a long prompt (llama.cpp)', fail(400, 'exceeds the available context size'), 'context_exceeded', 'context size'],
    ['a long prompt (500)', fail(500, 'context length exceeded'), 'context_exceeded', 'context length'],
  ])('tells of %s at once, in the words of the server and without the key', async (_, behaviour, code, said) => {
    const { server, model } = await startModel([behaviour]);
    const error = await errorOf(model.complete(PLAIN));
    expect(error).toMatchObject({ code, details: { usage: { calls: 1 } } });
    expect(error.message).toContain(said);
    expect(JSON.stringify(error) + error.stack).not.toContain(KEY);
    server.assertDone();
  });

  it.each([
    ['in Base64', Buffer.from(KEY).toString('base64')],
    ['where its words are cut', `${'x '.repeat(290)}${KEY}`],
  ])('shows no part of the key that a server repeats %s', async (_, words) => {
    const { server, model } = await startModel([fail(401, words)]);
    const { message } = await errorOf(model.complete(PLAIN));
    expect(message).toContain('[masked]');
    expect(message).not.toContain(words.slice(-20));
    expect(message).not.toContain(KEY.slice(0, 8));
    server.assertDone();
  });

  it('names the URL and what to do when nothing listens there', async () => {
    const baseUrl = `http://127.0.0.1:${await freePort()}/v1`;
    const error = await errorOf(createOpenAIModel({ baseUrl, model: 'm' }).complete(PLAIN));
    expect(error).toMatchObject({ code: 'model_unavailable', details: { usage: { calls: 1 } } });
    expect(error.message).toContain(baseUrl);
    expect(error.message).toContain('Start it');
  });

  it.each([
    ['its name can not be resolved', 'EAI_AGAIN', 'Start it'],
    ['its certificate is its own', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'NODE_EXTRA_CA_CERTS'],
  ])('asks a server once where %s, and says what to do', async (_, code, advice) => {
    const fetch = async () => {
      throw new TypeError('fetch failed', { cause: Object.assign(new Error(code), { code }) });
    };
    const error = await errorOf(createOpenAIModel({ baseUrl: 'https://host/v1', model: 'm', fetch }).complete(PLAIN));
    expect(error).toMatchObject({ code: 'model_unavailable', details: { usage: { calls: 1 } } });
    expect(error.message).toContain(`(${code})`);
    expect(error.message).toContain(advice);
  });
});

describe('time and cancellation', () => {
  it('ends as model_timeout when no answer comes', async () => {
    const { model } = await startModel([hang()], { timeoutMs: 30 });
    await expect(model.complete(PLAIN)).rejects.toMatchObject({
      code: 'model_timeout',
      message: expect.stringContaining('Raise its time-out: timeoutMs of the model'),
      details: { timeoutMs: 30, usage: { calls: 1 } },
    });
  });

  it('ends as model_timeout with a fetch that does not heed its signal', async () => {
    const { model } = await startModel([], { timeoutMs: 30, fetch: () => new Promise(() => {}) });
    await expect(model.complete(PLAIN)).rejects.toMatchObject({ code: 'model_timeout' });
  });

  it('ends at once when cancelled while the server thinks, and closes the connection', async () => {
    let closed: Promise<void> | undefined;
    const { server, model } = await startModel([
      (_request, response) => {
        closed = new Promise((resolve) => response.once('close', resolve));
      },
    ]);
    const controller = new AbortController();
    const pending = errorOf(model.complete({ ...PLAIN, signal: controller.signal }));
    await server.received(1);
    controller.abort();
    expect(await pending).toMatchObject({ code: 'cancelled', details: { usage: { calls: 1 } } });
    await closed;
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
  });

  it('ends at once when cancelled between two attempts', async () => {
    const { server, model } = await startModel(() => rateLimited(), { retryDelayMs: 40_000 });
    const controller = new AbortController();
    const pending = errorOf(model.complete({ ...PLAIN, signal: controller.signal }));
    await server.received(1);
    await pause(50); // the answer is read by now, and the pause begun
    controller.abort();
    expect(await pending).toMatchObject({ code: 'cancelled' });
    expect(server.requests).toHaveLength(1);
  });
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
