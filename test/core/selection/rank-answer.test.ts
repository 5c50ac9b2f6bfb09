import { describe, expect, it } from '@jest/globals';
import type { OptionsInput } from '../../../src/core/config/options.js';
import { WinnowError } from '../../../src/core/errors.js';
import { createScriptedModel } from '../../support/scripted-model.js';
import { namesOf, notesOf, plannerOf } from './setup.js';

function ask(probabilities: Record<string, number>, options: OptionsInput = {}) {
  const model = createScriptedModel({ readers: [{ probabilities: new Map(Object.entries(probabilities)) }] });
  return { model, selected: plannerOf({ model, options }).select({ message: 'tell me more' }) };
}

describe('the rank answer', () => {
  it('heeds what keywords find, where the model wavers', async () => {
    const names = async (message: string, options: OptionsInput = {}) => {
      const probabilities = new Map(Object.entries({ play_song: 0.35, read_mail: 0.34, count_sheep: 0.31 }));
      const model = createScriptedModel({ readers: [{ probabilities }] });
      return namesOf(await plannerOf({ model, options: { core: 1, readings: 1, ...options } }).select({ message }));
    };
    expect(await names('hm')).toEqual(['play_song']);
    expect(await names('read my mail')).toEqual(['read_mail']);
    expect(await names('a picture smaller')).toEqual(['resize_image']);
    expect(await names('read my mail', { keywordWeight: 0 })).toEqual(['play_song']);
  });

  it('keeps the first where a complement stands far above it in the end', async () => {
    const first = { play_song: 0.13, read_mail: 0.12, count_sheep: 0.12, brew_coffee: 0.12, find_hotel: 0.12 };
    const script = { ...first, stock_quote: 0.12, resize_image: 0.12, weather_report: 0.01 };
    const probabilities = new Map(Object.entries({ ...script, 'weather_report", "water_garden': 0.15 }));
    const model = createScriptedModel({ readers: [{ probabilities }] });
    const { tools } = await plannerOf({ model, options: { readings: 2, fill: false } }).select({ message: 'hm' });
    expect(tools.slice(0, 2)).toMatchObject([{ name: 'weather_report' }, { name: 'water_garden' }]);
    expect(tools.slice(0, 2).map((tool) => tool.fill)).toEqual([undefined, undefined]);
  });

  it('chooses what stands near enough to the first, and has the rest in the order of both opinions', async () => {
    const script = { play_song: 0.5, read_mail: 0.2, count_sheep: 0.12, find_hotel: 0.18 };
    const probabilities = new Map(Object.entries(script));
    const select = (options: OptionsInput, message = 'hm') => {
      const model = createScriptedModel({ readers: [{ probabilities }] });
      return plannerOf({ model, options: { readings: 1, ...options } }).select({ message });
    };
    expect(namesOf(await select({}))).toEqual(['play_song', 'read_mail', 'find_hotel']);
    const filled = await select({ fill: true, core: 1, maxTools: 4 }, 'play sheep');
    expect(filled.tools.filter(({ via }) => via === 'model').map(({ name }) => name)).toEqual([
      'play_song',
      'count_sheep',
      'read_mail',
      'find_hotel',
    ]);
  });

  it('has the others as second opinions where the model would end its list behind the first', async () => {
    const fills = async (script: Record<string, number>) => {
      const model = createScriptedModel({ readers: [{ probabilities: new Map(Object.entries(script)) }] });
      const { tools } = await plannerOf({ model, options: { readings: 2 } }).select({ message: 'hm' });
      return tools.map(({ name, fill = false }) => [name, fill]);
    };
    const script = { play_song: 0.1, read_mail: 0.3, 'play_song", "water_garden': 0.3 };
    expect(await fills({ ...script, 'play_song"]': 0.2 })).toEqual([
      ['play_song', false],
      ['water_garden', false],
      ['read_mail', true],
    ]);
    expect(await fills({ ...script, 'play_song"]': 3 })).toEqual([
      ['play_song', false],
      ['water_garden', true],
    ]);
  });

  it('reads once more with the best of both opinions there', async () => {
    const script = {
      play_song: 0.5,
      read_mail: 0.4,
      'read_mail", "water_garden': 0.1,
      'play_song", "count_sheep': 0.1,
    };
    const probabilities = new Map(Object.entries(script));
    const model = createScriptedModel({ readers: [{ probabilities }] });
    const planner = plannerOf({ model, options: { core: 2, readings: 2 } });
    expect(namesOf(await planner.select({ message: 'read my mail' }))).toEqual(['read_mail', 'water_garden']);
  });

  it('hands on the likeliest names, best first, and closes its reader', async () => {
    const { model, selected } = ask({ play_song: 0.2, read_mail: 0.5, count_sheep: 0.3 }, { core: 2 });
    expect(namesOf(await selected)).toEqual(['read_mail', 'count_sheep']);
    expect((await selected).mode).toBe('selected');
    model.assertDone();
    expect(model.calls).toEqual([]);
  });

  it('does not choose what is unlikely beside the first', async () => {
    const { selected } = ask({ play_song: 0.0001, read_mail: 0.9999 }, { core: 4 });
    expect(namesOf(await selected)).toEqual(['read_mail']);
  });

  it('reads once more with the likeliest name there, for what goes with it', async () => {
    const script = { play_song: 0.5, read_mail: 0.3, water_garden: 0.1, 'play_song", "water_garden': 0.1 };
    const names = async (readings: number) => namesOf(await ask(script, { readings, core: 2 }).selected);
    expect(await names(1)).toEqual(['play_song', 'read_mail']);
    expect(await names(2)).toEqual(['play_song', 'water_garden']);
  });

  it('goes on from there as often as it is told', async () => {
    const both = 'play_song", "water_garden';
    const script = { play_song: 0.4, read_mail: 0.4, [both]: 0.1, [`${both}", "count_sheep`]: 0.1 };
    const names = async (readings: number) => namesOf(await ask(script, { readings, core: 3 }).selected);
    expect(await names(2)).toEqual(['play_song', 'water_garden', 'read_mail']);
    expect(await names(3)).toEqual(['play_song', 'water_garden', 'count_sheep']);
  });

  it('counts what the reader read', async () => {
    const { selected } = ask({ play_song: 0.5, read_mail: 0.5 });
    const { usage } = await selected;
    expect(usage.selection.calls).toBeGreaterThan(0);
    expect(usage.selection.read).toBeGreaterThan(0);
    expect(usage.planning.calls).toBe(0);
  });

  it('has a probability for abstaining', async () => {
    const { selected } = ask({ none: 0.8, read_mail: 0.2 });
    const event = (await selected).trace.find(({ note }) => note.includes('no tool fits'));
    expect(event?.none).toBeCloseTo(0.8, 2);
  });

  it('does not abstain when a tool is likelier', async () => {
    const { selected } = ask({ none: 0.2, read_mail: 0.8 });
    expect(notesOf((await selected).trace, 'selection')).not.toContain('no tool fits');
    expect(namesOf(await selected)).toEqual(['read_mail']);
  });

  it('does not abstain where all tools together are likelier', async () => {
    const { selected } = ask({ none: 0.4, read_mail: 0.3, play_song: 0.3 }, { core: 2 });
    expect(namesOf(await selected)).toEqual(['read_mail', 'play_song']);
  });

  it('hands on nothing when abstaining is likeliest', async () => {
    const { selected } = ask({ none: 0.99, read_mail: 0.01 });
    expect(await selected).toMatchObject({ mode: 'none', tools: [] });
  });

  it('is asked of a list model only where it can be, and else falls back', async () => {
    const model = createScriptedModel({});
    const selected = await plannerOf({ model, options: { answer: 'rank' } }).select({ message: 'x' });
    expect(selected).toMatchObject({ mode: 'fallback' });
    expect(selected.reason).toContain('next-token probabilities');
  });

  it('falls back when the reader fails', async () => {
    const model = createScriptedModel({ readers: [new WinnowError('model_failed', 'broken')] });
    expect(await plannerOf({ model }).select({ message: 'x' })).toMatchObject({
      mode: 'fallback',
      reason: 'model_failed: broken',
    });
  });

  it('counts what a reader spent that could not be opened', async () => {
    const usage = { calls: 3, read: 30, cached: 0, written: 0 };
    const model = createScriptedModel({ readers: [new WinnowError('model_failed', 'broken', { details: { usage } })] });
    expect((await plannerOf({ model }).select({ message: 'x' })).usage.selection).toEqual(usage);
  });
});
