import { getEventListeners } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { getGlobalDispatcher, MockAgent, setGlobalDispatcher } from 'undici';
import { afterEach, describe, expect, it } from 'vitest';
import { untilQuotation } from '../../../../src/core/model/openai/failure.js';
import { createOpenAIModel } from '../../../../src/core/model/openai/openai-model.js';
import {
  answer,
  cutBeforeAnswer,
  cutInsideBody,
  fail,
  hang,
  nextTokens,
  rateLimited,
  send,
} from '../../../support/server-behaviours.js';
import { errorOf, KEY, PLAIN, startModel } from './setup.js';

const OK = answer('yes');

const before = getGlobalDispatcher();
const mock = new MockAgent();
afterEach(() => setGlobalDispatcher(before));

describe('failures that may pass', () => {
  it.each([
    ['429', rateLimited()],
    ['500', fail(500, 'oops')],
    ['503', fail(503, 'loading')],
    ['408', fail(408, 'slow')],
    ['a connection cut before the answer', cutBeforeAnswer()],
    ['a connection cut inside the body', cutInsideBody()],
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
    ['429 with a Retry-After', rateLimited({ 'retry-after': '0.5' }), 'Wait 1 s, or ask for less at once'],
    ['500', fail(500, 'oops'), '500: oops. The log of the server'],
    ['a page in place of JSON', send(200, '<html>'), 'the body is not JSON. Check the base URL'],
    ['a cut connection', cutBeforeAnswer(), 'was cut'],
    ['no choices', send(200, { choices: [] }), 'choices'],
    ['an answer without an end', send(200, 'x'.repeat(17 * 2 ** 20)), 'no usable answer: more than 16777216 bytes'],
  ])('ends as model_failed when %s stays, after the retries', async (_, behaviour, said) => {
    const { server, model } = await startModel(() => behaviour, { maxRetries: 2 });
    const error = await errorOf(model.complete(PLAIN));
    expect(error).toMatchObject({ code: 'model_failed', details: { usage: { calls: 3 } } });
    expect(error.message).toContain(said);
    expect(server.requests).toHaveLength(3);
  });

  it.each([
    ['seconds', { 'retry-after': '0' }],
    ['a date that is past', { 'retry-after': 'Thu, 01 Jan 2015 00:00:00 GMT' }],
    ['milliseconds, which are the more exact', { 'retry-after': '7200', 'retry-after-ms': '1' }],
  ])('waits as the server says in %s, not as the back-off would', async (_, headers) => {
    const { server, model } = await startModel([rateLimited(headers), OK], { retryDelayMs: 1_000_000 });
    await expect(model.complete(PLAIN)).resolves.toMatchObject({ text: 'yes' });
    server.assertDone();
  });

  it.each<[string, Record<string, string>, number]>([
    ['a Retry-After in seconds', { 'retry-after': '120' }, 0],
    ['a Retry-After as a date', { 'retry-after': 'Fri, 31 Dec 2100 23:59:59 GMT' }, 0],
    ['its own pause, where the server says nothing usable,', { 'retry-after': 'soon' }, 1_000_000],
  ])('does not wait for %s that ends behind the time-out', async (_, headers, retryDelayMs) => {
    const { server, model } = await startModel([rateLimited(headers)], { retryDelayMs, timeoutMs: 5_000 });
    await expect(model.complete(PLAIN)).rejects.toMatchObject({ code: 'model_failed' });
    expect(server.requests).toHaveLength(1);
  });
});

