import { describe, expect, it } from '@jest/globals';
import { WinnowError } from '../../src/core/errors.js';
import { parseCase } from '../../src/evaluation/case.js';

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
    ['that is no JSON', '{', 'line: not JSON'],
    ['without an id', JSON.stringify({ query: 'q', expectedTools: [] }), 'id: '],
    ['with an empty request', line({ query: ' ' }), 'query: must not be empty'],
    ['without expected tools', line({ expectedTools: undefined }), 'expectedTools: '],
    ['with a kind that does not exist', line({ expectedKind: 'poem' }), 'expectedKind: '],
    ['with a date that is none', line({ today: 'tomorrow' }), 'today: '],
    ['with a step of another tool', line({ expectedSteps: [{ tool: 'z' }] }), 'expectedSteps.0.tool: "z"'],
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
