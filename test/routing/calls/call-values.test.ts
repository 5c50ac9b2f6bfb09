import { describe, expect, it } from '@jest/globals';
import { canonicalHash } from '../../../src/routing/approvals/canonical-json.js';
import { callValues, maskFields } from '../../../src/routing/calls/call-values.js';

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

describe('fields', () => {
  it.each([
    ...['apiKey', 'OPENAI_API_KEY', 'x-api-key', 'Authorization', 'token', 'accessToken', 'db_password', 'Set-Cookie'],
    ...['pin_code', 'pinCode'],
  ])('are masked by the name %s, at any depth', (name) => {
    const given = { a: [{ [name]: { deep: 'hunter2' }, other: 1 }] };
    expect(maskFields(given, ['pin_code'])).toEqual({ a: [{ [name]: '[masked]', other: 1 }] });
    expect(JSON.stringify(given)).toContain('hunter2');
  });

  it.each(['tokens', 'maxTokens', 'nextPageToken', 'keywords', 'secretary', 'name'])(
    'are kept by the name %s',
    (name) => {
      const given = { [name]: ['harmless', 4, null, true] };
      expect(maskFields(given, [])).toEqual(given);
    },
  );

  it('lose what looks like a key in their texts', () => {
    expect(maskFields({ note: 'with sk-abcdefgh12345678' }, [])).toEqual({ note: 'with [masked]' });
  });
});
