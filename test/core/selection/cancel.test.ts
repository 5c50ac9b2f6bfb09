import { getEventListeners } from 'node:events';
import { afterEach, describe, expect, it } from '@jest/globals';
import { WinnowError } from '../../../src/core/errors.js';
import { createOpenAIModel } from '../../../src/core/model/openai/openai-model.js';
import type { CallOptions, Planner } from '../../../src/core/planner.js';
import { createScriptedModel } from '../../support/scripted-model.js';
import { type ScriptedServer, startScriptedServer } from '../../support/scripted-server.js';
import { answerJson, hang } from '../../support/server-behaviours.js';
import { naming, plannerOf, planOf } from './setup.js';

const GOOD = { selected_tools: ['play_song'], reason: '' };
const REQUEST = { message: 'music' };
const ways: ['plan' | 'select'][] = [['plan'], ['select']];
const ask = (planner: Planner, way: 'plan' | 'select', call: CallOptions) => planner[way](REQUEST, call);

let server: ScriptedServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

describe('a cancelled request', () => {
  it.each(ways)('asks no model when it is cancelled before: %s', async (way) => {
    const model = createScriptedModel();
    const call = { signal: AbortSignal.abort() };
    await expect(ask(plannerOf({ model }), way, call)).rejects.toMatchObject({ code: 'cancelled' });
    model.assertDone();
  });

  it.each([
    ['selection', 1],
    ['planning', 2],
  ] as const)('stops at once during %s, with no fallback and no listener left', async (_, call) => {
    server = await startScriptedServer((_request, index) => (index === call - 1 ? hang() : answerJson(GOOD)));
    const model = createOpenAIModel({ baseUrl: server.baseUrl, model: 'm' });
    const controller = new AbortController();
    const notes: string[] = [];
    const pending = plannerOf({ model }).plan(REQUEST, {
      signal: controller.signal,
      onEvent: ({ stage }) => notes.push(stage),
    });
    const outcome = expect(pending).rejects.toMatchObject({ code: 'cancelled' });
    await server.received(call);
    controller.abort();
    await outcome;
    expect(server.requests).toHaveLength(call);
    expect(notes).not.toContain('fallback');
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  });

  it('closes its reader', async () => {
    const controller = new AbortController();
    const model = createScriptedModel({
      readers: () => {
        queueMicrotask(() => controller.abort());
        return { probabilities: new Map([['play_song', 1]]), tokenizeBy: 'character' };
      },
      answers: [planOf('play_song')],
    });
    await expect(plannerOf({ model }).plan(REQUEST, { signal: controller.signal })).rejects.toMatchObject({
      code: 'cancelled',
    });
    expect(() => model.assertDone()).not.toThrow('readers');
  });
});

describe('a request that is answered', () => {
  it('leaves no listener on a signal that many requests share', async () => {
    server = await startScriptedServer((request) => {
      const isPlanning = JSON.stringify(request.body).includes('needTools');
      return answerJson(isPlanning ? JSON.parse(planOf('play_song')) : GOOD);
    });
    const planner = plannerOf({ model: createOpenAIModel({ baseUrl: server.baseUrl, model: 'm' }) });
    const { signal } = new AbortController();
    for (let count = 0; count < 3; count++) await planner.plan(REQUEST, { signal });
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('takes a cancellation that is not its own as a failure of the model', async () => {
    const model = createScriptedModel({
      answers: [new WinnowError('cancelled', 'by the server'), planOf('play_song')],
    });
    const { signal } = new AbortController();
    expect(await plannerOf({ model }).plan(REQUEST, { signal })).toMatchObject({
      kind: 'plan',
      selection: { mode: 'fallback' },
    });
  });
});

describe('time', () => {
  it('that is up for selection leads to the fallback', async () => {
    server = await startScriptedServer([hang()]);
    const model = createOpenAIModel({ baseUrl: server.baseUrl, model: 'm' });
    const planningModel = createScriptedModel({ answers: [planOf('play_song')] });
    const planner = plannerOf({ model, planningModel, options: { timeoutMs: 2_000 } });
    const { selection } = await planner.plan(REQUEST);
    expect(selection).toMatchObject({ mode: 'fallback', reason: expect.stringContaining('model_timeout') });
  });

  it('that is up for the whole request is told apart from a cancellation', async () => {
    server = await startScriptedServer(() => hang());
    const model = createOpenAIModel({ baseUrl: server.baseUrl, model: 'm' });
    await expect(plannerOf({ model, options: { timeoutMs: 50 } }).plan(REQUEST)).rejects.toMatchObject({
      code: 'model_timeout',
    });
  });

  it('is left for a selection that is quick', async () => {
    const model = createScriptedModel({ answers: [naming('play_song')] });
    expect((await plannerOf({ model, options: { timeoutMs: 60_000 } }).select(REQUEST)).mode).toBe('selected');
  });
});
