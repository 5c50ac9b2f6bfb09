import { describe, expect, it } from '@jest/globals';
import type { Tool } from '../../../src/core/catalog/tool.js';
import { planAnswerSchema } from '../../../src/core/planning/plan-schema.js';
import { compileSchema } from '../../support/compile-schema.js';
import { createTool } from '../../support/create-tool.js';

const STATION = {
  type: 'object',
  properties: {
    stcd: { type: 'string' },
    level: { type: 'number' },
    all: { type: 'array', items: { type: 'string' } },
  },
};
const find = createTool(
  'find',
  { properties: { name: { type: 'string' } }, required: ['name'], additionalProperties: false },
  STATION,
);
const read = createTool(
  'read',
  {
    properties: {
      stcd: { type: 'string', pattern: '^\\d{8}$' },
      hours: { type: 'integer', minimum: 1 },
      codes: { type: 'array', items: { type: 'string', minLength: 2 } },
      flag: { type: 'boolean' },
    },
    required: ['stcd'],
    additionalProperties: false,
  },
  STATION,
);
const tree = (name: string) =>
  createTool(name, {
    properties: { root: { $ref: '#/$defs/node' } },
    required: ['root'],
    additionalProperties: false,
    $defs: {
      node: {
        type: 'object',
        properties: { [`${name}_id`]: { type: 'integer' }, next: { $ref: '#/$defs/node' } },
        required: [`${name}_id`],
        additionalProperties: false,
      },
    },
  });

function acceptor(tools: readonly Tool[], { canNeedTools = false }: { canNeedTools?: boolean } = {}) {
  const validate = compileSchema(planAnswerSchema(tools, { canNeedTools }));
  return (answer: unknown) => validate(answer) === true;
}
const plan = (...steps: { tool: string; arguments: Record<string, unknown>; id?: string; dependsOn?: unknown }[]) => ({
  kind: 'plan',
  steps: steps.map((step, place) => ({ id: `s${place + 1}`, ...step })),
});

describe('the schema of a plan', () => {
  const accepts = acceptor([find, read]);

  it.each([
    [
      'takes',
      'its own arguments',
      plan({ tool: 'find', arguments: { name: 'a' } }, { tool: 'read', arguments: { stcd: '12345678' } }),
    ],
    ['refuses', "another tool's arguments", plan({ tool: 'find', arguments: { stcd: '12345678' } })],
    ['refuses', 'more than its arguments', plan({ tool: 'find', arguments: { name: 'a', hours: 1 } })],
    ['refuses', 'a required argument left out', plan({ tool: 'read', arguments: {} })],
    ['refuses', 'a value out of its bounds', plan({ tool: 'read', arguments: { stcd: '12345678', hours: 0 } })],
    ['refuses', 'a tool that was not chosen', plan({ tool: 'other', arguments: {} })],
    ['refuses', 'an id of another form', plan({ tool: 'find', arguments: { name: 'a' }, id: 'first' })],
    ['refuses', 'no step', plan()],
    ['refuses', 'words beside the plan', { ...plan({ tool: 'find', arguments: { name: 'a' } }), note: 'x' }],
  ])('%s a step with %s', (word, _, answer) => {
    expect(accepts(answer)).toBe(word === 'takes');
  });

  it.each<[string, string, Record<string, unknown>]>([
    ['takes', 'a text with a pattern', { stcd: '${s1.stcd}' }],
    ['takes', 'a whole number', { stcd: '12345678', hours: '${s1.level}' }],
    ['takes', 'a list', { stcd: '12345678', codes: '${s1.all}' }],
    ['takes', 'a part of a list', { stcd: '12345678', codes: ['ab', '${s1.all[0]}'] }],
    ['takes', 'a truth value', { stcd: '12345678', flag: '${s1.stcd}' }],
    ['refuses', 'a part of a number', { stcd: '12345678', hours: '1${s1.level}' }],
  ])('%s a reference in place of %s', (word, _, values) => {
    expect(accepts(plan({ tool: 'find', arguments: { name: 'a' } }, { tool: 'read', arguments: values }))).toBe(
      word === 'takes',
    );
  });

  it('takes an order that no reference says', () => {
    const [first, second] = [
      { tool: 'find', arguments: { name: 'a' } },
      { tool: 'find', arguments: { name: 'b' } },
    ];
    expect(accepts(plan(first, { ...second, dependsOn: ['s1'] }))).toBe(true);
    expect(accepts(plan(first, { ...second, dependsOn: 's1' }))).toBe(false);
  });

  it('keeps the definitions of each tool apart, also where they have one name', () => {
    const both = acceptor([tree('left'), tree('right')]);
    expect(both(plan({ tool: 'left', arguments: { root: { left_id: 1, next: { left_id: 2 } } } }))).toBe(true);
    expect(both(plan({ tool: 'right', arguments: { root: { right_id: 1, next: { right_id: 2 } } } }))).toBe(true);
    expect(both(plan({ tool: 'right', arguments: { root: { left_id: 1 } } }))).toBe(false);
    expect(both(plan({ tool: 'left', arguments: { root: { left_id: 1, next: { right_id: 2 } } } }))).toBe(false);
  });

  it('keeps an argument that is called like a keyword', () => {
    const odd = createTool('odd', {
      properties: { $ref: { type: 'string' }, type: { type: 'string' }, const: { type: 'integer' } },
      additionalProperties: false,
    });
    expect(acceptor([odd])(plan({ tool: 'odd', arguments: { $ref: 'a', type: 'b', const: 1 } }))).toBe(true);
    expect(acceptor([odd])(plan({ tool: 'odd', arguments: { const: 'a' } }))).toBe(false);
  });
});

describe('the ways out of a plan', () => {
  const clarification = { kind: 'clarification', question: 'which?', missing: ['name'] };
  const unplannable = { kind: 'unplannable', reason: 'no tool' };
  const needTools = { kind: 'needTools', needTools: 'one that reads' };

  it.each([
    ['with tools, and one more round', [find], true, [true, true, true]],
    ['with tools, in the last round', [find], false, [true, true, false]],
    ['without a tool', [], true, [true, true, true]],
  ])('%s', (_, tools, canNeedTools, taken) => {
    const accepts = acceptor(tools, { canNeedTools });
    expect([clarification, unplannable, needTools].map(accepts)).toEqual(taken);
  });

  it('leave no room for a plan where there is no tool', () => {
    expect(acceptor([])(plan({ tool: 'find', arguments: { name: 'a' } }))).toBe(false);
  });
});
