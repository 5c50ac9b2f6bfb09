import { describe, expect, it } from 'vitest';
import type { Tool } from '../../../src/core/catalog/tool.js';
import { WinnowError } from '../../../src/core/errors.js';
import type { PlanRequest } from '../../../src/core/request.js';
import { createScriptedModel } from '../../support/scripted-model.js';
import { makeTool, namesOf, naming, notesOf, plannerOf, planOf, TOOLS } from './setup.js';

const NAMES = TOOLS.map(({ name }) => name);

describe('passthrough', () => {
  it.each([
    ['there are few', { passthroughTools: 10 }],
    ['their schemas are small', { passthroughTools: 1 }],
  ])('hands on all tools without a model when %s, and says so', async (_, options) => {
    const model = createScriptedModel();
    const selected = await plannerOf({ model, options }).select({ message: 'x', require: ['play_song'] });
    expect(selected.mode).toBe('passthrough');
    expect(namesOf(selected)).toEqual(NAMES);
    expect(selected.tools.filter(({ via }) => via === 'required')).toEqual([{ name: 'play_song', via: 'required' }]);
    expect(notesOf(selected.trace, 'selection')).toBe(selected.reason);
    expect(selected.usage.selection.calls).toBe(0);
    model.assertDone();
  });

  it('ends where the schemas of many tools together are large, and with passthroughTools: 0', async () => {
    const model = createScriptedModel({ answers: () => naming('play_song') });
    const large = TOOLS.map((tool) => ({ ...tool, description: `${tool.description} ${'word '.repeat(400)}` }));
    const modeOf = async (tools: readonly Tool[], passthroughTools: number) =>
      (await plannerOf({ model, tools, options: { passthroughTools } }).select({ message: 'x' })).mode;
    expect(await modeOf(large, 10)).toBe('passthrough');
    expect(await modeOf(large, 9)).toBe('selected');
    expect(await modeOf(TOOLS, 0)).toBe('selected');
  });

  it('counts what the caller sees, not the catalogue', async () => {
    const model = createScriptedModel();
    const planner = plannerOf({ model, options: { passthroughTools: 2 } });
    const selected = await planner.select({ message: 'x', allow: ['play_song', 'read_mail'] });
    expect(namesOf(selected)).toEqual(['read_mail', 'play_song']);
  });

  it('does not hand on more than the caller wants', async () => {
    const model = createScriptedModel({ answers: () => naming('play_song') });
    const selected = await plannerOf({ model, options: { passthroughTools: 10 } }).select({
      message: 'x',
      maxTools: 3,
    });
    expect(selected.tools.length).toBeLessThanOrEqual(3);
  });
});

describe('a selection', () => {
  it('of nothing on purpose is no failure', async () => {
    const model = createScriptedModel({ answers: [naming()] });
    const selected = await plannerOf({ model }).select({ message: 'x' });
    expect(selected).toMatchObject({ mode: 'none', tools: [], reason: 'they fit' });
    expect(notesOf(selected.trace, 'selection')).toContain('no tool fits');
    model.assertDone();
  });

  it('records what it dropped, in the result and in the trace', async () => {
    const model = createScriptedModel({ answers: [naming('raed_mail', 'play_song', 'play_song')] });
    const { tools, dropped, trace } = await plannerOf({ model }).select({ message: 'x' });
    expect(namesOf({ tools })).toEqual(['play_song']);
    expect(dropped).toEqual([
      { name: 'raed_mail', reason: 'unknown', suggestion: 'read_mail' },
      { name: 'play_song', reason: 'duplicate' },
    ]);
    expect(trace).toContainEqual(expect.objectContaining({ stage: 'selection', dropped }));
    expect(trace).toContainEqual(expect.objectContaining({ stage: 'selection', tools: ['play_song'] }));
  });

  it('with nothing usable is repaired once, then the fallback', async () => {
    const model = createScriptedModel({ answers: [naming('xyzzy'), naming('plugh')] });
    const selected = await plannerOf({ model }).select({ message: 'x' });
    expect(selected.mode).toBe('fallback');
    expect(selected.reason).toContain('plugh');
    expect(namesOf(selected)).toEqual(NAMES);
    expect(notesOf(selected.trace, 'selection')).toContain('repaired');
    expect(namesOf({ tools: selected.dropped })).toEqual(['xyzzy', 'plugh']);
    expect(notesOf(selected.trace, 'selection')).toContain('2 names were dropped');
    expect(selected.usage.selection.calls).toBe(2);
    model.assertDone();
  });

  it('constrains the answer to the visible names where they fit into an enum', async () => {
    const names = (limit: number) => {
      const model = createScriptedModel({ answers: [naming('play_song')], limits: { enumValues: limit } });
      return plannerOf({ model })
        .select({ message: 'x', deny: ['read_mail'] })
        .then(() => JSON.stringify(model.calls[0]?.schema));
    };
    expect(await names(100)).toContain('"enum":["book_flight"');
    expect(await names(100)).not.toContain('read_mail');
    expect(await names(5)).not.toContain('enum');
  });

  it('asks for a longer answer where more tools are wanted', async () => {
    const model = createScriptedModel({ answers: () => naming('play_song') });
    const planner = plannerOf({ model });
    await planner.select({ message: 'x', maxTools: 2 });
    await planner.select({ message: 'x', maxTools: 50 });
    const [few, many] = model.calls.map(({ maxTokens }) => maxTokens);
    expect(few).toBeLessThan(many ?? 0);
  });
});

