import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runnablePlanSchema } from '../../../src/agents/runs/plan-run.js';
import { orderSteps } from '../../../src/agents/runs/step-order.js';
import { boundedArguments, prepareArguments } from '../../../src/agents/sandbox/prepare-arguments.js';
import { createTool } from '../../support/create-tool.js';

const OPEN = createTool('a');

describe('defaults', () => {
  const tool = createTool('search', {
    $defs: { Page: { type: 'object', properties: { size: { type: 'integer', default: 20 } } } },
    properties: {
      sort: { type: 'string', default: 'name' },
      page: { $ref: '#/$defs/Page' },
      filters: { type: 'array', items: { type: 'object', properties: { not: { type: 'boolean', default: false } } } },
      tags: { type: 'array', default: [] },
      free: { type: 'string' },
      either: { anyOf: [{ type: 'object', properties: { a: { default: 1 } } }, { type: 'object' }] },
    },
    allOf: [{ properties: { unit: { default: 'm' } } }],
  });

  it.each([
    ['what is missing', {}, { sort: 'name', tags: [], unit: 'm' }],
    ['in objects that are there, through references', { page: {} }, { page: { size: 20 } }],
    ['in the items of lists', { filters: [{}, { not: true }] }, { filters: [{ not: false }, { not: true }] }],
    ['not over what was given', { sort: 'id', tags: ['x'] }, { sort: 'id', tags: ['x'] }],
    ['not where a schema may only hold', { either: {} }, { either: {} }],
  ])('are filled in where the schema says so: %s', (_, input, expected) => {
    expect(prepareArguments(tool, input)).toMatchObject({ ok: true, arguments: expected });
  });

  it('inside a default are there at once, so that nothing is added to arguments that were decided on', () => {
    const options = { type: 'object', default: {}, properties: { force: { type: 'boolean', default: true } } };
    const nested = createTool('remove', { properties: { path: { type: 'string' }, options } });
    const first = prepareArguments(nested, { path: 'a' });
    expect(first).toMatchObject({ arguments: { path: 'a', options: { force: true } } });
    expect(prepareArguments(nested, first.ok && first.arguments)).toEqual(first);
  });

  it('count as parts of the arguments', () => {
    const many = createTool('many', { properties: { list: { default: Array.from({ length: 20_001 }, () => 1) } } });
    expect(prepareArguments(many, {})).toMatchObject({ issues: [expect.stringContaining('more than 20000 parts')] });
  });

  it.each([
    ['parts', [{ id: 's1', tool: 'a', arguments: { x: Array(20_001).fill(0) } }], undefined, 'more than 20000 parts'],
    [
      'inputs',
      [{ id: 's1', tool: 'a', arguments: {} }],
      { a: { value: Array(20_001).fill(0) } },
      'more than 20000 parts',
    ],
    [
      'levels',
      [{ id: 's1', tool: 'a', arguments: JSON.parse(`${'{"a":'.repeat(101)}1${'}'.repeat(101)}`) }],
      undefined,
      'levels deep',
    ],
  ])(
    'of a plan that is run are bounded together, before anything walks through them: %s',
    (_, steps, inputs, problem) => {
      const plan = { steps, ...(inputs ? { inputs } : {}) };
      expect(() => orderSteps(plan)).toThrow(problem);
      // One that an earlier version of Winnow stored can still be shown.
      expect(runnablePlanSchema.safeParse(plan).success).toBe(true);
    },
  );

  it('are never shared between two calls', () => {
    const [one, other] = [prepareArguments(tool, {}), prepareArguments(tool, {})];
    if (!one.ok || !other.ok) throw new Error('not prepared');
    expect(one.arguments.tags).not.toBe(other.arguments.tags);
  });

  it('leave what was given as it was', () => {
    const given = { page: {} };
    prepareArguments(tool, given);
    expect(given).toEqual({ page: {} });
  });

  it('that are null say nothing and stay out', () => {
    const tool = createTool('tool', { properties: { name: { type: ['string', 'null'], default: null } } });
    expect(prepareArguments(tool, {})).toEqual({ ok: true, arguments: {}, notes: [] });
  });

  it('that do not pass their own schema stay out, with a note', () => {
    const odd = createTool('odd', { properties: { name: { type: 'string', default: 5 } } });
    const note = 'the defaults of odd do not pass its own schema, so they were not filled in';
    expect(prepareArguments(odd, {})).toEqual({ ok: true, arguments: {}, notes: [note] });
    expect(prepareArguments(odd, { name: 7 })).toMatchObject({ ok: false, code: 'invalid_arguments' });
  });

  it('of a schema that goes round in a circle come to an end', () => {
    const circle = createTool('circle', {
      properties: { next: { $ref: '#' }, depth: { default: 1 } },
    });
    expect(prepareArguments(circle, { next: { next: {} } })).toMatchObject({
      arguments: { depth: 1, next: { depth: 1, next: { depth: 1 } } },
    });
  });
});

