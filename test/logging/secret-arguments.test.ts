import { describe, expect, it } from '@jest/globals';
import { secretArgumentNames, secretValuesIn } from '../../src/logging/secret-arguments.js';

describe('arguments marked secret', () => {
  it.each([
    ['writeOnly', { writeOnly: true }],
    ['format password', { format: 'password' }],
    ['x-secret', { 'x-secret': true }],
  ])('are found by %s, at any depth', (_, mark) => {
    const inner = { type: 'object', properties: { pin: { type: 'string', ...mark }, city: { type: 'string' } } };
    const schema = {
      properties: { login: inner, list: { items: inner } },
      anyOf: [{ properties: { top: mark } }],
      $defs: { Account: inner },
    };
    expect(secretArgumentNames(schema).sort()).toEqual(['pin', 'top']);
  });

  it('are none in a schema without marks', () => {
    expect(secretArgumentNames({ properties: { a: { writeOnly: false, format: 'date' } } })).toEqual([]);
  });

  it.each([
    ['JSON', '{"steps": [{"arguments": {"pin": "say \\"hi\\"", "city": "Rome"}}]}', ['say "hi"']],
    ['a list and an object of JSON', '{"pin": ["a1", {"b": "b2"}, 33]}', ['a1', 'b2', '33']],
    ['a number', '{"pin": 4711}', ['4711']],
    ['JSON that is cut', '{"arguments": {"pin": "4711-half', ['4711-half']],
    ['prose around JSON', 'Sure: {"pin" : "4711"} done', ['4711']],
    ['nothing', 'no pin here', []],
  ])('have their values found in %s', (_, text, expected) => {
    expect(secretValuesIn(text, ['pin'])).toEqual(expected);
  });
});
