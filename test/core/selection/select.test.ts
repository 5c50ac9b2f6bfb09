import { describe, expect, it } from '@jest/globals';
import { createScriptedModel } from '../../support/scripted-model.js';
import { makeTool, namesOf, naming, notesOf, plannerOf, TOOLS } from './setup.js';

const NAMES = TOOLS.map(({ name }) => name);

describe('passthrough', () => {
  it.each([
    ['there are few', { passthroughTools: 10 }],
    ['their schemas are small', { passthroughTokens: 100_000 }],
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

  it('ends where one tool more is visible, or one token more is needed', async () => {
    const model = createScriptedModel({ answers: () => naming('play_song') });
    const few = await plannerOf({ model, options: { passthroughTools: 9 } }).select({ message: 'x' });
    expect(few.mode).toBe('selected');
    const { all } = few.usage.schemaTokens;
    const modeWith = async (passthroughTokens: number) =>
      (await plannerOf({ model, options: { passthroughTokens } }).select({ message: 'x' })).mode;
    expect(await modeWith(all)).toBe('passthrough');
    expect(await modeWith(all - 1)).toBe('selected');
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

  it('uses the rules of the catalogue, unless none is wanted', async () => {
    const rules = [{ name: 'tea time', when: { message: 'tea' }, first: ['brew_coffee'] }];
    const answers = () => naming('play_song');
    const model = createScriptedModel({ answers });
    expect(namesOf(await plannerOf({ model, rules }).select({ message: 'tea' }))).toEqual(['brew_coffee', 'play_song']);
    const off = plannerOf({ model, rules, options: { rules: false } });
    expect(namesOf(await off.select({ message: 'tea' }))).toEqual(['play_song']);
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
