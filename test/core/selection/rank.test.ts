import { describe, expect, it } from '@jest/globals';
import { WinnowError } from '../../../src/core/errors.js';
import type { OptionsInput } from '../../../src/core/options.js';
import { fuse } from '../../../src/core/selection/rank.js';
import { createScriptedModel } from '../../support/scripted-model.js';
import { makeTool, namesOf, plannerOf } from './setup.js';

const reading = (script: Record<string, number>) => ({ probabilities: new Map(Object.entries(script)) });

function ask(script: Record<string, number>, message = 'hm', options: OptionsInput = {}) {
  const model = createScriptedModel({ readers: [reading(script)] });
  return { model, selected: plannerOf({ model, options }).select({ message }) };
}
const namesBy = async (script: Record<string, number>, message?: string) =>
  namesOf(await ask(script, message).selected);

describe('two opinions', () => {
  const [a, b, c] = [makeTool('a'), makeTool('b'), makeTool('c')];
  type Scores = readonly (readonly [typeof a, number])[];
  const order = (model: Scores, keywords: Scores = []) =>
    fuse(
      new Map(model),
      keywords.map(([tool, score]) => ({ tool, score })),
    ).map(({ tool, probability }) => (probability === undefined ? `${tool.name} by keywords` : tool.name));
  const wavering: Scores = [
    [a, 0.4],
    [b, 0.35],
  ];

  it.each<[string, Scores, Scores, string[]]>([
    ['are that of the model where no word matches', wavering, [], ['a', 'b']],
    ['are decided by keywords where the model wavers', wavering, [[b, 0.5]], ['b', 'a']],
    ['may have a tool that only keywords found first', wavering, [[c, 0.5]], ['c by keywords', 'a', 'b']],
    ['leave a sure model its choice', [[a, 0.95]], [[b, 0.5]], ['a', 'b by keywords']],
    ['count a best match less that covers little of the request', wavering, [[c, 0.05]], ['a', 'b', 'c by keywords']],
    ['may both be missing', [], [], []],
  ])('%s', (_, model, keywords, expected) => {
    expect(order(model, keywords)).toEqual(expected);
  });
});

/** Nothing goes with the first. */
const FIRST_ONLY = { play_song: 0.9, 'play_song", "none': 1 };

describe('the rank answer', () => {
  it('heeds what keywords find, where the model wavers', async () => {
    const script = { play_song: 0.35, read_mail: 0.34, count_sheep: 0.31 };
    expect((await namesBy(script))[0]).toBe('play_song');
    expect((await namesBy(script, 'read my mail'))[0]).toBe('read_mail');
    expect((await namesBy(script, 'a picture smaller'))[0]).toBe('resize_image');
  });

  it('chooses what stands near enough to the first, and closes its reader', async () => {
    const { model, selected } = ask({ play_song: 0.5, read_mail: 0.3, find_hotel: 0.05 });
    expect((await selected).tools).toMatchObject([
      { name: 'play_song', via: 'model', rank: 1 },
      { name: 'read_mail', via: 'model', rank: 2 },
    ]);
    expect((await selected).mode).toBe('selected');
    model.assertDone();
  });

  it('has the rest as fill', async () => {
    const { selected } = ask({ ...FIRST_ONLY, count_sheep: 0.06, read_mail: 0.04 }, 'hm', { fillTokens: 800 });
    const filled = (await selected).tools.map(({ name, fill = false }) => [name, fill]);
    expect(filled.slice(0, 3)).toEqual([
      ['play_song', false],
      ['count_sheep', true],
      ['read_mail', true],
    ]);
  });

  it('reads once more with the best of both opinions there, for what goes with it', async () => {
    const script = {
      play_song: 0.5,
      read_mail: 0.4,
      'read_mail", "water_garden': 0.1,
      'play_song", "count_sheep': 0.1,
    };
    expect(await namesBy(script, 'read my mail')).toContain('water_garden');
    expect(await namesBy(script)).toContain('count_sheep');
    const { selected } = ask({ play_song: 1 });
    expect(namesOf(await selected)).toEqual(['play_song']);
  });

  it('keeps the first where a complement stands far above it in the end', async () => {
    const first = { play_song: 0.3, read_mail: 0.25, count_sheep: 0.2, brew_coffee: 0.15, find_hotel: 0.1 };
    const names = await namesBy({ ...first, 'play_song", "find_hotel': 0.3 });
    expect(names.slice(0, 2)).toEqual(['play_song', 'find_hotel']);
  });

  it('counts what the reader read, also where it could not be opened', async () => {
    const { usage } = await ask({ play_song: 0.5, read_mail: 0.5 }).selected;
    expect(usage.selection.calls).toBeGreaterThan(0);
    expect(usage.selection.read).toBeGreaterThan(0);
    expect(usage.planning.calls).toBe(0);
    const spent = { calls: 3, read: 30, cached: 0, written: 0 };
    const failure = new WinnowError('model_failed', 'broken', { details: { usage: spent } });
    const failed = await plannerOf({ model: createScriptedModel({ readers: [failure] }) }).select({ message: 'x' });
    expect(failed).toMatchObject({ mode: 'fallback', reason: 'model_failed: broken', usage: { selection: spent } });
  });

  it.each([
    ['likelier than all tools together', { none: 0.8, read_mail: 0.2 }, 'none'],
    ['not', { none: 0.2, read_mail: 0.8 }, 'selected'],
    ['likelier than each tool, and not than all', { none: 0.4, read_mail: 0.3, play_song: 0.3 }, 'selected'],
  ])('abstains only where "none" is likelier than all tools together: %s', async (_, script, mode) => {
    const selected = await ask(script).selected;
    expect(selected.mode).toBe(mode);
    const event = selected.trace.find(({ note }) => note.includes('no tool fits'));
    if (mode === 'none') expect(event?.none).toBeCloseTo(0.8, 2);
    else expect(event).toBeUndefined();
  });

  it('needs a model that gives probabilities, and else falls back', async () => {
    const model = createScriptedModel({});
    const selected = await plannerOf({ model, options: { answer: 'rank' } }).select({ message: 'x' });
    expect(selected).toMatchObject({ mode: 'fallback' });
    expect(selected.reason).toContain('next-token probabilities');
  });
});

describe('the confidence of a choice by rank', () => {
  it('is the probability that the chosen names hold together', async () => {
    const script = { read_mail: 0.4, book_flight: 0.35, brew_coffee: 0.1, play_song: 0.1, find_hotel: 0.05 };
    const { confidence } = await ask({ ...script, 'read_mail", "none': 1 }).selected;
    expect(confidence).toBeCloseTo(0.7, 1);
  });
});
