import { describe, expect, it } from '@jest/globals';
import type { OptionsInput } from '../../../src/core/config/options.js';
import { createScriptedModel } from '../../support/scripted-model.js';
import { namesOf, naming, plannerOf } from './setup.js';

const RANKING = new Map([
  ['weather_report', 0.4],
  ['stock_quote', 0.3],
  ['resize_image', 0.2],
  ['count_sheep', 0.1],
]);
/** The order of the model alone: what keywords do to it is told in `fuse`. */
const BY_MODEL = { keywordWeight: 0 };
const REQUEST = { message: 'coffee and a song for the garden' };

function fillRank(options: OptionsInput, request = REQUEST) {
  const model = createScriptedModel({ readers: [{ probabilities: RANKING }] });
  return plannerOf({ model, options: { core: 1, fill: true, ...BY_MODEL, ...options } }).select(request);
}

describe('free room', () => {
  it('is filled by the ranking and the keywords in turn', async () => {
    const { tools } = await fillRank({ maxTools: 5 });
    expect(tools.map(({ via }) => via)).toEqual(['model', 'model', 'keyword', 'model', 'keyword']);
    const ranked = tools.filter(({ via }) => via === 'model');
    expect(ranked.map(({ name, rank }) => [name, rank])).toEqual([
      ['weather_report', 1],
      ['stock_quote', 2],
      ['resize_image', 3],
    ]);
    for (const { name } of tools.filter(({ via }) => via === 'keyword')) {
      expect(['brew_coffee', 'play_song', 'water_garden']).toContain(name);
    }
  });

  it('is filled by one where the other has no more', async () => {
    const model = createScriptedModel({ answers: [naming('weather_report')] });
    const { tools } = await plannerOf({ model, options: { fill: true, maxTools: 8 } }).select(REQUEST);
    expect(tools.map(({ via }) => via)).toEqual(['model', 'keyword', 'keyword', 'keyword']);
  });

  it('is left as it is when the fill is off', async () => {
    expect(namesOf(await fillRank({ fill: false, maxTools: 8 }))).toEqual(['weather_report']);
  });

  it('is filled up to maxTools, without a name twice', async () => {
    for (const maxTools of [1, 2, 3, 6]) {
      const names = namesOf(await fillRank({ maxTools }));
      expect(names).toHaveLength(maxTools);
      expect(new Set(names).size).toBe(maxTools);
    }
  });

  it.each([
    [0.3, 1],
    [0.6, 2],
    [0.85, 3],
  ])('is filled until the names hold a probability of %d', async (minMass, ranked) => {
    const { tools } = await fillRank({ minMass, maxTools: 8 });
    expect(tools.filter(({ via }) => via === 'model')).toHaveLength(ranked);
    expect(tools.length).toBeLessThan(8);
  });

  it('counts a probability of two readings as a share of both', async () => {
    const script = new Map([
      ['weather_report', 0.5],
      ['stock_quote', 0.4],
      ['resize_image', 0.1],
      ['weather_report", "count_sheep', 1],
    ]);
    const model = createScriptedModel({ readers: [{ probabilities: script }] });
    const options = { core: 1, fill: true, readings: 2, minMass: 0.9, ...BY_MODEL };
    const { tools } = await plannerOf({ model, options }).select(REQUEST);
    const ranked = tools.filter(({ via }) => via === 'model').map(({ name }) => name);
    expect(ranked).toEqual(['weather_report', 'count_sheep', 'stock_quote']);
  });

  it('is not filled when no tool fits', async () => {
    const model = createScriptedModel({ answers: [naming()] });
    expect(await plannerOf({ model, options: { fill: true } }).select(REQUEST)).toMatchObject({
      mode: 'none',
      tools: [],
    });
  });
});
