import { describe, expect, it } from 'vitest';
import { checkPlan, type DraftStep } from '../../../src/core/planning/check-plan.js';
import { createTool } from '../../support/create-tool.js';
import { watchWork } from '../../support/watch-work.js';

const STATION = {
  type: 'object',
  properties: {
    stcd: { type: 'string' },
    level: { type: 'number' },
    open: { type: 'boolean' },
    nearby: {
      type: 'array',
      items: { type: 'object', properties: { stcd: { type: 'string' }, km: { type: 'number' } } },
    },
  },
  required: ['stcd'],
  additionalProperties: false,
};

const TOOLS = new Map(
  [
    createTool(
      'find_station',
      { properties: { name: { type: 'string' } }, required: ['name'], additionalProperties: false },
      STATION,
    ),
    createTool('count_all', {}, { type: 'object', properties: { '@odata.count': { type: 'string' } } }),
    createTool('read_level', {
      properties: {
        stcd: { type: 'string', pattern: '^[0-9]{8}$' },
        hours: { type: 'integer', minimum: 1, maximum: 240 },
        kind: { enum: ['rain', 'level'] },
        day: { type: 'string', format: 'date' },
        strict: { type: 'boolean' },
      },
      required: ['stcd'],
      additionalProperties: false,
    }),
    createTool('compare', {
      properties: {
        codes: { type: 'array', items: { type: 'string', minLength: 3 }, minItems: 2, uniqueItems: true },
        window: {
          type: 'object',
          properties: { from: { type: 'string', format: 'date' }, to: { type: 'string', format: 'date' } },
          required: ['from'],
        },
      },
      required: ['codes'],
      additionalProperties: false,
    }),
    createTool('say', {
      properties: { text: { type: 'string', maxLength: 40 }, to: { type: ['string', 'null'] } },
      required: ['text'],
    }),
    createTool('put', {
      properties: {
        place: { type: 'object', properties: { stcd: { type: 'string', pattern: '^[0-9]{8}$' } }, required: ['stcd'] },
        'filter[day]': { type: 'string', format: 'date' },
      },
      additionalProperties: false,
    }),
    createTool('mark', {
      properties: {
        place: {
          anyOf: [
            { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
            { properties: { stcd: { type: 'number' }, km: { type: 'number' } }, required: ['stcd', 'km'] },
          ],
        },
      },
    }),
    createTool('walk', {
      properties: { tree: { $ref: '#/$defs/node' } },
      required: ['tree'],
      additionalProperties: false,
      $defs: {
        node: {
          type: 'object',
          properties: { name: { type: 'string' }, children: { type: 'array', items: { $ref: '#/$defs/node' } } },
          required: ['name'],
          additionalProperties: false,
        },
      },
    }),
  ].map((tool) => [tool.name, tool] as const),
);

/** The second step, unless it has another id. */
const call =
  (tool: string) =>
  (values: Record<string, unknown>, id = 's2'): DraftStep => ({ id, tool, arguments: values });
const [read, compare, put] = [call('read_level'), call('compare'), call('put')];
const say = (text: string, id?: string) => call('say')({ text }, id);
const find = call('find_station')({ name: '盘石头水库' }, 's1');
const issuesOf = async (...steps: DraftStep[]): Promise<string[]> => {
  const checked = await checkPlan(steps, TOOLS);
  return checked.ok ? [] : checked.issues;
};

describe('a plan that is right', () => {
  it('comes back with what each step depends on, from its references', async () => {
    const checked = await checkPlan([find, read({ stcd: '${s1.stcd}' })], TOOLS);
    expect(checked).toEqual({
      ok: true,
      steps: [
        { id: 's1', tool: 'find_station', arguments: { name: '盘石头水库' }, from: {}, purpose: '', dependsOn: [] },
        { id: 's2', tool: 'read_level', arguments: { stcd: '${s1.stcd}' }, from: {}, purpose: '', dependsOn: ['s1'] },
      ],
    });
  });

  it('keeps the order that the model added, after sorting, without doubles', async () => {
    const last = { ...read({ stcd: '${s2.stcd}' }, 's3'), dependsOn: ['s2', 's1', 's1'] };
    const checked = await checkPlan([find, { ...find, id: 's2' }, last], TOOLS);
    expect(checked).toMatchObject({ ok: true, steps: [{}, {}, { dependsOn: ['s1', 's2'] }] });
  });

  it('has the purpose that the model gave, else the title of the tool', async () => {
    const titled = createTool('do', {}, undefined, { title: 'Do it' });
    const steps = [
      { id: 's1', tool: 'do', arguments: {} },
      { id: 's2', tool: 'do', arguments: {}, purpose: 'again' },
    ];
    const checked = await checkPlan(steps, new Map([['do', titled]]));
    expect(checked).toMatchObject({ steps: [{ purpose: 'Do it' }, { purpose: 'again' }] });
  });

  it.each<[string, DraftStep]>([
    ['a reference inside a text', say('The code is ${s1.stcd}.')],
    ['a reference where a pattern is asked for', read({ stcd: '${s1.stcd}' })],
    ['a reference into a list, the index written as a name', read({ stcd: '${s1.nearby.0.stcd}' })],
    ['a reference to a number where an integer is asked for', read({ stcd: '12345678', hours: '${s1.level}' })],
    [
      'references in a list of which the values must differ',
      compare({ codes: ['${s1.stcd}', '${s1.nearby[0].stcd}'] }),
    ],
    ['a reference inside an object', compare({ codes: ['abc', 'def'], window: { from: '${s1.stcd}' } })],
    ['a text around a reference where a pattern is asked for', read({ stcd: '1234${s1.stcd}' })],
    [
      'a text around a reference that is longer than the value may be',
      say(`\${s1.nearby[0].stcd} and \${s1.nearby[1].stcd}`),
    ],
    ['a reference to an object of which more is asked than a type', put({ place: '${s1.nearby[0]}' })],
    ['a reference for an argument of which the name is no word', put({ 'filter[day]': '${s1.stcd}' })],
    ['references in one of several forms', call('mark')({ place: { stcd: '${s1.level}', km: '${s1.level}' } })],
  ])('may hold %s', async (_, step) => {
    expect(await issuesOf(find, step)).toEqual([]);
  });

  it('may refer to anything of a tool that does not tell what it returns', async () => {
    const first = say('x', 's1');
    expect(await issuesOf(first, read({ stcd: '${s1.whatever[3].it.is}' }))).toEqual([]);
  });

  it('may hold shell variables and prices, which only look like references', async () => {
    expect(await issuesOf(say('${HOME} costs $5 {s1.a}', 's1'))).toEqual([]);
  });
});

describe('a plan that is wrong', () => {
  it.each<[string, DraftStep[], string]>([
    [
      'an unknown tool',
      [call('find')({}, 's1')],
      's1.tool: "find" is not one of find_station, count_all, read_level, compare, say, put, mark, walk',
    ],
    ['a missing argument', [{ ...find, arguments: {} }], 's1.arguments.name: is required'],
    ['a value without the pattern', [read({ stcd: '1' }, 's1')], 's1.arguments.stcd: must match pattern "^[0-9]{8}$"'],
    [
      'a text around a reference for a number',
      [find, read({ stcd: '12345678', hours: '1${s1.level}' })],
      's2.arguments.hours: must be integer, not string',
    ],
    [
      'a wrong value deep inside',
      [call('walk')({ tree: { name: 'a', children: [{}] } }, 's1')],
      's1.arguments.tree.children[0].name: is required',
    ],
    [
      'a step that refers to itself',
      [find, read({ stcd: '${s2.stcd}' })],
      's2.arguments.stcd: "${s2.stcd}" refers to s2, which is not an earlier step',
    ],
    [
      'a step that refers to a later one',
      [read({ stcd: '${s2.stcd}' }, 's1'), { ...find, id: 's2' }],
      's1.arguments.stcd: "${s2.stcd}" refers to s2, which is not an earlier step',
    ],
    [
      'a reference to a field that is not there',
      [find, read({ stcd: '${s1.code}' })],
      's2.arguments.stcd: "${s1.code}": the result of find_station has no field code; it has stcd, level, open, nearby',
    ],
    [
      'a reference to a field whose name needs quotes, without them',
      [call('count_all')({}, 's1'), say('${s1.@odata.count}')],
      `s2.arguments.text: "\${s1.@odata.count}": the result of count_all has no field @odata.count; it has ['@odata.count']`,
    ],
    [
      'a reference to a field of another type',
      [find, read({ stcd: '12345678', hours: '${s1.open}' })],
      's2.arguments.hours: "${s1.open}" is boolean, and integer is asked for',
    ],
    [
      'a reference to a list where a text is asked for',
      [find, read({ stcd: '${s1.nearby}' })],
      's2.arguments.stcd: "${s1.nearby}" is array of object, and string is asked for',
    ],
    [
      'a reference that is malformed',
      [find, say('x ${s1.}')],
      's2.arguments.text: "${s1.}" is no reference; write ${s1.field}',
    ],
    [
      'a reference in marks of another language that names an earlier step by its tool',
      [find, say('{{station.stcd}}')],
      's2.arguments.text: "{{station.stcd}}" is no reference; write ${s1.field}',
    ],
    [
      'a dependency on a later step',
      [
        { ...find, dependsOn: ['s2'] },
        { ...find, id: 's2' },
      ],
      's1.dependsOn: "s2" is not an earlier step',
    ],
  ])('is told of %s', async (_, steps, issue) => {
    expect(await issuesOf(...steps)).toEqual([issue]);
  });

  it('lets a place of a template pass, as the user may have written it', async () => {
    expect(await issuesOf(find, say('{{customer.name}}'))).toEqual([]);
  });

  it.each<[string, DraftStep]>([
    ['a value', { ...find, arguments: { name: 'a', code: 'b' } }],
    ['a reference', { id: 's2', tool: 'find_station', arguments: { name: 'a', code: '${s1.stcd}' } }],
  ])('is told of an argument that the tool does not have, also where it holds %s', async (_, step) => {
    const issues = await issuesOf(find, { ...step, id: 's2' });
    expect(issues).toEqual([expect.stringContaining('unknown argument "code"; known: name')]);
  });

  it('is told of one also where the schema says nothing of further arguments', async () => {
    const issues = await issuesOf(call('say')({ text: 'x', tone: 'warm' }, 's1'));
    expect(issues).toEqual(['s1.arguments: unknown argument "tone"; known: text, to']);
  });

  it('is told of all problems at once, each with its place', async () => {
    const issues = await issuesOf(
      { id: 's1', tool: 'nothing', arguments: {} },
      { id: 's2', tool: 'find_station', arguments: { name: 5 }, dependsOn: ['s3'] },
      read({ stcd: '${s9.a}', hours: 999, kind: 'wind' }, 's3'),
    );
    expect(issues.map((issue) => issue.split(':')[0])).toEqual([
      's1.tool',
      's2.arguments.name',
      's2.dependsOn',
      's3.arguments.hours',
      's3.arguments.kind',
      's3.arguments.stcd',
    ]);
  });
});

describe('ids', () => {
  it.each([
    ['counted from another number', ['s3', 's4'], '${s3.stcd}', 2],
    ['in words', ['find', 'read'], '12345678', 2],
    ['exchanged', ['s2', 's1'], '${s2.stcd}', 2],
    ['given twice', ['s1', 's1'], '${s1.stcd}', 1],
  ])('that are %s are told with what they must be', async (_, [first = '', second = ''], stcd, count) => {
    const issues = await issuesOf({ ...find, id: first }, read({ stcd }, second));
    expect(issues).toHaveLength(count);
    expect(issues.at(-1)).toBe(`${second}.id: must be "s2", since steps are numbered from s1 on`);
  });
});

describe('nulls', () => {
  it('are how servers with strict schemas leave something out', async () => {
    const checked = await checkPlan([read({ stcd: '12345678', hours: null, day: null }, 's1')], TOOLS);
    expect(checked).toMatchObject({ ok: true, steps: [{ arguments: { stcd: '12345678' } }] });
    expect(checked.ok && Object.keys(checked.steps[0]?.arguments ?? {})).toEqual(['stcd']);
  });

  it('stay where the tool takes them', async () => {
    const checked = await checkPlan([{ id: 's1', tool: 'say', arguments: { text: 'x', to: null } }], TOOLS);
    expect(checked).toMatchObject({ ok: true, steps: [{ arguments: { text: 'x', to: null } }] });
  });

  it('are taken out inside objects too', async () => {
    const values = { codes: ['abc', 'def'], window: { from: '2026-11-22', to: null } };
    expect(await issuesOf(compare(values, 's1'))).toEqual([]);
  });

  it('are taken out of objects in lists, and stay as elements and in what is open', async () => {
    const stop = { type: 'object', properties: { at: { type: 'number' }, note: { type: 'string' } } };
    const route = createTool('route', {
      properties: {
        stops: { type: 'array', items: { anyOf: [stop, { type: 'null' }] } },
        more: { type: 'object' },
        back: { $ref: '#/$defs/stop' },
      },
      $defs: { stop },
    });
    const values = { stops: [{ at: 1, note: null }, null], more: { a: null }, back: { at: 2, note: null } };
    const checked = await checkPlan([{ id: 's1', tool: 'route', arguments: values }], new Map([['route', route]]));
    expect(checked).toMatchObject({ ok: true });
    expect(checked.ok && checked.steps[0]?.arguments).toEqual({
      stops: [{ at: 1 }, null],
      more: { a: null },
      back: { at: 2 },
    });
  });

  it('do not stand for a required argument', async () => {
    expect(await issuesOf({ ...find, arguments: { name: null } })).toEqual(['s1.arguments.name: is required']);
  });
});

describe('defaults', () => {
  const search = createTool('search', {
    properties: {
      text: { type: 'string' },
      limit: { type: 'integer', default: 10 },
      page: { type: 'integer', minimum: 1, default: 1 },
      sort: { type: ['string', 'null'], default: null },
      where: { type: 'object', properties: { days: { type: 'integer', default: 7 } } },
    },
    required: ['text', 'limit'],
  });
  const checked = async (values: Record<string, unknown>, tool = search, defaults = true) => {
    const plan = await checkPlan([{ id: 's1', tool: tool.name, arguments: values }], new Map([[tool.name, tool]]), {
      defaults,
    });
    return plan.ok ? plan.steps[0]?.arguments : plan.issues;
  };

  it('of what was left out are written down where asked for, null as little as before', async () => {
    expect(await checked({ text: 'x', limit: 3 })).toEqual({ text: 'x', limit: 3, page: 1 });
    expect(await checked({ text: 'x', limit: 3, where: {} })).toMatchObject({ where: { days: 7 } });
    expect(await checked({ text: 'x', limit: 3 }, search, false)).toEqual({ text: 'x', limit: 3 });
  });

  it('are told as the source of what they fill in, and of nothing else', async () => {
    const step = { id: 's1', tool: 'search', arguments: { text: 'x', limit: 10 } };
    const draft = { ...step, from: { text: 'request', limit: 'request' } as const };
    expect(await checkPlan([draft], new Map([['search', search]]), { defaults: true })).toMatchObject({
      steps: [{ from: { text: 'request', limit: 'request', page: 'default' } }],
    });
  });

  it('that the schema itself does not allow leave the step as it was written', async () => {
    const odd = createTool('odd', {
      properties: { text: { type: 'string' }, page: { type: 'integer', default: 'one' } },
    });
    expect(await checked({ text: 'x' }, odd)).toEqual({ text: 'x' });
  });

  it('stand in for an argument that the model had to write, as they do when the tool runs', async () => {
    expect(await checked({ text: 'x' })).toMatchObject({ limit: 10 });
    expect(await checked({ text: 'x' }, search, false)).toEqual([expect.stringContaining('limit')]);
    expect(await checked({ limit: 3 })).toEqual([expect.stringContaining('text')]);
  });
});

describe('a plan of very many references', () => {
  it('is refused with their number, not with a problem for each', async () => {
    const step = { id: 's1', tool: 'find_station', arguments: { name: '${s1.a}'.repeat(10_001) } };
    expect(await checkPlan([step], TOOLS)).toEqual({
      ok: false,
      issues: ['steps: 10001 references, more than 10000; make several plans'],
    });
  });
});

describe('a long plan', () => {
  it('gives others a turn after the step of each large tool', async () => {
    const properties = Object.fromEntries(Array.from({ length: 200 }, (_, place) => [`p${place}`, { minLength: 1 }]));
    const tools = Array.from({ length: 20 }, (_, place) => createTool(`large_${place}`, { properties }));
    const steps = tools.map(({ name }, place) => ({ id: `s${place + 1}`, tool: name, arguments: {} }));
    const checking = () => checkPlan(steps, new Map(tools.map((tool) => [tool.name, tool])));
    const { result, turns } = await watchWork(checking);
    expect(result.ok).toBe(true);
    expect(turns).toBeGreaterThanOrEqual(10);
  });
});

describe('the problems of a hostile plan', () => {
  const many = <Item>(length: number, item: (place: number) => Item) =>
    Array.from({ length }, (_, place) => item(place));
  const LONG = 'k'.repeat(50_000);

  it.each([
    ['unknown arguments', { arguments: Object.fromEntries(many(100, (place) => [`${LONG}${place}`, 1])) }],
    ['broken references', { arguments: { [LONG]: many(100, () => '${s1 x}') } }],
    ['references to no step', { arguments: { name: many(100, () => `\${s7.${LONG}}`) } }],
    ['order after no step', { dependsOn: many(100, (place) => `s7${place}`) }],
  ])('are as many and as long as are read: %s', async (_, more) => {
    const checked = await checkPlan([{ id: 's1', tool: 'find_station', arguments: {}, ...more }], TOOLS);
    const issues = checked.ok ? [] : checked.issues;
    expect(issues).toHaveLength(21);
    expect(issues.at(-1)).toMatch(/^and more: \d+ are not shown/u);
    expect(Math.max(...issues.map(({ length }) => length))).toBeLessThan(510);
  });

  it('are looked for until there are as many as are shown', async () => {
    const readsFor = async (length: number) => {
      let reads = 0;
      const tool = {
        ...createTool('read_level', {}),
        get inputSchema() {
          reads += 1;
          return { type: 'object', properties: { hours: { type: 'integer' } }, required: ['hours'] };
        },
      };
      const steps = many(length, (place) => ({ id: `s${place + 1}`, tool: 'read_level', arguments: {} }));
      expect(await checkPlan(steps, new Map([['read_level', tool]]))).toMatchObject({ ok: false });
      return reads;
    };
    expect(await readsFor(500)).toBe(await readsFor(20));
  });

  it('need the names of earlier tools once', async () => {
    let reads = 0;
    const found = createTool('find_station', {});
    const tool = {
      ...found,
      get name() {
        reads += 1;
        return 'find_station';
      },
    };
    const steps = many(20, (place) => ({
      ...{ id: `s${place + 1}`, tool: 'find_station', arguments: { a: many(50, () => '{{other.a}}') } },
    }));
    expect(await checkPlan(steps, new Map([['find_station', tool]]))).toMatchObject({ ok: true });
    expect(reads).toBeLessThan(100);
  });
});
