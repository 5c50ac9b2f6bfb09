/** Cases: their form, their sources, and gold answers. */

import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createCatalog } from '../../src/core/catalog/catalog.js';
import { WinnowError } from '../../src/core/errors.js';
import type { Step } from '../../src/core/result.js';
import { type EvaluationCase, parseCase } from '../../src/eval/case.js';
import { type CaseFilter, openCases } from '../../src/eval/case-source.js';
import { scorePlan } from '../../src/eval/plan-scores.js';
import { scoreSelection } from '../../src/eval/selection-scores.js';
import { createTool } from '../support/create-tool.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { aSelection } from './setup.js';

const place = { suite: 'set', file: 'cases.jsonl', line: 7 };
const line = (more: Record<string, unknown>) =>
  JSON.stringify({ id: 'c1', query: 'q', expectedTools: ['a', 'b'], ...more });
const parse = (more: Record<string, unknown>) => parseCase(line(more), place).case;

describe('a line of a case file', () => {
  it('becomes a request and what is expected', () => {
    const given = {
      lang: 'zh',
      intent: 'i',
      user: 'ann',
      today: '2026-11-22',
      timeZone: 'Asia/Shanghai',
      locale: 'zh-CN',
      history: [{ role: 'user', content: 'h' }],
      entities: { object: '盘石头水库' },
      expectedKind: 'plan',
      tags: ['t'],
      candidates: ['a', 'c'],
      excluded: ['130'],
    };
    const { lang, expectedKind: kind, tags, candidates, excluded, ...request } = given;
    expect(parse(given)).toEqual({
      id: 'c1',
      suite: 'set',
      request: { message: 'q', ...request },
      expected: { tools: ['a', 'b'], kind },
      candidates,
      excluded,
      ignoreCase: false,
      lang,
      tags,
    });
  });

  it('that names no id has one of its request, whatever is expected of it', () => {
    const { id } = parse({ id: undefined });
    expect(id).toMatch(/^case-[0-9a-f]{12}$/u);
    expect(parse({ id: undefined, expectedTools: ['c'] }).id).toBe(id);
    expect(parse({ id: undefined, user: 'ann' }).id).not.toBe(id);
  });

  it('tells which steps have no known arguments', () => {
    const { expected } = parse({ expectedSteps: [{ tool: 'a' }, { tool: 'b', arguments: {} }] });
    expect(expected.steps).toEqual([
      { tool: 'a', arguments: {}, argumentsUnknown: true },
      { tool: 'b', arguments: {} },
    ]);
  });

  it('finds the edges in the references where none are given, and none where arguments are not known', () => {
    const known = parse({
      expectedTools: ['a', 'b', 'c'],
      expectedSteps: [
        { tool: 'a', arguments: { price: '$1' } },
        { tool: 'b', arguments: { x: ['$0.id'] } },
        { tool: 'c', arguments: { text: '$0.x - $1.y', price: '$100' } },
      ],
    });
    expect(known.expected.edges).toEqual([
      [0, 1],
      [0, 2],
      [1, 2],
    ]);
    expect(parse({ expectedSteps: [{ tool: 'a' }, { tool: 'b' }] }).expected.edges).toBeUndefined();
  });

  it.each([
    ['whole sets', { alternatives: [['c'], ['a', 'c']] }, [['c'], ['a', 'c']]],
    [
      'single tools, each in the place of one',
      { meta: { alternatives: ['c'] } },
      [
        ['c', 'b'],
        ['a', 'c'],
      ],
    ],
    ['both', { alternatives: [['d']], meta: { alternatives: ['c'] }, expectedTools: ['a'] }, [['d'], ['c']]],
  ])('takes alternatives that are %s', (_, more, sets) => {
    expect(parse(more).expected.alternatives).toEqual(sets);
  });

  it('takes what benchmarks keep in meta: candidates, the day, the profile', () => {
    const meta = { set: 'x', candidates: ['a'], time: '今天是2026年5月2日，星期六。', profile: 'p' };
    expect(parse({ meta })).toMatchObject({
      candidates: ['a'],
      request: { today: '2026-05-02', entities: { profile: 'p' } },
    });
  });

  it.each(['$3', '$3.50', '$3.5m', 'a $3.x', '$3. ', '$1 [a]'])(
    'may hold %j where there is no such step: it may be a price',
    (x) => {
      expect(parse({ expectedSteps: [{ tool: 'a', arguments: { x } }] }).expected.edges).toEqual([]);
    },
  );

  it('names fields that it does not know', () => {
    expect(parseCase(line({ expectedTool: 'a', source: 's' }), place).unknownFields).toEqual(['expectedTool']);
  });
});

