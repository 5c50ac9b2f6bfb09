/** What holds for any route: streams of events, how the server stops, and whether it is ready. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { text as readAll } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import { acceptsEventStream } from '../../../src/adapters/http/answer-work.js';
import { createReadiness } from '../../../src/adapters/http/readiness.js';
import { openStore } from '../../../src/agents/store/open-store.js';
import { WinnowError } from '../../../src/core/errors.js';
import type { Planner } from '../../../src/core/planner.js';
import { configured, serve } from '../../cli/serve-setup.js';
import { type Behaviour, type ScriptedServer, startScriptedServer } from '../../support/scripted-server.js';
import { answerJson, fail } from '../../support/server-behaviours.js';
import { startAgentServer } from './agents/setup.js';
import {
  ASKED,
  answeringPlanner,
  createHangingModel,
  parseEvents,
  plannerOf,
  portOf,
  post,
  recordLog,
  startServer,
  throwingPlanner,
} from './setup.js';

const STREAM = { headers: { accept: 'text/event-stream', 'x-request-id': 'r-1' } };

describe('the event stream', () => {
  it.each(['/v1/plan', '/v1/select'])(
    'of %s tells each stage and then the result, which holds the same trace',
    async (path) => {
      const { url } = await startServer({ planner: answeringPlanner() });
      const response = await post(`${url}${path}`, ASKED, STREAM);
      expect(response.status).toBe(200);
      expect(response.headers.get('content-type')).toBe('text/event-stream');
      expect(response.headers.get('x-request-id')).toBe('r-1');
      const events = parseEvents(await response.text());
      const last = events.pop();
      expect(last?.event).toBe('result');
      expect(events.length).toBeGreaterThan(1);
      expect(events.map(({ event }) => event)).toEqual(events.map(() => 'stage'));
      expect(last?.data.trace).toEqual(events.map(({ data }) => data));
    },
  );

  it('tells a stage while the model is still at work, and keeps the connection alive with comments', async () => {
    const { model, asked } = createHangingModel();
    const { url } = await startServer({ planner: plannerOf(model), options: { heartbeatMs: 5 } });
    const leave = new AbortController();
    const response = await post(`${url}/v1/plan`, ASKED, { ...STREAM, signal: leave.signal });
    await asked;
    let text = '';
    for await (const chunk of response.body ?? []) {
      text += Buffer.from(chunk).toString();
      if (text.split('\n\n: still at work\n\n: still at work\n\n').length > 1) break;
    }
    expect(text).toMatch(/^event: stage\ndata: \{"stage":"scope".*\n\n(event: stage\n.*\n\n)*(: still at work\n\n)+/);
    leave.abort();
  });

  it('ends with the problem document when the work fails', async () => {
    const error = new WinnowError('plan_invalid', 'No plan.', { issues: ['s1: no such tool'] });
    const { url } = await startServer({ planner: throwingPlanner(error, { after: 'scope' }) });
    const events = parseEvents(await (await post(`${url}/v1/plan`, ASKED, STREAM)).text());
    expect(events).toEqual([
      { event: 'stage', data: { stage: 'scope', milliseconds: 0, note: 'it begins' } },
      {
        event: 'error',
        data: expect.objectContaining({ code: 'plan_invalid', status: 502, requestId: 'r-1', issues: error.issues }),
      },
    ]);
  });

  it('does not open for a request that fails before its first stage', async () => {
    const { url } = await startServer({ planner: throwingPlanner(new WinnowError('model_timeout', 'Too slow.')) });
    const failed = await post(`${url}/v1/plan`, ASKED, STREAM);
    const refused = await post(`${url}/v1/plan`, { message: '' }, STREAM);
    expect([failed.status, refused.status]).toEqual([504, 400]);
    for (const response of [failed, refused]) {
      expect(response.headers.get('content-type')).toBe('application/problem+json');
    }
    expect(await refused.json()).toMatchObject({ code: 'invalid_request' });
  });
});

describe('acceptsEventStream', () => {
  it.each([
    ['text/event-stream', true],
    ['TEXT/Event-Stream; charset=utf-8', true],
    ['text/event-stream, */*', true],
    ['text/event-stream, application/json;q=0.9', true],
    ['text/event-stream, application/json', true],
    ['application/json, text/event-stream', false],
    ['text/event-stream;q=0.5, application/json', false],
    ['text/event-stream;q=0', false],
    ['application/json', false],
    ['*/*', false],
    ['', false],
    [undefined, false],
  ])('of %s is %s', (accept, expected) => {
    expect(acceptsEventStream(accept)).toBe(expected);
  });
});

