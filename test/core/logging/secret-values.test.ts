import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { secretValuesIn } from '../../../src/core/logging/secret-values.js';

describe('values under secret names', () => {
  it.each([
    ['JSON', '{"steps": [{"arguments": {"pin": "say \\"hi\\"", "city": "Rome"}}]}', ['say "hi"']],
    ['a list and an object of JSON', '{"pin": ["a1", {"b": "b2"}, 33], "city": "Rome"}', ['a1', 'b2', '33']],
    ['a number', '{"pin": 4711}', ['4711']],
    ['JSON that is cut', '{"arguments": {"pin": "4711-half', ['4711-half']],
    ['a list that is cut', '{"arguments": {"pin": ["a1", "b', ['a1', 'b']],
    ['prose around JSON', 'Sure: {"pin" : "4711"} done', ['4711']],
    ['what the caller extracted', 'Known: {"pin":{"first":"47","second":11},"city":"Rome"}\nRequest: go', ['47', '11']],
    ['JSON inside of a JSON text', '{"arguments": "{\\"pin\\": \\"4711\\"}"}', ['4711']],
    ['two places', '{"pin": "a"} {"pin": "b"}', ['a', 'b']],
    ['yes, no and nothing', '{"pin": true} {"pin": null} {"pin": ""}', []],
    ['text without the name', 'no pin here', []],
  ])('are found in %s', (_, text, expected) => {
    expect(secretValuesIn(text, ['pin']).sort()).toEqual([...expected].sort());
  });

  it('are found for each of several names, also where a name has signs of a pattern', () => {
    expect(secretValuesIn('{"a.b": "1", "aXb": "2", "c+": "3"}', ['a.b', 'c+'])).toEqual(['1', '3']);
  });

  it('are found whatever they are, in JSON of any form', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), fc.jsonValue(), (secret, other) => {
        for (const value of [secret, [other, secret], { deep: [secret] }]) {
          const text = JSON.stringify([other, { pin: value, city: other }]);
          expect(secretValuesIn(text, ['pin'])).toContain(secret);
        }
      }),
    );
  });
});
