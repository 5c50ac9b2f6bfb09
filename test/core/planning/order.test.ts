import { describe, expect, it } from '@jest/globals';
import { levelsOf } from '../../../src/core/planning/levels.js';
import { orderEffects } from '../../../src/core/planning/order.js';
import type { Step } from '../../../src/core/result.js';
import { makeTool } from '../selection/setup.js';

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
