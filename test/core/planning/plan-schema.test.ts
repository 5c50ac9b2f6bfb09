import { describe, expect, it } from '@jest/globals';
import { compileSchema } from '../../support/compile-schema.js';
import type { Tool } from '../../../src/core/catalog/tool.js';
import { planAnswerSchema } from '../../../src/core/planning/plan-schema.js';
import { createTool } from '../../support/create-tool.js';

const toAwaited = (place: string) => {
  const [tool = '', argument = ''] = place.split('.');
  return { tool, argument, producers: ['find'] };
};

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

function acceptor(
  tools: readonly Tool[],
  { references = [], canNeedTools = false }: { references?: string[]; canNeedTools?: boolean } = {},
) {
  const validate = compileSchema(
    planAnswerSchema(tools, { awaited: references.map(toAwaited), canNeedTools }));
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
    ['refuses', 'a text with a pattern, from a field of another type', { stcd: '${s1.level}' }],
    ['refuses', 'a text with a pattern, from no field at all', { stcd: '${s1.code}' }],
    ['takes', 'a whole number', { stcd: '12345678', hours: '${s1.level}' }],
    ['takes', 'a list', { stcd: '12345678', codes: '${s1.all}' }],
    ['takes', 'a part of a list', { stcd: '12345678', codes: ['ab', '${s1.all[0]}'] }],
    ['refuses', 'a value of which no tool returns the type', { stcd: '12345678', flag: '${s1.stcd}' }],
  ])('%s a reference in place of %s', (word, _, values) => {
    expect(accepts(plan({ tool: 'find', arguments: { name: 'a' } }, { tool: 'read', arguments: values }))).toBe(
      word === 'takes',
    );
  });

  it('takes any reference where a tool does not tell what it returns', () => {
    const untold = createTool('untold', { additionalProperties: false });
    const answer = plan(
      { tool: 'untold', arguments: {} },
      { tool: 'read', arguments: { stcd: '${s1.any[0].code}', flag: '${s1.on}' } },
    );
    expect(acceptor([untold, read])(answer)).toBe(true);
    expect(accepts(answer)).toBe(false);
  });

  it('takes an order that no reference says', () => {
    const [first, second] = [
      { tool: 'find', arguments: { name: 'a' } },
      { tool: 'find', arguments: { name: 'b' } },
    ];
    expect(accepts(plan(first, { ...second, dependsOn: ['s1'] }))).toBe(true);
    expect(accepts(plan(first, { ...second, dependsOn: 's1' }))).toBe(false);
  });

  it('takes nothing but a reference for an argument that only an earlier step can know', () => {
    const strict = acceptor([find, read], { references: ['read.stcd', 'read.codes'] });
    const step = (values: Record<string, unknown>) =>
      plan({ tool: 'find', arguments: { name: 'a' } }, { tool: 'read', arguments: values });
    expect(strict(step({ stcd: '${s1.stcd}' }))).toBe(true);
    expect(strict(step({ stcd: '12345678' }))).toBe(false);
    expect(strict(step({ stcd: '${s1.stcd}', codes: ['ab'] }))).toBe(false);
    expect(strict(step({ stcd: '${s1.stcd}', codes: '${s1.all}' }))).toBe(true);
    expect(strict(step({ stcd: '${s1.stcd}', codes: ['${s1.stcd}', '${s1.all[0]}'] }))).toBe(true);
    expect(strict(step({ stcd: '${s1.stcd}', codes: [] }))).toBe(false);
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
