import { describe, expect, it } from '@jest/globals';
import { withoutRepeats } from '../../../src/core/planning/without-repeats.js';

const step = (id: string, tool: string, values: Record<string, unknown>) => ({
  id,
  tool,
  arguments: values,
  purpose: '',
  dependsOn: [],
});
const FOUND = step('s1', 'find', { name: 'Paris' });

describe('the tail of a plan that says again what it has said', () => {
  it('is left out, however long it is', () => {
    const steps = [
      FOUND,
      step('s2', 'show', { id: '${s1.id}', area: { north: 1, south: 2 } }),
      step('s3', 'show', { area: { south: 2, north: 1 }, id: '${s1.id}' }),
      step('s4', 'show', { id: '${s1.id}', area: { north: 1, south: 2 } }),
    ];
    expect(withoutRepeats(steps)).toEqual({ steps: steps.slice(0, 2), repeated: ['show', 'show'] });
  });

  it.each([
    ['another tool', step('s3', 'read', { id: '${s1.id}' })],
    ['another value', step('s3', 'show', { id: '${s1.ids[1]}' })],
    ['a further argument', step('s3', 'show', { id: '${s1.id}', limit: 1 })],
  ])('is none with %s', (_, last) => {
    const steps = [FOUND, step('s2', 'show', { id: '${s1.id}' }), last];
    expect(withoutRepeats(steps)).toEqual({ steps, repeated: [] });
  });

  it.each([
    ['what the request itself says twice', [step('s1', 'press', { key: 'Tab' }), step('s2', 'press', { key: 'Tab' })]],
    ['calls without arguments', [step('s1', 'roll', {}), step('s2', 'roll', {})]],
    [
      'a second look after something else',
      [FOUND, step('s2', 'read', { at: '${s1.at}' }), step('s3', 'write', { at: '${s1.at}' })].concat(
        step('s4', 'read', { at: '${s1.at}' }),
      ),
    ],
    ['nothing', []],
  ])('is not %s', (_, steps) => {
    expect(withoutRepeats(steps)).toEqual({ steps, repeated: [] });
  });
});
