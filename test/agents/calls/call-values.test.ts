import { describe, expect, it } from '@jest/globals';
import { canonicalHash } from '../../../src/agents/approvals/canonical-json.js';
import { callValues } from '../../../src/agents/calls/run-call.js';

describe('the values of a call', () => {
  it('are those of the arguments and of the top level of the result, as digests', () => {
    const values = callValues({ path: 'a', deep: { x: 1 }, uri: 'u1' }, { uri: 'u2', version: 3, list: ['y'] });
    expect(values).toEqual({
      path: [canonicalHash('a')],
      uri: [canonicalHash('u1'), canonicalHash('u2')],
      version: [canonicalHash(3)],
    });
    expect(JSON.stringify(values)).not.toContain('u1');
  });

  it.each([
    ['a text', 'done'],
    ['a list', [{ uri: 'x' }]],
    ['nothing', null],
    ['a number that is none', { x: Number.NaN }],
  ])('of a result that is %s are none', (_, output) => {
    expect(callValues({}, output)).toEqual({});
  });

  it('tell a number from a text', () => {
    expect(callValues({ id: 1 }, null).id).not.toEqual(callValues({ id: '1' }, null).id);
  });
});
