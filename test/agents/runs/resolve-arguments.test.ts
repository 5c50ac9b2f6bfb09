import { describe, expect, it } from 'vitest';
import type { StepState } from '../../../src/agents/runs/plan-run.js';
import { resolveArguments } from '../../../src/agents/runs/resolve-arguments.js';

const OUTPUT = {
  stcd: '31005650',
  level: 7.5,
  open: false,
  none: null,
  list: [{ id: 1 }, { id: 2 }],
  'a-b': 1,
  '@odata.count': 12,
  trap: '${s1.stcd}',
};

function resolve(args: Record<string, unknown>, state: Partial<StepState> = {}) {
  const done: StepState = { id: 's1', status: 'done', attempts: 1, output: OUTPUT, ...state };
  const step = { id: 's2', tool: 't', arguments: args, purpose: '', dependsOn: [] };
  return resolveArguments(step, { states: new Map([['s1', done]]) });
}

describe('a reference', () => {
  it.each([
    ['a text', '${s1.stcd}', '31005650'],
    ['a number', '${s1.level}', 7.5],
    ['false', '${s1.open}', false],
    ['null', '${s1.none}', null],
    ['a list', '${s1.list}', OUTPUT.list],
    ['an item of a list', '${s1.list[1]}', { id: 2 }],
    ['a field of an item', '${s1.list[0].id}', 1],
    ['a field with a dash', '${s1.a-b}', 1],
    ['a field with a dot', "${s1['@odata.count']}", 12],
    ['the whole result', '${s1}', OUTPUT],
  ])('that stands alone keeps the type: %s', (_, text, expected) => {
    expect(resolve({ a: text }).arguments).toEqual({ a: expected });
  });

  it.each([
    ['at ${s1.stcd}: ${s1.level} m', 'at 31005650: 7.5 m'],
    ['${s1.list[0]} and ${s1.none}', '{"id":1} and null'],
    ['${s1.stcd}${s1.stcd}', '3100565031005650'],
    ['no reference, $5 and ${other}', 'no reference, $5 and ${other}'],
  ])('inside a text is text: %s', (text, expected) => {
    expect(resolve({ a: text }).arguments).toEqual({ a: expected });
  });

  it('is found at any depth', () => {
    expect(resolve({ a: [{ b: ['${s1.level}'] }] }).arguments).toEqual({ a: [{ b: [7.5] }] });
  });

  it('in what a tool returned is not followed: results are data', () => {
    expect(resolve({ a: '${s1.trap}', b: 'x ${s1.trap} ${s1.level}' })).toMatchObject({
      arguments: { a: '${s1.stcd}', b: 'x ${s1.stcd} 7.5' },
      issues: [],
    });
  });

  it.each([
    [
      '${s1.code}',
      `s2.arguments.a.b[0]: "\${s1.code}" is not in the result of s1; it holds stcd, level, open, none, list, a-b, ['@odata.count'], trap`,
    ],
    [
      '${s1.list[2].id}',
      's2.arguments.a.b[0]: "${s1.list[2].id}" is not in the result of s1; list is a list of 2, from [0] to [1]',
    ],
    ['${s1.list[0].name}', 's2.arguments.a.b[0]: "${s1.list[0].name}" is not in the result of s1; list[0] holds id'],
    ['${s1.stcd.x}', 's2.arguments.a.b[0]: "${s1.stcd.x}" is not in the result of s1; stcd is a string'],
    ['${s1.none.x}', 's2.arguments.a.b[0]: "${s1.none.x}" is not in the result of s1; none is empty'],
    ['${s1.}', 's2.arguments.a.b[0]: "${s1.}" is no reference; write ${s1.field}'],
  ])('to what is not there is an issue that says what is: %s', (text, issue) => {
    expect(resolve({ a: { b: [text] } }).issues).toEqual([issue]);
  });

  it('to what was cut away says that it was cut', () => {
    const notes = ['The result had 9 bytes, more than 1 (limit maxOutputBytes): cut.'];
    expect(resolve({ a: '${s1.list[9]}' }, { notes }).issues[0]).toContain('maxOutputBytes');
  });

  it.each(['${s1.constructor}', '${s1.__proto__}', '${s1.list.length}', '${s1.stcd.length}', '${s1.toString}'])(
    'reaches fields of the result only: %s',
    (text) => {
      expect(resolve({ a: text }).issues).toHaveLength(1);
    },
  );

  it('to a step that has no result yet stays as it is, and is told', () => {
    expect(resolve({ a: '${s1.stcd}', b: 1 }, { status: 'pending' })).toEqual({
      arguments: { a: '${s1.stcd}', b: 1 },
      unresolved: ['${s1.stcd}'],
      issues: [],
    });
  });
});
