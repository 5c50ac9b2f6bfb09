/** Selection over a real server: its answers, its failures, cancellation and time. */
import { getEventListeners } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import type { Tool } from '../../../src/core/catalog/tool.js';
import { WinnowError } from '../../../src/core/errors.js';
import { createOpenAIModel } from '../../../src/core/model/openai/openai-model.js';
import type { OpenAIModelOptions } from '../../../src/core/model/openai/options.js';
import type { CallOptions, Planner } from '../../../src/core/planner.js';
import { createScriptedModel } from '../../support/scripted-model.js';
import { type ScriptedServer, type ServerScript, startScriptedServer } from '../../support/scripted-server.js';
import {
  answerJson,
  cutJson,
  emptyAnswer,
  fail,
  hang,
  nextTokens,
  noNextTokens,
  proseAroundJson,
  rateLimited,
  refusal,
} from '../../support/server-behaviours.js';
import { makeTool, namesOf, plannerOf, planOf, TOOLS } from './setup.js';

/** Selection against a real HTTP server that fails in all the ways that servers and models do; planning is another model. */
describe('over a server', () => {
  const GOOD = { selected_tools: ['play_song', 'read_mail'], reason: 'they fit' };
  const OK = answerJson(GOOD);

  let server: ScriptedServer | undefined;
  afterEach(async () => {
    await server?.close();
    server = undefined;
  });

  /** Plans "music, please" with a selection model at the server. */
  async function plan(
    script: ServerScript,
    options: Partial<OpenAIModelOptions> & { answer?: 'rank'; tools?: readonly Tool[] } = {},
  ) {
    server = await startScriptedServer(script);
    const { answer: way, tools = TOOLS, ...modelOptions } = options;
    const connection = { baseUrl: server.baseUrl, model: 'scripted-model', retryDelayMs: 0, maxRetries: 1 };
    const model = createOpenAIModel({ ...connection, ...modelOptions });
    const planningModel = createScriptedModel({ answers: [planOf('play_song')] });
    const planner = plannerOf({
      tools,
      model,
      planningModel,
      ...(way ? { options: { answer: way } } : {}),
    });
    const result = await planner.plan({ message: 'music, please' });
    planningModel.assertDone();
    server.assertDone();
    return { result, selection: result.selection, usage: result.usage.selection };
  }

  it('an answer with prose around it is used as it is', async () => {
    const { result, selection, usage } = await plan([proseAroundJson(GOOD)]);
    expect([result.kind, selection.mode, usage.calls]).toEqual(['plan', 'selected', 1]);
    expect(namesOf(selection)).toEqual(GOOD.selected_tools);
  });

  it('an answer that was cut behind the names is repaired', async () => {
    const { selection, usage } = await plan([cutJson(GOOD), OK]);
    expect(namesOf(selection)).toEqual(GOOD.selected_tools);
    expect(usage).toMatchObject({ calls: 2, read: 20, written: 10 });
  });

  it('a server that is asked for probabilities ranks the names', async () => {
    const { selection, result } = await plan(() => nextTokens({ play: 0.45, read: 0.55 }), { answer: 'rank' });
    expect(result.kind).toBe('plan');
    expect(namesOf(selection).slice(0, 2)).toEqual(['play_song', 'read_mail']);
    expect(server?.requests[0]?.path).toBe('/v1/completions');
  });

  const FILMS = { answer: 'rank', tools: [...TOOLS, makeTool('play_film')] } as const;
  it.each<[string, ServerScript, Parameters<typeof plan>[1], string, object]>([
    ['stays busy', [rateLimited(), rateLimited()], {}, 'model_failed', { calls: 2 }],
    ['refuses for good, and is not asked again', [fail(401, 'no')], {}, 'model_refused', { calls: 1 }],
    ['is not waited for past its time', [hang()], { timeoutMs: 40 }, 'model_timeout', { calls: 1 }],
    ['gives nothing usable twice', [emptyAnswer(), refusal()], {}, 'not usable', { calls: 2, read: 20, written: 10 }],
    ['fails during the repair', [refusal(), fail(401, 'no')], {}, '', { calls: 2, read: 10, written: 5 }],
    ['gives no probabilities', () => noNextTokens(), { answer: 'rank' }, '', {}],
    ['fails half-way of a rank', [nextTokens({ play: 1 }), fail(401, 'no')], FILMS, '', { calls: 2, read: 20 }],
  ])('a server that %s leads to the full set, and all is counted', async (_, script, options, reason, spent) => {
    const { result, selection, usage } = await plan(script, options);
    expect(result.kind).toBe('plan');
    expect(selection).toMatchObject({ mode: 'fallback', reason: expect.stringContaining(reason), leftOut: 0 });
    expect(selection.tools).toHaveLength((options?.tools ?? TOOLS).length);
    expect({ ...usage, read: usage.read + usage.cached }).toMatchObject(spent);
  });
});

describe('given up', () => {
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
  });
});
