/** What one user may take of a server, so that the others have theirs. */
import { EventEmitter, once } from 'node:events';
import { connect } from 'node:net';
import { text as readAll } from 'node:stream/consumers';
import { setImmediate as nextTurn } from 'node:timers/promises';
import fastify from 'fastify';
import { expect, it, vi } from 'vitest';
import { z } from 'zod';
import { addAgentRoutes } from '../../../src/adapters/http/agents/add-agent-routes.js';
import { createOnce } from '../../../src/adapters/http/agents/idempotency.js';
import { route } from '../../../src/adapters/http/agents/route.js';
import { createAnswerWork, streamEvents } from '../../../src/adapters/http/answer-work.js';
import { createGate } from '../../../src/adapters/http/gate.js';
import { addGracefulStop } from '../../../src/adapters/http/graceful-stop.js';
import { boundUnreadAnswers } from '../../../src/adapters/http/unread-answers.js';
import type { Caller } from '../../../src/agents/contracts.js';
import { parseQuotas } from '../../../src/agents/quotas.js';
import { createFunctionExecutor } from '../../../src/agents/sandbox/executors/functions.js';
import { createRerank, parseRerankSettings } from '../../../src/agents/search/rerank.js';
import { openStore } from '../../../src/agents/store/open-store.js';
import type { Store } from '../../../src/agents/store/sql/sql-store.js';
import type { PlanRunRecord } from '../../../src/agents/store/store.js';
import { createScriptedModel } from '../../support/scripted-model.js';
import { startAgentServer } from './agents/setup.js';

it('the gate keeps three quarters of its places from any one user', async () => {
  const gate = createGate(8);
  const ends: (() => void)[] = [];
  const enter = (user?: string) => gate.run(user, () => new Promise<void>((resolve) => ends.push(resolve)));
  const running = [enter('mallory'), enter('mallory')];
  await expect(enter('mallory')).rejects.toMatchObject({ code: 'quota_exceeded' });
  running.push(enter('ann'), enter(), enter(), enter(), enter(), enter());
  await expect(enter('bob')).rejects.toMatchObject({ code: 'overloaded' });
  ends[0]?.();
  await running[0];
  running.push(enter('mallory'));
  for (const end of ends) end();
  await Promise.all(running);
});

it('the gate has a place for each user, however small it is', async () => {
  await expect(createGate(1).run('ann', async () => 'done')).resolves.toBe('done');
});

it('requests that change something begin by turns, however many of them one user has sent', async () => {
  const app = fastify();
  app.decorateRequest('identity');
  app.addHook('onRequest', async (request) => {
    request.identity = { caller: { user: String(request.headers.user), roles: [] }, isProven: true };
  });
  const begun: (string | undefined)[] = [];
  const handle = ({ caller }: { caller: Caller | undefined }) => begun.push(caller?.user);
  const answer = { name: 'Begun', schema: z.number() };
  const begin = route({ method: 'POST', path: '/begin', operationId: 'begin', summary: 'Begin', answer, handle });
  const stop = addGracefulStop(app, { stopTimeoutMs: 1_000 });
  const gate = createGate(8);
  const answerWork = createAnswerWork({ gate, stop, heartbeatMs: 1_000, reportError: () => expect.unreachable() });
  const repeat = createOnce(app, undefined, stop);
  addAgentRoutes(app, { routes: [begin], metrics: undefined, answerWork, gate, stop, once: repeat });
  const users = [...Array.from({ length: 8 }, () => 'mallory'), 'ann'];
  await Promise.all(users.map((user) => app.inject({ method: 'POST', url: '/begin', headers: { user } })));
  expect(begun).toHaveLength(9);
  expect(begun.indexOf('ann')).toBeLessThan(8);
  await app.close();
});

it('a user with as many open sessions as allowed is told so, and others are not', async () => {
  const { ask } = await startAgentServer({ more: { options: { quotas: parseQuotas({ sessions: 2 }) } } });
  const open = (user?: string) => ask('POST /v1/sessions', {}, user === undefined ? {} : { user });
  const { body } = await open('ann');
  await open('ann');
  expect(await open('ann')).toMatchObject({
    status: 429,
    body: { code: 'quota_exceeded', detail: expect.stringContaining('quotas.sessions') },
  });
  expect([(await open('bob')).status, (await open()).status, (await open()).status]).toEqual([201, 201, 201]);
  await ask(`DELETE /v1/sessions/${body.id}`, undefined, { user: 'ann' });
  expect((await open('ann')).status).toBe(201);
});

