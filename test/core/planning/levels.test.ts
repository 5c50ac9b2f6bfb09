import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { levelsOf } from '../../../src/core/planning/levels.js';

const step = (id: string, ...dependsOn: string[]) => ({ id, dependsOn });

describe('levelsOf', () => {
  it.each([
    ['no step', [], []],
    ['one step', [step('s1')], [['s1']]],
    ['steps that need nothing', [step('s1'), step('s2')], [['s1', 's2']]],
    ['a chain', [step('s1'), step('s2', 's1'), step('s3', 's2')], [['s1'], ['s2'], ['s3']]],
    [
      'a diamond',
      [step('s1'), step('s2', 's1'), step('s3', 's1'), step('s4', 's2', 's3')],
      [['s1'], ['s2', 's3'], ['s4']],
    ],
    [
      'a step that waits for the last of its needs',
      [step('s1'), step('s2', 's1'), step('s3', 's1', 's2')],
      [['s1'], ['s2'], ['s3']],
    ],
    ['a late step that needs nothing', [step('s1'), step('s2', 's1'), step('s3')], [['s1', 's3'], ['s2']]],
  ])('of %s', (_, steps, levels) => {
    expect(levelsOf(steps)).toEqual(levels);
  });

  it('names each step once, as early as its needs allow, for whatever plan', () => {
    const plan = fc
      .array(fc.array(fc.nat(30), { maxLength: 4 }), { minLength: 1, maxLength: 20 })
      .map((needs) =>
        needs.map((list, place) =>
          step(`s${place + 1}`, ...new Set(place === 0 ? [] : list.map((other) => `s${(other % place) + 1}`))),
        ),
      );
    fc.assert(
      fc.property(plan, (steps) => {
        const levels = levelsOf(steps);
        expect(levels.flat().sort()).toEqual(steps.map(({ id }) => id).sort());
        const levelOf = new Map(levels.flatMap((ids, level) => ids.map((id) => [id, level] as const)));
        for (const { id, dependsOn } of steps) {
          const latest = Math.max(-1, ...dependsOn.map((other) => levelOf.get(other) ?? Number.NaN));
          expect(levelOf.get(id)).toBe(latest + 1);
        }
      }),
    );
  });
});
