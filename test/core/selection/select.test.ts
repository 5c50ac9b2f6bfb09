import { describe, expect, it } from '@jest/globals';
import type { Tool } from '../../../src/core/catalog/tool.js';
import { createScriptedModel } from '../../support/scripted-model.js';
import { makeTool, namesOf, naming, notesOf, plannerOf, TOOLS } from './setup.js';

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
  it('keeps the order of relevance and the reason', async () => {
    const model = createScriptedModel({ answers: [naming('stock_quote', 'read_mail', 'play_song')] });
    const selected = await plannerOf({ model }).select({ message: 'x' });
    expect(selected).toMatchObject({ mode: 'selected', reason: 'they fit', dropped: [], leftOut: 0 });
    expect(namesOf(selected)).toEqual(['stock_quote', 'read_mail', 'play_song']);
  });

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

  it('can be repaired', async () => {
    const model = createScriptedModel({ answers: [naming('xyzzy'), naming('play_song')] });
    const selected = await plannerOf({ model }).select({ message: 'x' });
    expect(selected).toMatchObject({ mode: 'selected', tools: [{ name: 'play_song', via: 'model', rank: 1 }] });
    expect(selected.dropped).toEqual([{ name: 'xyzzy', reason: 'unknown' }]);
  });

  it('that a model did not manage is not called a fault of Winnow', async () => {
    const model = createScriptedModel({ answers: ['?', '?'] });
    expect((await plannerOf({ model }).select({ message: 'x' })).reason).not.toMatch(/^internal/u);
  });

  it('uses the rules of the catalogue', async () => {
    const rules = [{ name: 'tea time', when: { message: 'tea' }, first: ['brew_coffee'] }];
    const answers = () => naming('play_song');
    const model = createScriptedModel({ answers });
    expect(namesOf(await plannerOf({ model, rules }).select({ message: 'tea' }))).toEqual(['brew_coffee', 'play_song']);
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

  it('of a name that is long is not cut', async () => {
    const name = `a_${'long_'.repeat(40)}name`;
    const model = createScriptedModel({ answers: [naming(name)] });
    expect(namesOf(await plannerOf({ tools: [...TOOLS, makeTool(name)], model }).select({ message: 'x' }))).toEqual([
      name,
    ]);
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

  it('does not change the part of the prompt that is the same for all', async () => {
    const model = createScriptedModel({ answers: () => naming(...NAMED) });
    const planner = plannerOf({ model });
    for (const maxTools of [1, 5]) await planner.select({ message: 'coffee and a song', maxTools });
    const [one, other] = model.calls.map(({ prompt }) => prompt.system);
    expect(one).toBe(other);
  });

  it('says nothing where the request has none: the option is about the cut alone', async () => {
    const model = createScriptedModel({ answers: [naming(...NAMED)] });
    const selected = await plannerOf({ model, options: { maxTools: 1 } }).select({ message: 'coffee and a song' });
    expect(model.calls[0]?.prompt.user).not.toContain('At most');
    expect(namesOf(selected)).toEqual(['play_song']);
  });
});
