/** `POST /v1/plans`: many requests in one, each with its own answer or failure. */
import { describe, expect, it } from 'vitest';
import { problemSchema } from '../../../src/adapters/http/problem.js';
import { WinnowError } from '../../../src/core/errors.js';
import type { Planner } from '../../../src/core/planner.js';
import type { PlanResult } from '../../../src/core/result.js';
import { createScriptedModel } from '../../support/scripted-model.js';
import {
  ASKED,
  answeringPlanner,
  closeAtOnce,
  parseEvents,
  plannerOf,
  post,
  startServer,
  throwingPlanner,
} from './setup.js';

/** Answers when the test says so; who asked is known by the message. */
function createHeldPlanner() {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const watching = new Set<() => void>();
  const planner: Planner = {
    ...answeringPlanner(),
    async plan({ message }, call) {
      begun.push(message);
      for (const look of watching) look();
      await new Promise<void>((resolve, reject) => {
        ends.set(message, resolve);
        call?.signal?.addEventListener('abort', () => reject(new WinnowError('cancelled', 'cancelled')));
      });
      return answeringPlanner().plan({ message: ASKED.message });
    },
  };
  const until = (count: number) =>
    new Promise<void>((resolve) => {
      const look = () => begun.length >= count && resolve();
      watching.add(look);
      look();
    });
  return { planner, begun, until, end: (message: string) => ends.get(message)?.() };
}

const requests = (...messages: string[]) => ({ requests: messages.map((message) => ({ message })) });

