import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { levelsOf, orderEffects } from '../../../src/core/planning/check-plan.js';
import type { Step } from '../../../src/core/result.js';
import { makeTool } from '../selection/setup.js';

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

const TOOLS = new Map(
  [makeTool('read', { risk: 'low' }), makeTool('propose', { risk: 'medium' }), makeTool('write', { risk: 'high' })].map(
    (tool) => [tool.name, tool],
  ),
);

type Given = readonly [tool: string, ...dependsOn: string[]];

function ordered(...given: Given[]) {
  const steps = given.map(
    ([tool, ...dependsOn], place): Step => ({ id: `s${place + 1}`, tool, arguments: {}, purpose: '', dependsOn }),
  );
  return orderEffects(steps, TOOLS);
}

const waits = (...given: Given[]) => ordered(...given).map(({ dependsOn }) => dependsOn.join(' '));

describe('steps of high risk', () => {
  it('wait for all before them, and what follows waits for them', () => {
    expect(waits(['read'], ['propose'], ['write'], ['read'], ['read'], ['write'])).toEqual([
      '',
      '',
      's1 s2',
      's3',
      's3',
      's4 s5',
    ]);
    expect(levelsOf(ordered(['read'], ['read'], ['write'], ['read'], ['read']))).toEqual([
      ['s1', 's2'],
      ['s3'],
      ['s4', 's5'],
    ]);
  });

  it('wait one for the other', () => {
    expect(waits(['write'], ['write', 's1'], ['write', 's1'], ['write', 's1'])).toEqual(['', 's1', 's1 s2', 's1 s3']);
  });

  it('need no further wait where another brings it with it', () => {
    expect(waits(['read'], ['propose', 's1'], ['write', 's2'])).toEqual(['', 's1', 's2']);
    expect(waits(['write'], ['read', 's1'], ['read', 's2'])).toEqual(['', 's1', 's2']);
  });

  it('are the only ones that wait without a reference', () => {
    expect(waits(['read'], ['propose'], ['propose'], ['read'])).toEqual(['', '', '', '']);
  });
});
