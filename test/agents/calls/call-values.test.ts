import { describe, expect, it } from 'vitest';
import { callValues } from '../../../src/agents/calls/run-call.js';

const digest = (value: unknown) => `digest of ${JSON.stringify(value)}`;
const valuesOf = (given: object, output: unknown, names = ['path', 'uri', 'version', 'list', 'toString']) =>
  callValues(given, output, { names, digest });

describe('the values of a call', () => {
  it('are those of the arguments and of the top level of the result that are asked for, as digests', () => {
    const values = valuesOf(
      { path: 'a', pin: '1234', deep: { x: 1 }, uri: 'u1' },
      { uri: 'u2', version: 3, list: ['y'] },
    );
    expect(values).toEqual({ path: [digest('a')], uri: [digest('u1'), digest('u2')], version: [digest(3)] });
  });

  it('are the same whatever their order is', () => {
    expect(JSON.stringify(valuesOf({ uri: 'a', path: 'b' }, null))).toBe(
      JSON.stringify(valuesOf({ path: 'b', uri: 'a' }, null)),
    );
  });

  it.each([
    ['a text', 'done'],
    ['a list', [{ uri: 'x' }]],
    ['nothing', null],
    ['a number that is none', { version: Number.NaN }],
  ])('of a result that is %s are none', (_, output) => {
    expect(valuesOf({}, output)).toEqual({});
  });
});