describe('a bad line', () => {
  it.each([
    ['expectdSteps', 'expectedSteps'],
    ['expectedAges', 'expectedEdges'],
  ])('misspells %s', (key, meant) => {
    expect(() => parseCase(line({ [key]: [] }), place)).toThrow(`${key}: did you mean ${meant}?`);
  });

  it.each([
    ['that is no JSON', '{', 'line: not JSON'],
    ['with an empty request', line({ query: ' ' }), 'query: must not be empty'],
    ['without expected tools', line({ expectedTools: undefined }), 'expectedTools: '],
    ['with a kind that does not exist', line({ expectedKind: 'poem' }), 'expectedKind: '],
    ['with a date that is none', line({ today: 'tomorrow' }), 'today: '],
    ['with a step of another tool', line({ expectedSteps: [{ tool: 'z' }] }), 'expectedSteps.0.tool: "z"'],
    [
      'with a slip in a step',
      line({ expectedSteps: [{ tool: 'a', argumnts: {} }] }),
      'expectedSteps.0: Unrecognized key "argumnts"',
    ],
    ['with a step without a tool', line({ expectedSteps: [{}] }), 'expectedSteps.0.tool: '],
    [
      'with an edge to nowhere',
      line({ expectedSteps: [{ tool: 'a' }], expectedEdges: [[0, 1]] }),
      'expectedEdges.0: [0,1]',
    ],
    [
      'with an edge backwards',
      line({ expectedSteps: [{ tool: 'a' }, { tool: 'b' }], expectedEdges: [[1, 0]] }),
      'expectedEdges.0: [1,0]',
    ],
    [
      'with a reference to a step that is not there',
      line({ expectedSteps: [{ tool: 'a', arguments: { x: { y: ['$3.x'] } } }] }),
      'expectedSteps.0.arguments.x.y.0: "$3.x" refers to a step that is not earlier',
    ],
    [
      'with a reference to the step itself among the values that are right too',
      line({ expectedSteps: [{ tool: 'a' }, { tool: 'b', argumentsAnyOf: { x: ['$0.id', '$1[0].id'] } }] }),
      'expectedSteps.1.argumentsAnyOf.x.1: "$1[0].id"',
    ],
    ['with excluded values that are no texts', line({ excluded: [130] }), 'excluded.0: '],
    ['with alternatives of another form', line({ alternatives: 'c' }), 'alternatives: '],
    ['with candidates of another form', line({ meta: { candidates: 'c' } }), 'meta.candidates: '],
  ])('%s is an error that names file, line and field', (_, text, field) => {
    const read = () => parseCase(text, place);
    expect(read).toThrow(WinnowError);
    expect(read).toThrow(`cases.jsonl:7 is no usable case: ${field}`);
  });
});

