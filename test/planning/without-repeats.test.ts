import { describe, expect, it } from '@jest/globals';
import { withoutRepeats } from '../../src/planning/without-repeats.js';

const step = (id: string, tool: string, values: Record<string, unknown>, dependsOn?: string[]) => ({
  id,
  tool,
  arguments: values,
  ...(dependsOn ? { dependsOn } : {}),
});

describe('a step that says again what an earlier one says', () => {
  it('is left out, and what refers to it refers to the first', () => {
    const { steps, repeated } = withoutRepeats([
      step('s1', 'find', { name: 'Paris', area: { north: 1, south: 2 } }),
      step('s2', 'find', { area: { south: 2, north: 1 }, name: 'Paris' }),
      step('s3', 'show', { id: '${s2.id}', note: 'of ${s2.name}' }, ['s2']),
      step('s4', 'show', { id: '${s1.id}', note: 'of ${s1.name}' }),
    ]);
    expect(steps).toEqual([
      step('s1', 'find', { name: 'Paris', area: { north: 1, south: 2 } }),
      step('s3', 'show', { id: '${s1.id}', note: 'of ${s1.name}' }, ['s1']),
    ]);
    expect(repeated).toEqual(['find', 'show']);
  });

  it.each([
    ['another tool', step('s2', 'seek', { name: 'Paris' })],
    ['another value', step('s2', 'find', { name: 'Rome' })],
    ['a further argument', step('s2', 'find', { name: 'Paris', limit: 1 })],
    ['another order in a list', step('s2', 'find', { name: ['Paris', 'Rome'] })],
  ])('is not one with %s', (_, second) => {
    const draft = [step('s1', 'find', { name: 'Paris' }), step('s0', 'find', { name: ['Rome', 'Paris'] }), second];
    expect(withoutRepeats(draft)).toEqual({ steps: draft, repeated: [] });
  });

  it('is not a call without arguments: a dice may be rolled twice', () => {
    const draft = [step('s1', 'roll', {}), step('s2', 'roll', {})];
    expect(withoutRepeats(draft)).toEqual({ steps: draft, repeated: [] });
  });
});