it('searches that wait for a model take places of the server, and of their user no more than the share', async () => {
  const { complete, isAsked, end } = createWaitingModel();
  const model = { ...createScriptedModel(), complete };
  const rerank = createRerank(model, { settings: parseRerankSettings({ enabled: true }), onFailure: () => {} });
  const { ask } = await startAgentServer({ more: { rerank }, options: { concurrency: 8 } });
  const search = async (user: string) => {
    const { body } = await ask('POST /v1/sessions', {}, { user });
    return async () => (await ask(`POST /v1/sessions/${body.id}/search`, { query: 'file' }, { user })).status;
  };
  const [ofMallory, ofBob] = [await search('mallory'), await search('bob')];
  const waiting = [ofMallory(), ofMallory()];
  await isAsked(2);
  expect(await ofMallory()).toBe(429);
  waiting.push(ofBob());
  await isAsked(3);
  end();
  expect(await Promise.all(waiting)).toEqual([200, 200, 200]);
});

/** It answers nothing until the end, and then fails. */
function createWaitingModel() {
  const asked = new EventEmitter();
  const waiting: ((error: Error) => void)[] = [];
  return {
    complete: () =>
      new Promise<never>((_, reject) => {
        waiting.push(reject);
        asked.emit('asked');
      }),
    async isAsked(times: number) {
      while (waiting.length < times) await once(asked, 'asked');
    },
    end() {
      for (const reject of waiting) reject(new Error('it is over'));
    },
  };
}

const STREAM = {
  event: 'step',
  heartbeatMs: 60_000,
  renderError(): never {
    throw new Error('no error is expected');
  },
};

it('a stream that nobody reads ends when too much is unread', async () => {
  const stream = await streamEvents<string>(async (tell) => {
    for (let told = 0; told < 100; told += 1) tell('x'.repeat(500_000));
  }, STREAM);
  expect([stream.destroyed, stream.readableLength < 6_000_000]).toEqual([true, true]);
});

it('one long answer is no reason to end a stream', async () => {
  const stream = await streamEvents(async () => 'x'.repeat(5_000_000), STREAM);
  expect((await readAll(stream)).length).toBeGreaterThan(5_000_000);
});

async function untilRunEnds({ planRuns }: Store): Promise<Pick<PlanRunRecord, 'state'>[]> {
  for (;;) {
    const runs = await planRuns.list({ limit: 1 });
    if (runs.some(({ state }) => state !== 'running')) return runs;
    await nextTurn();
  }
}

it('a run of a plan is cancelled when nobody reads what it tells', async () => {
  let calls = 0;
  const file_list = async () => {
    calls += 1;
    await nextTurn();
    return 'x'.repeat(200_000);
  };
  const store = await openStore();
  const { url, ask } = await startAgentServer({
    more: { store, executors: [createFunctionExecutor({ file_list })], limits: { rate: { calls: 1_000, seconds: 1 } } },
  });
  const { body } = await ask('POST /v1/sessions', {}, { user: 'ann' });
  await ask(`POST /v1/sessions/${body.id}/enable`, { names: ['file_list'] }, { user: 'ann' });
  const steps = Array.from({ length: 80 }, (_, index) => ({ id: `s${index}`, tool: 'file_list', arguments: {} }));
  const text = JSON.stringify({ session: body.id, plan: { steps } });
  const { port } = new URL(url);
  const socket = connect(Number(port), '127.0.0.1').pause();
  const head = 'x-winnow-user: ann\r\naccept: text/event-stream\r\ncontent-type: application/json';
  socket.write(
    `POST /v1/plans/run HTTP/1.1\r\nhost: localhost\r\n${head}\r\ncontent-length: ${text.length}\r\n\r\n${text}`,
  );
  const [run] = await untilRunEnds(store);
  expect(run?.state).toBe('cancelled');
  expect(calls).toBeLessThan(80);
  socket.destroy();
});

it('answers that their user does not read are so many bytes at most, and one that is larger is no reason', async () => {
  const app = fastify();
  app.decorateRequest('identity');
  app.addHook('onRequest', async (request) => {
    request.identity = { caller: { user: String(request.headers.user), roles: [] }, isProven: true };
  });
  boundUnreadAnswers(app);
  app.get('/', async () => 'x'.repeat(40 * 2 ** 20));
  const address = await app.listen({ port: 0, host: '127.0.0.1' });
  const open = async (user: string) => {
    const socket = connect(Number(new URL(address).port), '127.0.0.1');
    socket.write(`GET / HTTP/1.1\r\nhost: localhost\r\nuser: ${user}\r\n\r\n`);
    await once(socket, 'readable');
    return { socket, head: String(socket.read(15)) };
  };
  const first = await open('ann');
  const second = await open('ann');
  const ofBob = await open('bob');
  expect([first, second, ofBob].map(({ head }) => head.slice(9, 12))).toEqual(['200', '500', '200']);
  first.socket.destroy();
  await vi.waitFor(async () => expect((await open('ann')).head.slice(9, 12)).toBe('200'));
  await app.close();
});
