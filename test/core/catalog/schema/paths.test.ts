import { describe, expect, it } from 'vitest';
import { fits, type Subschema, subschemaAt } from '../../../../src/core/catalog/schema/paths.js';
import { secretArgumentNames, secretNamesOf } from '../../../../src/core/catalog/schema/secrets.js';
import type { JsonSchema } from '../../../../src/core/catalog/tool.js';
import { createTool } from '../../../support/create-tool.js';

const text = { type: 'string' };
const number = { type: 'number' };
const object = (properties: JsonSchema, more: JsonSchema = {}): JsonSchema => ({ type: 'object', properties, ...more });

describe('subschemaAt', () => {
  const item = object({ id: { type: 'integer' }, parent: { $ref: '#/$defs/item' } });
  const output: JsonSchema = {
    ...object({
      items: { type: 'array', items: { $ref: '#/$defs/item' } },
      pair: { type: 'array', prefixItems: [text, number], items: false },
      either: { anyOf: [object({ a: text }), object({ a: number, b: number })] },
      typedForms: { type: 'object', anyOf: [object({ a: text }), { type: 'object' }] },
      closedForms: { type: 'object', anyOf: [object({ a: text }), object({ b: number })] },
      both: { allOf: [object({ a: text }), object({ b: number })] },
      maybe: { type: ['object', 'null'], properties: { a: text } },
      map: { type: 'object', additionalProperties: number },
      open: { type: 'object' },
      openToo: object({ a: text }, { additionalProperties: true }),
      closed: object({ a: text }, { additionalProperties: false }),
      untyped: { description: 'whatever' },
      few: { type: 'array', items: text, maxItems: 1 },
    }),
    $defs: { item },
  };
  it.each<[(string | number)[], Subschema]>([
    [['items', 0, 'id'], { type: 'integer' }],
    [['items', '0', 'id'], { type: 'integer' }],
    [['items', 0, 'parent', 'parent', 'id'], { type: 'integer' }],
    [['items', 0, 'nothing'], undefined],
    [['items', 'id'], undefined],
    [['pair', 1], number],
    [['pair', 2], undefined],
    [['either', 'a'], { anyOf: [text, number] }],
    [['either', 'b'], number],
    [['either', 'c'], undefined],
    [['typedForms', 'a'], text],
    [['typedForms', 'b'], {}],
    [['closedForms', 'c'], undefined],
    [['both', 'a'], text],
    [['both', 'b'], number],
    [['maybe', 'a'], text],
    [['map', 'anything'], number],
    [['open', 'a', 'b', 0], {}],
    [['openToo', 'b'], {}],
    [['closed', 'b'], undefined],
    [['untyped'], { description: 'whatever' }],
    [['untyped', 'x', 0], {}],
    [['few', 0], text],
    [['few', 1], undefined],
    [['nothing'], undefined],
    [['nothing', 'below'], undefined],
    [['constructor'], undefined],
  ])('at %j', (path, expected) => {
    expect(subschemaAt(output, path)).toEqual(expected);
  });

  it('hands the definitions on with what refers to them', () => {
    const found = subschemaAt(output, ['items']);
    expect(found).toEqual({ type: 'array', items: { $ref: '#/$defs/item' }, $defs: { item } });
    expect(subschemaAt(Object(found), [3, 'id'])).toEqual({ type: 'integer' });
  });

  it('hands the place of the document on, too, by which references are read', () => {
    const item = { $id: 'item', $defs: { id: text } };
    const found = subschemaAt(
      { $id: 'https://e.test/root', properties: { a: { items: { $ref: 'item#/$defs/id' } } }, $defs: { item } },
      ['a'],
    );
    expect(subschemaAt(Object(found), [0])).toMatchObject({ $ref: 'item#/$defs/id' });
    expect(fits(Object(subschemaAt(Object(found), [0])), number)).toBe(false);
  });

  it('is the schema itself, or any, for the empty path', () => {
    expect(subschemaAt(output, [])).toBe(output);
    expect(subschemaAt({}, ['a'])).toEqual({});
  });

  it('ends with definitions that refer only to each other', () => {
    const schema = { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } };
    expect(subschemaAt(schema, ['x'])).toEqual({});
  });
});

describe('fits', () => {
  const list = (items: JsonSchema) => ({ type: 'array', items });
  const tree = { $ref: '#/$defs/t', $defs: { t: object({ next: { $ref: '#/$defs/t' } }, { required: ['next'] }) } };
  it.each<[string, JsonSchema, JsonSchema, boolean]>([
    ['the same type', text, text, true],
    ['another type', text, number, false],
    ['integer for number', { type: 'integer' }, number, true],
    ['number for integer', number, { type: 'integer' }, true],
    ['the unknown for anything', {}, number, true],
    ['anything for the unknown', number, { description: 'x' }, true],
    ['text or nothing for text', { type: ['string', 'null'] }, text, true],
    ['nothing for text', { type: 'null' }, text, false],
    ['one of several forms', { anyOf: [number, text] }, text, true],
    ['none of several forms', { anyOf: [number, { type: 'null' }] }, text, false],
    ['a form of several', text, { oneOf: [number, text] }, true],
    ['no form of several', text, { oneOf: [number, { type: 'boolean' }] }, false],
    ['enums of one type', { enum: ['a'] }, { enum: ['b'] }, true],
    ['a constant of the enum', { const: 'a' }, { type: 'string', enum: ['a'] }, true],
    ['an enum of another type', { enum: ['a'] }, number, false],
    ['a type that holds an enum value', text, { enum: [1, 'a'] }, true],
    ['a type that holds none', number, { enum: ['a', 'b'] }, false],
    ['a list for a list', list(text), list(text), true],
    ['a list of others', list(text), list(number), false],
    ['an element for a list', text, list(text), false],
    ['an object with the field', object({ a: text }), object({ a: text }, { required: ['a'] }), true],
    ['a member of allOf that refuses', text, { allOf: [{ description: 'x' }, number] }, false],
    ['a recursion for a recursion', tree, tree, true],
  ])('%s', (_what, produced, wanted, expected) => {
    expect(fits(produced, wanted)).toBe(expected);
  });
});

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