describe('failures that do not pass', () => {
  it.each([
    ['a wrong key', fail(401, `Incorrect API key provided: ${KEY}.`), 'model_refused', 'Incorrect API key'],
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
    [
      'a long prompt (500)',
      fail(500, 'context length exceeded'),
      'context_exceeded',
      'exceeded. Set contextTokens of the model',
    ],
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
    ['it takes no connection in time', 'UND_ERR_CONNECT_TIMEOUT', 'Start it'],
    ['its certificate is its own', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'NODE_EXTRA_CA_CERTS'],
  ])('asks a server once where %s, and says what to do', async (_, code, advice) => {
    const failure = Object.assign(new Error('Timeout Error'), { code });
    setGlobalDispatcher(mock);
    mock.get('https://host').intercept({ path: '/v1/chat/completions', method: 'POST' }).replyWithError(failure);
    const error = await errorOf(createOpenAIModel({ baseUrl: 'https://host/v1', model: 'm' }).complete(PLAIN));
    expect(error).toMatchObject({ code: 'model_unavailable', details: { code, usage: { calls: 1 } } });
    expect(error.message).toContain(`(${code})`);
    expect(error.message).toContain(advice);
  });

  it('follows no redirection, which would carry prompt and keys to another server, and names it', async () => {
    const other = await startModel([]);
    const location = `${other.server.baseUrl}/chat/completions?token=hunter2`;
    const { server, model } = await startModel([(_request, response) => response.writeHead(308, { location }).end()]);
    const error = await errorOf(model.complete(PLAIN));
    expect(error).toMatchObject({ code: 'model_refused', details: { status: 308 } });
    expect(error.message).toContain(`redirects to ${other.server.baseUrl}/chat/completions. Redirections`);
    expect([server.requests.length, other.server.requests.length]).toEqual([1, 0]);
  });
});

const SECRETIVE = {
  system: 'You choose tools.\n- read_level_v2: Water level of a station.',
  user: 'Earlier messages:\nuser: hello there\nRequest: log in with hunter2secret, please',
};

describe('the words of a server', () => {
  it.each([
    ['all of the prompt', `Content filter: ${SECRETIVE.system}\n${SECRETIVE.user}`, 'Content filter: […]'],
    ['the message', 'Bad: "log in with hunter2secret, please". Stop.', 'Bad: "[…]'],
    ['across a line', 'Bad: hello there Request: log in', 'Bad: […]'],
    ['as JSON in JSON', 'Input: "messages:\\\\nuser: hello there\\\\nRequest: log"', 'Input: "[…]'],
    ['the description of a tool', 'Bad: Water level of a station', 'Bad: […]'],
    ['a code of the request alone', 'Flagged: "hunter2secret"!', 'Flagged: "[…]'],
  ])('end where they quote the prompt: %s', (_, text, rest) => expect(untilQuotation(text, SECRETIVE)).toBe(rest));

  it('end where they quote it in Chinese', () => {
    const chinese = { system: '你选择工具。', user: 'Request: 请用密码秘密九九登录' };
    expect(untilQuotation('内容不合规：用密码秘密九九', chinese)).toBe('内容不合规：[…]');
  });

  it.each([
    'maximum context length is 8192 tokens. However, you requested 9000 tokens',
    'Invalid schema for response_format: read_level_v2 is not allowed',
    'The model `x` does not exist, please log in',
    '',
  ])('stay as they are otherwise: "%s"', (text) => expect(untilQuotation(text, SECRETIVE)).toBe(text));

  const quoted = 'log in with hunter2secret, please';

  it.each([
    ['in the words of OpenAI', fail(400, `Content filter: ${quoted}`), 'answered 400: Content filter: […]. Headers'],
    ['in a body of another form', send(422, { input: [`用 ${quoted}`] }), 'answered 422: {"input":["用 […]. Headers'],
    [
      'in letters as codes',
      send(400, '{"input": "\\u006cog in with hunter2secret, please"}'),
      '{"input":"[…]. Headers',
    ],
    ['with status 200', send(200, { error: { message: `Filter: ${quoted}` } }), 'no usable answer: Filter: […].'],
    ['behind many other words', fail(400, `${'x '.repeat(5_000)}${quoted}`), 'answered 400: x x'],
  ])('bring no prompt into an error that is quoted %s', async (_, behaviour, said) => {
    const { model } = await startModel(() => behaviour, { maxRetries: 0 });
    const error = await errorOf(model.complete({ ...PLAIN, prompt: SECRETIVE }));
    expect(error.message).toContain(said);
    expect(error.message.length).toBeLessThan(800);
    expect(JSON.stringify(error) + error.stack).not.toContain('hunter2');
  });

  it('bring none into an error of a reader either', async () => {
    const { model } = await startModel([nextTokens({ a: 1 }), fail(400, `Content filter: ${quoted}`)]);
    const reader = await model.openReader?.({ prompt: SECRETIVE, opening: '["' });
    const error = await errorOf(reader?.weigh(reader.tokenize('a'), []) ?? Promise.resolve());
    expect(error.message).toContain('Content filter: […]');
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
