import { describe, expect, it } from '@jest/globals';
import { secretArgumentNames, secretNamesOf } from '../../../src/core/catalog/secret-arguments.js';
import { createTool } from '../../support/create-tool.js';

const SECRET = { type: 'string', 'x-secret': true };

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

  it.each([
    ['one of its forms', { properties: { pin: { anyOf: [SECRET, { type: 'null' }] } } }],
    ['the items of its list', { properties: { pin: { type: 'array', items: SECRET } } }],
    ['the values of its map', { properties: { pin: { type: 'object', additionalProperties: SECRET } } }],
    ['what it refers to', { properties: { pin: { $ref: '#/$defs/Secret' } }, $defs: { Secret: SECRET } }],
    [
      'what it refers to by way of another',
      {
        properties: { pin: { $ref: '#/$defs/Maybe' }, city: { $ref: '#/$defs/Name' } },
        $defs: { Maybe: { anyOf: [{ $ref: '#/$defs/Secret' }, { $ref: '#/$defs/Maybe' }] }, Secret: SECRET, Name: {} },
      },
    ],
  ])('are found where the mark stands on %s', (_, schema) => {
    expect(secretArgumentNames(schema)).toEqual(['pin']);
  });

  it('may be named like a keyword', () => {
    expect(secretArgumentNames({ properties: { properties: SECRET, items: {} } })).toEqual(['properties']);
  });

  it.each([
    ['marks', { properties: { a: { writeOnly: false, format: 'date' } } }],
    ['an end', { properties: { a: { $ref: '#' } } }],
    ['a target of its reference', { properties: { a: { $ref: '#/nowhere' }, b: { $ref: 'elsewhere.json' } } }],
  ])('are none in a schema without %s', (_, schema) => {
    expect(secretArgumentNames(schema)).toEqual([]);
  });

  it('are those of all tools of a list, each name once', () => {
    const login = createTool('login', { properties: { pin: SECRET, user: {} } });
    const pay = createTool('pay', { properties: { pin: SECRET, card: SECRET } });
    expect(secretNamesOf([login, pay, createTool('look')])).toEqual(['pin', 'card']);
    expect(secretNamesOf([login])).toEqual(['pin']);
  });
});