describe('the source of cases', () => {
  const TOOLS = [
    createTool('a', { properties: { x: {} } }),
    createTool('b'),
    createTool('open', { properties: { x: {} }, additionalProperties: true }),
    // Of one user, under the name of another's.
    createTool('a', { properties: { own: {} } }, undefined, { scope: { user: 'alice' } }),
  ];
  const catalog = createCatalog(TOOLS, { name: 'tools' });
  const aLine = (id: string, more: Record<string, unknown> = {}) =>
    JSON.stringify({ id, query: 'q', expectedTools: ['a'], ...more });

  function aSuite(name: string, lines: readonly string[]) {
    const caseFile = join(temporaryFolder(), `${name}.jsonl`);
    writeFileSync(caseFile, `${lines.join('\n')}\n`);
    return { name, catalog, caseFile };
  }

  async function idsOf(lines: readonly string[], filter: Partial<CaseFilter> = {}): Promise<string[]> {
    const source = await openCases([aSuite('set', lines)], { seed: 1, ...filter });
    const ids = [];
    for await (const { id } of source.cases()) ids.push(id);
    expect(source.total).toBe(ids.length);
    return ids;
  }

  const MANY = Array.from({ length: 40 }, (_, place) =>
    aLine(`c${place}`, { tags: place % 2 === 0 ? ['even', 'x'] : ['odd'] }),
  );

  describe('the cases of a run', () => {
    it('come in the order of their lines, empty lines left out', async () => {
      expect(await idsOf([aLine('c1'), '', aLine('c2')])).toEqual(['c1', 'c2']);
    });

    it.each<[string, Partial<CaseFilter>, (ids: string[]) => boolean]>([
      ['a tag', { tags: ['even'] }, (ids) => ids.length === 20 && ids.every((id) => Number(id.slice(1)) % 2 === 0)],
      ['one of several tags', { tags: ['x', 'odd'] }, (ids) => ids.length === 40],
      ['ids', { ids: new Set(['c3', 'c30']) }, (ids) => ids.join() === 'c3,c30'],
      ['a limit', { limit: 2 }, (ids) => ids.join() === 'c0,c1'],
      ['a sample', { sample: 5 }, (ids) => ids.length === 5],
      ['all of them', { tags: ['odd'], sample: 6, limit: 3 }, (ids) => ids.length === 3],
    ])('can be limited by %s', async (_, filter, isRight) => {
      expect(isRight(await idsOf(MANY, filter))).toBe(true);
    });

    it('are the same sample for the same seed, and another for another', async () => {
      const [first, again, other] = await Promise.all([1, 1, 2].map((seed) => idsOf(MANY, { sample: 8, seed })));
      expect(again).toEqual(first);
      expect(other).not.toEqual(first);
    });

    it('are sampled in each set', async () => {
      const sets = [
        aSuite('one', MANY),
        aSuite(
          'two',
          MANY.map((line) => line.replace('"c', '"d')),
        ),
      ];
      expect((await openCases(sets, { seed: 1, sample: 3 })).total).toBe(6);
    });

    const noticesOf = async (lines: readonly string[], more: Partial<CaseFilter> = {}) => {
      const { notices } = await openCases([aSuite('set', lines)], { seed: 1, ...more });
      return notices.map((text) => text.replace(/^\/\S+\//u, ''));
    };

    it('are told of, where fields are not known or tools do not exist, with line, field and name', async () => {
      const lines = [
        aLine('c1', { expected: 1 }),
        aLine('c2', { expectedTools: ['gone', 'a'], alternatives: ['lost', 'b'], meta: { candidates: ['a', 'away'] } }),
        aLine('c3', { alternatives: [['b', 'lost']], candidates: ['gone'] }),
      ];
      expect(await noticesOf(lines)).toEqual([
        'set.jsonl: the field "expected" is not known, and is left out of account (1 lines)',
        'set.jsonl:2 expectedTools: "gone" is no tool of the catalogue "tools"',
        'set.jsonl:2 alternatives: "lost" is no tool of the catalogue "tools"',
        'set.jsonl:2 candidates: "away" is no tool of the catalogue "tools"',
        'set.jsonl:3 alternatives: "lost" is no tool of the catalogue "tools"',
        'set.jsonl:3 candidates: "gone" is no tool of the catalogue "tools"',
      ]);
      expect(await noticesOf(lines, { ids: new Set(['c1']) })).toHaveLength(1);
    });

    it('are told of ten times, and how many more there are', async () => {
      const lines = Array.from({ length: 13 }, (_, place) => aLine(`c${place}`, { expectedTools: ['gone'] }));
      const notices = await noticesOf(lines);
      expect(notices).toHaveLength(11);
      expect(notices.slice(-2)).toEqual([
        'set.jsonl:10 expectedTools: "gone" is no tool of the catalogue "tools"',
        'and 3 more names that are no tools',
      ]);
    });

    it('have a hash that changes with any line', async () => {
      const hashOf = async (lines: string[]) => (await openCases([aSuite('set', lines)], { seed: 1 })).hashes.set;
      expect(await hashOf([aLine('c1')])).toBe(await hashOf([aLine('c1')]));
      expect(await hashOf([aLine('c1')])).not.toBe(await hashOf([aLine('c1', { lang: 'en' })]));
    });
  });

  describe('a run is refused', () => {
    it('for a bad line, also one that is not taken', async () => {
      await expect(idsOf([aLine('c1'), '{'], { limit: 1 })).rejects.toThrow(/set\.jsonl:2 is no usable case/u);
    });

    it('for all bad lines at once, naming the field of each', async () => {
      const lines = ['{', aLine('c1'), aLine('c2', { today: 'tomorrow' }), aLine('c1')];
      await expect(idsOf(lines)).rejects.toMatchObject({
        message: expect.stringMatching(/^3 lines of .*set\.jsonl are no usable cases\./u),
        issues: [
          expect.stringMatching(/set\.jsonl:1 line: not JSON/u),
          expect.stringMatching(/set\.jsonl:3 today: not a day such as 2026-11-22$/u),
          expect.stringMatching(/set\.jsonl:4 id: "c1" is also the id of/u),
        ],
      });
    });

    it('for an id that is there twice, naming both places', async () => {
      const suites = [aSuite('one', [aLine('c1')]), aSuite('two', [aLine('c0'), aLine('c1')])];
      await expect(openCases(suites, { seed: 1 })).rejects.toThrow(
        /two\.jsonl:2 id: "c1" is also the id of .*one\.jsonl:1/u,
      );
    });

    it('for a case without candidates where they are asked for', async () => {
      const lines = [aLine('c1', { candidates: ['a'] }), aLine('c2')];
      await expect(idsOf(lines, { needsCandidates: true })).rejects.toThrow(/set\.jsonl:2 candidates: /u);
    });

    it('where no case is left', async () => {
      await expect(idsOf(MANY, { tags: ['none'] })).rejects.toMatchObject({ code: 'invalid_option' });
    });

    it('for a file without a case, whatever the filter', async () => {
      await expect(idsOf(['', ' '], { tags: ['none'] })).rejects.toThrow(/The file .*set\.jsonl holds no case\./u);
    });

    it('for a file that is not there', async () => {
      const suite = { name: 'set', catalog, caseFile: 'none.jsonl' };
      await expect(openCases([suite], { seed: 1 })).rejects.toMatchObject({
        code: 'not_found',
        message: expect.stringContaining('none.jsonl'),
      });
    });
  });
});

/** Every case that comes with the package, and of the public benchmarks: it can be read, and its own answer is right. */
describe('gold answers', () => {
  const benchmarks = process.env.WINNOW_BENCHMARKS ?? '../shared/benchmarks';
  const SETS = ['metatool', 'restbench', 'nestful', 'bfcl', 'bfcl_irrelevance', 'stabletoolbench', 'acebench_zh'];
  const FILES = [
    ...readdirSync('fixtures/cases').map((name) => `fixtures/cases/${name}`),
    ...SETS.map((name) => join(benchmarks, `${name}.cases.jsonl`)),
  ];

  const known = new Map<string, EvaluationCase[]>();

  /** Read once, by the first test of the file that asks. */
  function casesIn(file: string): EvaluationCase[] {
    const cases = known.get(file) ?? readCases(file);
    known.set(file, cases);
    return cases;
  }

  function readCases(file: string): EvaluationCase[] {
    const lines = readFileSync(file, 'utf8').trim().split('\n');
    return lines.map((text, place) => {
      const { case: one, unknownFields } = parseCase(text, { suite: 'set', file, line: place + 1 });
      if (unknownFields.length > 0)
        throw new Error(`${file}:${place + 1} has unknown fields: ${unknownFields.join(', ')}`);
      return one;
    });
  }

  /** The expected steps as a planner would write them. */
  function goldPlan({ expected: { steps = [], edges = [] } }: EvaluationCase): Step[] {
    return steps.map((step, place) => ({
      id: `s${place + 1}`,
      tool: step.tool,
      purpose: '',
      arguments: Object.fromEntries(
        Object.entries(step.arguments).map(([name, value]) => [name, written(value, place)]),
      ),
      dependsOn: edges.filter(([, to]) => to === place).map(([from]) => `s${from + 1}`),
    }));
  }

  function written(value: unknown, step: number): unknown {
    if (typeof value === 'string') {
      return value.replace(/\$(\d+)((?:\.\w+|\[\d+\])*)/gu, (whole, from: string, path: string) =>
        Number(from) < step ? `\${s${Number(from) + 1}${path.replace(/\.(\d+)/gu, '[$1]')}}` : whole,
      );
    }
    if (Array.isArray(value)) return value.map((item) => written(item, step));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, written(inner, step)]));
  }

  /** No plan can write this: a field with a space in its name can't be referred to. */
  const UNWRITABLE = /\$\d+\.\w+ \w/u;

  describe.each(FILES)('%s', (file) => {
    const isThere = existsSync(file);
    const test = isThere ? it : it.skip;
    const why = isThere ? '' : ' (skipped: the file is not there)';

    test(`can be read, and its own tools and steps are right${why}`, () => {
      const wrong = casesIn(file).filter((one) => {
        const { recall, precision } = scoreSelection(one.expected, aSelection(one.expected.tools));
        const isSelected = one.expected.tools.length === 0 ? recall === null : recall === 1 && precision === 1;
        if (!isSelected || !one.expected.steps?.length) return !isSelected;
        const { scores, fault } = scorePlan(one.expected, goldPlan(one), { ignoreCase: false });
        const isWritable = !UNWRITABLE.test(JSON.stringify(one.expected.steps));
        return isWritable && (fault !== undefined || scores.nodeF1 !== 1 || (scores.argumentValueF1 ?? 1) !== 1);
      });
      expect(wrong.map(({ id }) => id)).toEqual([]);
    });

    test(`is not fulfilled by a plan with a wrong value${why}`, () => {
      const right = casesIn(file).filter((one) => {
        const plan = goldPlan(one);
        const at = plan.findIndex((step) => Object.keys(step.arguments).length > 0);
        const broken = plan.map((step, place) =>
          place === at
            ? {
                ...step,
                arguments: Object.fromEntries(Object.keys(step.arguments).map((name) => [name, 'no such value'])),
              }
            : step,
        );
        return at >= 0 && scorePlan(one.expected, broken, { ignoreCase: false }).fault === undefined;
      });
      expect(right.map(({ id }) => id)).toEqual([]);
    });
  });
});
