import { describe, expect, it, vi } from 'vitest';
import type { StepState } from '../../../src/agents/runs/plan-run.js';
import { resolveAhead, resolveArguments } from '../../../src/agents/runs/resolve-arguments.js';
import { joinPath } from '../../../src/core/catalog/schema/json.js';
import { runWhole } from '../../../src/core/in-slices.js';

/** Counts how often the path of an argument is written. */
vi.mock(import('../../../src/core/catalog/schema/json.js'), async (original) => {
  const real = await original();
  return { ...real, joinPath: vi.fn(real.joinPath) };
});

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
    expect(resolve({ a: '${s1.stcd}', b: 1 }, { status: 'pending' })).toMatchObject({
      arguments: { a: '${s1.stcd}', b: 1 },
      unresolved: ['${s1.stcd}'],
      issues: [],
    });
  });
});

describe('arguments of a hostile plan', () => {
  const many = <Item>(length: number, item: (place: number) => Item) =>
    Array.from({ length }, (_, place) => item(place));
  const LONG = 'k'.repeat(30_000);
  const resolveWith = (args: Record<string, unknown>, value: unknown, most?: number) => {
    const step = { id: 's1', tool: 't', arguments: args, purpose: '', dependsOn: [] };
    return resolveArguments(step, { states: new Map(), inputs: { big: { value } } }, most);
  };

  it.each([
    ['missing paths', { a: many(40_000, (place) => `\${input.big.${place}}`).join('') }, 39_980],
    ['broken references', { a: '${s1 x}'.repeat(500) }, 480],
    ['places with a long name', { [LONG]: many(30, () => '${input.big.x}') }, 10],
    ['references with a long path', { a: many(30, () => `\${input.big.${LONG}}`) }, 10],
  ])('have as many and as long issues as are read: %s', (_, args, more) => {
    const keys = Object.fromEntries(many(20, (place) => [`${LONG}${place}`, 1]));
    const { issues } = resolveWith(args, keys);
    expect(issues).toHaveLength(21);
    expect(issues.at(-1)).toBe(`and more: ${more} are not shown or not looked at`);
    expect(Math.max(...issues.map(({ length }) => length))).toBeLessThan(510);
  });

  it('are no more than a call may have, whole values as well as texts', () => {
    const big = 'y'.repeat(400_000);
    expect(resolveWith({ list: ['${input.big}', '${input.big}'] }, big)).toMatchObject({
      arguments: { list: [big, big] },
    });
    const issues = ['s1.arguments: with their references more than the 1048576 bytes that a call may have'];
    for (const args of [{ list: many(300, () => '${input.big}') }, { text: '${input.big}'.repeat(3) }]) {
      expect(resolveWith(args, big)).toMatchObject({ arguments: {}, issues });
      expect(resolveWith(args, { big })).toMatchObject({ arguments: {}, issues });
    }
    const parts = ['s1.arguments: with their references more than the 20000 parts that a call may have'];
    const items = many(15_000, () => 1);
    expect(resolveWith({ list: ['${input.big}'] }, items).issues).toEqual([]);
    expect(resolveWith({ list: ['${input.big}', '${input.big}'] }, items)).toMatchObject({
      arguments: {},
      issues: parts,
    });
    // As JSON each of them is two bytes.
    expect(resolveWith({ text: '${input.big}' }, '"'.repeat(600_000))).toMatchObject({ arguments: {}, issues });
    expect(resolveWith({ text: '${input.big}' }, big, 300_000).issues[0]).toContain(
      '300000 bytes that the run has left',
    );
  });

  it('have together no more than the run may have, before it begins', () => {
    const steps = many(1_000, (place) => ({
      ...{ id: `s${place}`, tool: 't', arguments: { a: '${input.big}' }, purpose: '', dependsOn: [] },
    }));
    const plan = { goal: '', inputs: { big: { value: 'y'.repeat(1_000) } }, steps };
    const resolved = runWhole(resolveAhead(plan, 10_000));
    expect(JSON.stringify(resolved.map(({ arguments: given }) => given)).length).toBeLessThan(20_000);
    expect(resolved.filter(({ issues }) => issues.length === 0)).toHaveLength(9);
  });

  it('read the inputs once, and write a place for an issue alone', () => {
    let reads = 0;
    const input = {
      get value() {
        reads += 1;
        return 'x';
      },
    };
    const args = { a: '${input.k}'.repeat(500), b: { c: many(500, () => '${input.k}') } };
    const step = { id: 's1', tool: 't', arguments: args, purpose: '', dependsOn: [] };
    vi.mocked(joinPath).mockClear();
    const { issues } = resolveArguments(step, { states: new Map(), inputs: { k: input } });
    expect({ issues, reads }).toEqual({ issues: [], reads: 2 });
    expect(joinPath).not.toHaveBeenCalled();
  });

  it('have their values described once, however often they lack a field', () => {
    let looks = 0;
    const value = new Proxy(
      { a: 1 },
      {
        ownKeys: (target) => {
          looks += 1;
          return Reflect.ownKeys(target);
        },
      },
    );
    for (let step = 0; step < 50; step++) resolveWith({ a: many(20, () => '${input.big.x}') }, value);
    expect(looks).toBe(1);
  });
});