/** Waits with `plan` until it is let go. */
function createHeldPlanner(onEnd?: () => void): { planner: Planner; asked: Promise<void>; letGo(): void } {
  const free = answeringPlanner();
  let begin: () => void = () => {};
  let letGo: () => void = () => {};
  const asked = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const planner: Planner = {
    ...free,
    async plan(request, call) {
      begin();
      await held;
      const result = await free.plan(request, call);
      onEnd?.();
      return result;
    },
  };
  return { planner, asked, letGo: () => letGo() };
}

/** What comes until then is answered 503. */
async function untilNobodyListens(url: string): Promise<void> {
  const listens = () =>
    fetch(`${url}/readyz`).then(
      async (answer) => (await answer.text()) !== '',
      () => false,
    );
  while (await listens());
}

describe('close()', () => {
  it('answers what is on its way to it on a connection that was idle', async () => {
    const { app, url } = await startServer({ planner: answeringPlanner() });
    const socket = connect(portOf(url), '127.0.0.1');
    const ask = () => socket.write('GET /v1/tools HTTP/1.1\r\nhost: localhost\r\n\r\n');
    ask();
    await once(socket, 'data');
    const closed = app.close();
    ask();
    const text = await readAll(socket);
    expect(text).toMatch(/^HTTP\/1\.1 (?:200|503) [\s\S]*\r\nconnection: close\r\n/iu);
    await closed;
  });

  it('lets a running request end, refuses new ones, and only then closes the model', async () => {
    const order: string[] = [];
    const { planner, asked, letGo } = createHeldPlanner(() => order.push('answered'));
    const onClose = async () => void order.push('model closed');
    const { app, url } = await startServer({ planner, onClose });
    const running = post(`${url}/v1/plan`, ASKED);
    await asked;
    const closed = app.close();
    await untilNobodyListens(url);
    expect(order).toEqual([]);
    letGo();
    expect((await running).status).toBe(200);
    await closed;
    expect(order).toEqual(['answered', 'model closed']);
  });

  it('answers 503 to a request that comes on a connection of before', async () => {
    const { planner, asked, letGo } = createHeldPlanner();
    const { logger, lines } = recordLog();
    const { app, url } = await startServer({ planner, logger });
    const running = post(`${url}/v1/plan`, ASKED);
    await asked;
    const opened = once(app.server, 'connection');
    const socket = connect(portOf(url), '127.0.0.1');
    await opened;
    const closed = app.close();
    await untilNobodyListens(url);
    socket.write('GET /readyz HTTP/1.1\r\nhost: x\r\n\r\n');
    const text = await readAll(socket);
    expect(text).toMatch(/^HTTP\/1\.1 503 /);
    expect(text).toMatch(/\r\nconnection: close\r\n/i);
    expect(text).toMatch(/\r\nretry-after: 5\r\n/);
    expect(text).toContain('"detail":"The server is stopping."');
    const told = { level: 'info', route: '/readyz', code: 'overloaded', msg: 'The server is stopping.' };
    expect(lines()).toContainEqual(expect.objectContaining(told));
    letGo();
    expect((await running).status).toBe(200);
    await closed;
  });

  it.each(['application/json', 'text/event-stream'])(
    'cancels at the limit what still runs, and says so (%s)',
    async (accept) => {
      const { model, asked, cancelled } = createHangingModel();
      const { logger, lines } = recordLog();
      const { app, url } = await startServer({ planner: plannerOf(model), options: { stopTimeoutMs: 10 }, logger });
      const running = post(`${url}/v1/plan`, ASKED, { headers: { accept } });
      await asked;
      const closed = app.close();
      expect(await cancelled).toBe('cancelled');
      expect(await (await running).text()).toContain('The server stopped before the answer was ready.');
      expect(lines().map(({ level }) => level)).not.toContain('error');
      await closed;
    },
  );

  it('cuts connections whose request cannot be cancelled', async () => {
    const { planner, asked } = createHeldPlanner();
    const { app, url } = await startServer({ planner, options: { stopTimeoutMs: 10 } });
    const running = post(`${url}/v1/plan`, ASKED).catch((error: Error) => error.message);
    await asked;
    await app.close();
    expect(await running).toBe('fetch failed');
  });
});

