import { describe, expect, it } from '@jest/globals';
import { createCatalog } from '../../src/core/catalog/catalog.js';
import { createScope } from '../../src/core/catalog/scope.js';
import { offeredTools, toolsForPlanning } from '../../src/evaluation/offered-tools.js';
import { createTool } from '../support/create-tool.js';
import { aCase } from './setup.js';

const NAMES = Array.from({ length: 60 }, (_, place) => `t${place}`);
const own = createTool('own', {}, undefined, { scope: { user: 'ann' } });
const viewOf = createScope(createCatalog([...NAMES.map((name) => createTool(name)), own]));
const view = viewOf({});
const one = aCase({ candidates: ['t1', 't2'], expected: { tools: ['t1', 't1', 't3'] } });
const offer = (distractors: number, seed = 1, id = 'c1') =>
  offeredTools({ ...one, id }, view, { candidates: 'only', distractors, seed }) ?? [];

describe('the tools that a case may use', () => {
  it('are all, unless only the candidates are asked for', () => {
    expect(offeredTools(one, view, { candidates: 'all', distractors: 5, seed: 1 })).toBeUndefined();
    expect(offer(0)).toEqual(['t1', 't2']);
  });

  it('are the candidates and so many others, the same for the same seed and case', () => {
    const offered = offer(20);
    expect(new Set(offered).size).toBe(22);
    expect(offered).toEqual(expect.arrayContaining(['t1', 't2']));
    expect(offer(20)).toEqual(offered);
    expect(offer(20, 2)).not.toEqual(offered);
    expect(offer(20, 1, 'c2')).not.toEqual(offered);
  });

  it('are never those of another user', () => {
    expect(offer(1_000)).toHaveLength(NAMES.length);
    expect(offer(1_000)).not.toContain('own');
  });

  it('for planning alone are the expected ones and others up to the most that are handed on', () => {
    const given = toolsForPlanning(one, view, { maxTools: 8, seed: 1 });
    expect(new Set(given).size).toBe(8);
    expect(given).toEqual(expect.arrayContaining(['t1', 't3']));
    expect(toolsForPlanning(one, view, { maxTools: 1, seed: 1 })).toEqual(['t1', 't3']);
    expect(toolsForPlanning(aCase({ expected: { tools: [] } }), view, { maxTools: 8, seed: 1 })).toHaveLength(8);
  });
});
