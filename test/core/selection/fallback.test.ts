import { describe, expect, it } from '@jest/globals';
import { WinnowError } from '../../../src/core/errors.js';
import type { PlanRequest } from '../../../src/core/request.js';
import { fallbackTools } from '../../../src/core/selection/fallback.js';
import { createScriptedModel } from '../../support/scripted-model.js';
import { makeTool, namesOf, plannerOf, planOf, TOOLS, viewOf } from './setup.js';

const DOWN = new WinnowError('model_failed', 'the server is down');
const REQUEST: PlanRequest = { message: 'coffee and a song' };
const NAMES = TOOLS.map(({ name }) => name);

function cut(budget: { schemaTokens?: number; tools?: number }) {
  const whole = { schemaTokens: 1_000, tools: 100, ...budget };
  const { tools, leftOut } = fallbackTools(viewOf(TOOLS), REQUEST.message, { budget: whole, schemaTokens: () => 10 });
  return { names: namesOf({ tools }), leftOut };
}

describe('the tools that go on when selection fails', () => {
  it('are all, in their order, when they fit', () => {
    expect(cut({})).toEqual({ names: NAMES, leftOut: 0 });
  });

  it.each([
    ['the server takes', { tools: 3 }],
    ['the schemas leave room for', { schemaTokens: 39 }],
  ])('are the best keyword matches, as many as %s', (_, budget) => {
    const { names, leftOut } = cut(budget);
    expect(leftOut).toBe(TOOLS.length - 3);
    expect(names).toHaveLength(3);
    expect(names.slice(0, 2).sort()).toEqual(['brew_coffee', 'play_song']);
  });
});

describe('a request whose selection fails', () => {
  it('is planned with the full set, and says so', async () => {
    const model = createScriptedModel({ answers: [DOWN, planOf('play_song')] });
    const result = await plannerOf({ model }).plan(REQUEST);
    expect(result.kind).toBe('plan');
    expect(result.selection).toMatchObject({
      mode: 'fallback',
      reason: 'model_failed: the server is down',
      leftOut: 0,
    });
    expect(result.selection.tools).toEqual(NAMES.map((name) => ({ name, via: 'all' })));
    expect(result.trace).toContainEqual(expect.objectContaining({ stage: 'fallback', leftOut: 0 }));
    expect(result.usage.selection.calls).toBe(1);
    model.assertDone();
  });

  it('gets no more tools than the server takes', async () => {
    const model = createScriptedModel({ answers: [DOWN], limits: { tools: 4 } });
    const selected = await plannerOf({ model }).select(REQUEST);
    expect(selected).toMatchObject({ mode: 'fallback', leftOut: 6 });
    expect(selected.tools).toHaveLength(4);
    expect(selected.tools.every(({ via }) => via === 'keyword')).toBe(true);
    expect(namesOf(selected).slice(0, 2).sort()).toEqual(['brew_coffee', 'play_song']);
  });

  it('gets what a rule demands before all others', async () => {
    const rules = [{ name: 'sleep', when: { message: 'song' }, include: ['count_sheep'], last: ['read_mail'] }];
    const model = createScriptedModel({ answers: [DOWN], limits: { tools: 3 } });
    const { tools } = await plannerOf({ model, rules }).select(REQUEST);
    expect(tools).toHaveLength(3);
    for (const name of ['count_sheep', 'read_mail'])
      expect(tools).toContainEqual({ name, via: 'rule', serves: 'sleep' });
  });

  it('gets no more schemas than the context holds', async () => {
    const long = TOOLS.map((tool) => ({ ...tool, description: `${tool.description} ${'word '.repeat(500)}` }));
    const model = createScriptedModel({ answers: [DOWN], limits: { contextTokens: 4_000 } });
    const { usage, leftOut, tools } = await plannerOf({ tools: long, model, options: { summaryTokens: 2_000 } }).select(
      REQUEST,
    );
    expect(leftOut).toBe(TOOLS.length - tools.length);
    expect(leftOut).toBeGreaterThan(0);
    expect(usage.schemaTokens.loaded).toBeLessThan(4_000);
  });

  it('gets no more tools than the planning model takes', async () => {
    const model = createScriptedModel({ answers: [DOWN] });
    const planningModel = createScriptedModel({ limits: { tools: 4, contextTokens: 4_000 } });
    expect((await plannerOf({ model, planningModel }).select(REQUEST)).tools).toHaveLength(4);
  });

  it('keeps the tools that the caller requires and those that are always on', async () => {
    const always = makeTool('ask_user', { alwaysLoad: true });
    const model = createScriptedModel({ answers: [DOWN], limits: { tools: 4 } });
    const planner = plannerOf({ tools: [...TOOLS, always], model });
    const { tools } = await planner.select({ ...REQUEST, require: ['stock_quote'] });
    expect(tools).toEqual(
      expect.arrayContaining([
        { name: 'stock_quote', via: 'required' },
        { name: 'ask_user', via: 'always' },
        expect.objectContaining({ via: 'keyword' }),
      ]),
    );
  });

  it('falls back only once a request', async () => {
    const model = createScriptedModel({ answers: () => DOWN });
    await expect(plannerOf({ model }).plan(REQUEST)).rejects.toMatchObject({ code: 'model_failed' });
    expect(model.calls.map(({ stage }) => stage)).toEqual(['selection', 'planning']);
  });
});