describe.each(['/healthz', '/readyz'])('GET %s', (path) => {
  it('is ok while requests are taken', async () => {
    const { url } = await startServer({ planner: answeringPlanner() });
    const response = await fetch(`${url}${path}`);
    expect([response.status, await response.json()]).toEqual([200, { status: 'ok' }]);
  });
});

const readyz = async (url: string) => {
  const response = await fetch(`${url}/readyz`);
  return { status: response.status, body: JSON.parse(await response.text()) };
};

describe('GET /readyz', () => {
  const models: ScriptedServer[] = [];
  afterEach(async () => {
    for (const model of models.splice(0)) await model.close();
  });

  it('is 503 with the reason while the store takes no write, and 200 again after', async () => {
    const store = await openStore();
    let isFull = true;
    const probe = async () => {
      if (isFull) throw new WinnowError('store_failed', 'The store failed: database or disk is full.');
    };
    const agents = { store: { ...store, probe } };
    const { url } = await startAgentServer({ more: agents });
    expect(await readyz(url)).toMatchObject({ status: 503, body: { code: 'store_failed' } });
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    isFull = false;
    const second = await startAgentServer({ more: agents });
    expect(await readyz(second.url)).toEqual({ status: 200, body: { status: 'ok' } });
  });

  async function serveWith(behaviour: Behaviour, ...words: string[]) {
    const model = await startScriptedServer(() => behaviour);
    models.push(model);
    const server = await serve('--base-url', model.baseUrl, '--model', 'test', ...words);
    return { ...(await readyz(server.address)), asked: model.requests.length };
  }

  it.each([
    ['fails', fail(400, 'no'), true, 503],
    ['answers', answerJson({ ok: true }), true, 200],
    ['fails, and nobody wants to know', fail(400, 'no'), false, 200],
  ])('asks a model that %s where the configuration says so', async (_, behaviour, readyModel, status) => {
    const answer = await serveWith(behaviour, ...configured({ server: { readyModel } }));
    expect([answer.status, answer.asked > 0]).toEqual([status, readyModel]);
  });
});

describe('readiness', () => {
  it('tries each thing once for all who ask within a while, also where it failed', async () => {
    let time = 0;
    let tries = 0;
    const run = async () => {
      tries += 1;
      if (tries === 1) throw new Error('first');
    };
    const ready = createReadiness([{ run, holdsMs: 100 }], () => time);
    await Promise.all([expect(ready()).rejects.toThrow('first'), expect(ready()).rejects.toThrow('first')]);
    time = 99;
    await expect(ready()).rejects.toThrow('first');
    time = 100;
    await ready();
    await ready();
    expect(tries).toBe(2);
  });

  it('does not wait for a store that never answers', async () => {
    const ready = createReadiness([{ run: () => new Promise(() => undefined), holdsMs: 100, withinMs: 20 }]);
    await expect(ready()).rejects.toMatchObject({ code: 'store_failed' });
  });
});