describe('POST /v1/plans', () => {
  it('answers each request at its place, and one that fails fails alone', async () => {
    const good = answeringPlanner();
    const bad = throwingPlanner(new WinnowError('model_failed', 'secrets of the model server'));
    const plan: Planner['plan'] = (request, call) => (request.message === 'fail' ? bad : good).plan(request, call);
    const { url } = await startServer({ planner: { ...good, plan } });
    const asked = { requests: [ASKED, { message: 'fail' }, { mesage: 'slip' }, 'no object', ASKED] };
    const response = await post(`${url}/v1/plans`, asked, { headers: { 'x-request-id': 'r-1' } });
    expect(response.status).toBe(200);
    const { answers } = JSON.parse(await response.text());
    expect(answers.map(({ index, ok }: { index: number; ok: boolean }) => [index, ok])).toEqual([
      [0, true],
      [1, false],
      [2, false],
      [3, false],
      [4, true],
    ]);
    const plan0: PlanResult = answers[0].result;
    expect(plan0).toMatchObject({ kind: 'plan', steps: [{ tool: 'read_level' }] });
    expect(problemSchema.parse(answers[1].problem)).toMatchObject({ code: 'model_failed', requestId: 'r-1' });
    expect(JSON.stringify(answers[1])).not.toContain('secrets');
    expect(answers[2].problem).toMatchObject({ status: 400, detail: expect.stringContaining('nearest: "message"') });
    expect(answers[3].problem).toMatchObject({ status: 400, code: 'invalid_request' });
  });

  it('streams each answer when it is there, and all of them at the end', async () => {
    const { planner, until, end } = createHeldPlanner();
    const { url } = await startServer({ planner });
    const streaming = post(`${url}/v1/plans`, requests('a', 'b'), { headers: { accept: 'text/event-stream' } });
    await until(2);
    end('b');
    const response = await streaming;
    end('a');
    const events = parseEvents(await response.text());
    expect(events.map(({ event, data }) => [event, data.index])).toEqual([
      ['answer', 1],
      ['answer', 0],
      ['result', undefined],
    ]);
    expect(events[2]?.data).toEqual({ answers: [events[1]?.data, events[0]?.data] });
  });

  it("takes no more than the caller's share of the server, and others have theirs", async () => {
    const { planner, begun, until, end } = createHeldPlanner();
    // A quarter of eight places is one user's.
    const { url } = await startServer({ planner, options: { concurrency: 8 } });
    const as = (user: string) => ({ headers: { 'x-winnow-user': user } });
    const batch = post(`${url}/v1/plans`, requests('a', 'b', 'c'), as('ann'));
    await until(2);
    expect((await post(`${url}/v1/plan`, ASKED, as('ann'))).status).toBe(429);
    const other = post(`${url}/v1/plan`, { message: 'of bob' }, as('bob'));
    await until(3);
    expect(begun).toEqual(['a', 'b', 'of bob']);
    end('of bob');
    expect((await other).status).toBe(200);
    for (const [message, count] of [
      ['a', 4],
      ['b', 4],
      ['c', 4],
    ] as const) {
      end(message);
      await until(count);
    }
    expect(Object(await (await batch).json()).answers).toHaveLength(3);
  });

  it('does all of it in one place where no other is free', async () => {
    const { url } = await startServer({ planner: answeringPlanner(), options: { concurrency: 1 } });
    const response = await post(`${url}/v1/plans`, { requests: [ASKED, ASKED, ASKED] });
    expect(Object(await response.json()).answers.map(({ ok }: { ok: boolean }) => ok)).toEqual([true, true, true]);
  });

  it('ends with its client, and begins nothing more', async () => {
    const { planner, begun, until } = createHeldPlanner();
    const { app, url } = await startServer({ planner, options: { concurrency: 4 } });
    const leaving = new AbortController();
    const headers = { 'x-winnow-user': 'ann' };
    const batch = post(`${url}/v1/plans`, requests('a', 'b'), { headers, signal: leaving.signal });
    await until(1);
    leaving.abort();
    await expect(batch).rejects.toThrow();
    await closeAtOnce(app);
    expect(begun).toEqual(['a']);
  });

  it('is answered 503 as a whole where the server stops before it is ready', async () => {
    const { planner, until } = createHeldPlanner();
    const { app, url } = await startServer({ planner, options: { stopTimeoutMs: 1 } });
    const batch = post(`${url}/v1/plans`, requests('a', 'b'));
    await until(2);
    const closed = app.close();
    expect(problemSchema.parse(await (await batch).json())).toMatchObject({ status: 503, code: 'overloaded' });
    await closed;
  });

  it('plans all requests with tools of the batch, but for those that bring their own', async () => {
    const made: string[][] = [];
    const { url } = await startServer({
      planner: answeringPlanner(),
      plannerOf({ tools }) {
        const names = tools.map(({ name }) => name);
        made.push(names);
        const answers = () => JSON.stringify({ kind: 'unplannable', reason: names.join() });
        return plannerOf(createScriptedModel({ answers }), tools);
      },
    });
    const tool = (name: string) => ({ name, description: `Does ${name}.` });
    const response = await post(`${url}/v1/plans`, {
      tools: [tool('shared')],
      requests: [ASKED, ASKED, { ...ASKED, tools: { tools: [tool('own')] } }],
    });
    const { answers } = JSON.parse(await response.text());
    expect(answers.map(({ result }: { result: { reason: string } }) => result.reason)).toEqual([
      'shared',
      'shared',
      'own',
    ]);
    expect(made.map(String).sort()).toEqual(['own', 'shared']);
  });

  it.each<[string, unknown, string]>([
    ['no request', { requests: [] }, 'requests'],
    ['too many requests', { requests: Array.from({ length: 101 }, () => ASKED) }, 'requests'],
    ['a slip in a key', { requests: [ASKED], tool: [] }, 'tool'],
    ['no list', { message: 'x' }, 'requests'],
  ])('refuses %s and names the field', async (_, body, field) => {
    const { url } = await startServer({ planner: answeringPlanner() });
    const response = await post(`${url}/v1/plans`, body);
    expect(problemSchema.parse(await response.json())).toMatchObject({
      status: 400,
      issues: expect.arrayContaining([expect.stringContaining(field)]),
    });
  });
});
