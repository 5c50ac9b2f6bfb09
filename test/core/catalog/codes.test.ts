import { describe, expect, it } from 'vitest';
import { codesIn, codesOf, codesShown } from '../../../src/core/catalog/codes.js';
import { makeTool } from '../selection/setup.js';

describe('codes by their forms', () => {
  it.each<[string, Record<string, string>]>([
    ['Number of the invoice, e.g. INV-120', { inv0: 'INV-120' }],
    ['annule A-510 et a_512', { a0: 'A-510' }],
    ['要V-3二十四瓶、K8十二瓶', { v0: 'V-3', k0: 'K8' }],
    ['(#A12), SHP-2025-0042: 1Z4411, 19h30!', { a0: '#A12', shp00: 'SHP-2025-0042' }],
  ])('in "%s"', (text, codes) => {
    expect(Object.fromEntries(codesIn(text))).toEqual(codes);
  });

  it.each([
    'the 24-hour clock, 30m or 2h, 4th of May 2026',
    'lib/a1/b.go, main.go:12, ~/a1/b2, @a1, l.petit@a1.example, https://a1.b/c2?d=e3',
    'v2.9.0 and E.164',
    'order 4411 of 2026-11-25',
  ])('none in "%s"', (text) => {
    expect([...codesIn(text)]).toEqual([]);
  });

  it('as a schema shows them in texts and examples, also of its items', () => {
    const schema = { description: 'e.g. A-1', examples: ['B-2', 7], items: { example: 'C-3' } };
    expect([...codesShown(schema, {}).keys()].sort()).toEqual(['a0', 'b0', 'c0']);
  });

  it.each([
    { enum: ['A4', 'Letter'], description: 'Paper, e.g. A4' },
    { type: 'integer', description: 'Internal id, not the number such as INV-120' },
  ])('none of %j', (schema) => {
    expect([...codesShown(schema, {})]).toEqual([]);
  });

  it('of a schema that refers to itself, and of one that shows many, so many at most', () => {
    const names = Array.from({ length: 80 }, (_, place) => `p${place}`);
    const node = {
      type: 'object',
      properties: Object.fromEntries(names.map((name) => [name, { $ref: '#/$defs/it' }])),
    };
    const many = [...'abcdefghijklmnopqrstuvwxyz'].map((letter) => `${letter}-1`).join(' ');
    const inputSchema = {
      type: 'object',
      properties: { it: { $ref: '#/$defs/it' }, x: { description: many } },
      $defs: { it: node },
    };
    expect([...codesOf(makeTool('big', { inputSchema })).keys()]).toHaveLength(16);
  });

  it('as the arguments of a tool show them, also behind references and within lists of objects', () => {
    const inputSchema = {
      type: 'object',
      properties: {
        lines: { type: 'array', items: { type: 'object', properties: { part: { $ref: '#/$defs/part' } } } },
        note: { type: 'string', description: 'Any text' },
      },
      $defs: { part: { type: 'string', description: 'Part, e.g. P-511' } },
    };
    expect(Object.fromEntries(codesOf(makeTool('order_parts', { inputSchema })))).toEqual({ p0: 'P-511' });
  });
});