describe('attacks by arguments', () => {
  it.each([
    ['__proto__ at the top', '{"__proto__": {"admin": true}}', '__proto__: this name is not allowed'],
    ['__proto__ inside', '{"a": [{"__proto__": 1}]}', 'a[0].__proto__: this name is not allowed'],
    [
      'constructor.prototype',
      '{"constructor": {"prototype": {"admin": true}}}',
      'constructor: this name is not allowed',
    ],
  ])('are refused and change no prototype: %s', (_, json, issue) => {
    expect(prepareArguments(OPEN, JSON.parse(json))).toMatchObject({ code: 'invalid_arguments', issues: [issue] });
    expect(Object.hasOwn(Object.prototype, 'admin')).toBe(false);
  });

  it('are refused when they are nested without end', () => {
    const deep = JSON.parse(`${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`);
    expect(prepareArguments(OPEN, deep)).toMatchObject({ ok: false, issues: [expect.stringContaining('nested more')] });
    const circle: Record<string, unknown> = {};
    circle.self = circle;
    expect(prepareArguments(OPEN, circle)).toMatchObject({ ok: false, code: 'invalid_arguments' });
  });

  it('do not hide behind getters: the tool gets a plain copy', () => {
    let reads = 0;
    const input = {
      get query() {
        reads += 1;
        return `${reads}`;
      },
    };
    const prepared = prepareArguments(OPEN, input);
    if (!prepared.ok) throw new Error(prepared.reason);
    expect(prepared.arguments.query).toBe(prepared.arguments.query);
    expect(Object.getOwnPropertyDescriptor(prepared.arguments, 'query')).toMatchObject({ value: expect.any(String) });
  });

  it('may have "constructor" as an ordinary name', () => {
    expect(prepareArguments(OPEN, { constructor: 'Ferrari' })).toMatchObject({ ok: true });
  });

  it('pass unchanged when they are harmless, whatever they are', () => {
    const harmless = fc
      .dictionary(
        fc.string().filter((key) => key !== '__proto__'),
        fc.jsonValue(),
      )
      .filter((value) => !/"(?:__proto__|constructor)"/u.test(JSON.stringify(value)));
    fc.assert(
      fc.property(harmless, (input) => {
        const prepared = prepareArguments(OPEN, input);
        expect(prepared.ok && prepared.arguments).toEqual(JSON.parse(JSON.stringify(input)));
      }),
      { seed: 7 },
    );
  });
});

describe('arguments that are too many', () => {
  it.each<[string, Record<string, unknown>, string]>([
    ['parts', { a: Array.from({ length: 20_001 }, () => 1) }, 'parts'],
    ['bytes', { a: 'x'.repeat(2 ** 20) }, 'bytes'],
  ])('by their %s are refused', (_, given, word) => {
    const prepared = prepareArguments(createTool('note', {}), given);
    expect(prepared).toMatchObject({ ok: false, code: 'invalid_arguments', reason: expect.stringContaining(word) });
  });

  it('by the defaults of the schema are refused', () => {
    const items = { properties: { a: { default: Array.from({ length: 1_000 }, () => 0) } } };
    const tool = createTool('note', { properties: { list: { type: 'array', items } } });
    const prepared = prepareArguments(tool, { list: Array.from({ length: 1_000 }, () => ({})) });
    expect(prepared).toMatchObject({ ok: false, reason: expect.stringContaining('defaults') });
  });
});

it('a call that is refused is written with its arguments, unless they are too many', () => {
  expect(boundedArguments({ a: [1] })).toEqual({ a: [1] });
  expect(boundedArguments({ a: Array(20_001).fill(0) })).toEqual({});
});