const NAMED = ['play_song', 'brew_coffee', 'read_mail'];

describe('the cap of a request', () => {
  it('is told to the model and obeyed by the cut, with what goes recorded', async () => {
    const model = createScriptedModel({ answers: [naming(...NAMED)] });
    const selected = await plannerOf({ model }).select({ message: 'coffee and a song', maxTools: 2 });
    expect(model.calls[0]?.prompt.user).toContain('At most 2 tools.');
    expect(namesOf(selected)).toEqual(NAMED.slice(0, 2));
    expect(selected.dropped).toEqual([{ name: 'read_mail', reason: 'cap' }]);
  });

  it('says nothing where the request has none: the option is about the cut alone', async () => {
    const model = createScriptedModel({ answers: [naming(...NAMED)] });
    const selected = await plannerOf({ model, options: { maxTools: 1 } }).select({ message: 'coffee and a song' });
    expect(model.calls[0]?.prompt.user).not.toContain('At most');
    expect(namesOf(selected)).toEqual(['play_song']);
  });
});

const DOWN = new WinnowError('model_failed', 'the server is down');
const WAKE_UP: PlanRequest = { message: 'coffee and a song' };

describe('a request whose selection fails', () => {
  it('is planned with the full set, and says so', async () => {
    const model = createScriptedModel({ answers: [DOWN, planOf('play_song')] });
    const result = await plannerOf({ model }).plan(WAKE_UP);
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
    const selected = await plannerOf({ model }).select(WAKE_UP);
    expect(selected).toMatchObject({ mode: 'fallback', leftOut: 6 });
    expect(selected.tools).toHaveLength(4);
    expect(selected.tools.map(({ via }) => via)).toEqual(['keyword', 'keyword', 'all', 'all']);
    expect(namesOf(selected).slice(0, 2).sort()).toEqual(['brew_coffee', 'play_song']);
  });

  it('gets what a rule demands before all others', async () => {
    const rules = [{ name: 'sleep', when: { message: 'song' }, include: ['count_sheep'], last: ['read_mail'] }];
    const model = createScriptedModel({ answers: [DOWN], limits: { tools: 3 } });
    const { tools } = await plannerOf({ model, rules }).select(WAKE_UP);
    expect(tools).toHaveLength(3);
    for (const name of ['count_sheep', 'read_mail'])
      expect(tools).toContainEqual({ name, via: 'rule', serves: 'sleep' });
  });

  it('gets no more schemas than the context holds', async () => {
    const long = TOOLS.map((tool) => ({ ...tool, description: `${tool.description} ${'word '.repeat(500)}` }));
    const model = createScriptedModel({ answers: [DOWN], limits: { contextTokens: 4_000 } });
    const { usage, leftOut, tools } = await plannerOf({ tools: long, model, options: { summaryTokens: 2_000 } }).select(
      WAKE_UP,
    );
    expect(leftOut).toBe(TOOLS.length - tools.length);
    expect(leftOut).toBeGreaterThan(0);
    expect(usage.schemaTokens.loaded).toBeLessThan(4_000);
  });

  it('gets no more tools than the planning model takes', async () => {
    const model = createScriptedModel({ answers: [DOWN] });
    const planningModel = createScriptedModel({ limits: { tools: 4, contextTokens: 4_000 } });
    expect((await plannerOf({ model, planningModel }).select(WAKE_UP)).tools).toHaveLength(4);
  });

  it('keeps the tools that the caller requires and those that are always on', async () => {
    const always = makeTool('ask_user', { alwaysLoad: true });
    const model = createScriptedModel({ answers: [DOWN], limits: { tools: 4 } });
    const planner = plannerOf({ tools: [...TOOLS, always], model });
    const { tools } = await planner.select({ ...WAKE_UP, require: ['stock_quote'] });
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
    await expect(plannerOf({ model }).plan(WAKE_UP)).rejects.toMatchObject({ code: 'model_failed' });
    expect(model.calls.map(({ stage }) => stage)).toEqual(['selection', 'planning']);
  });
});
