import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { scorePlan, touchedValues } from '../../src/eval/plan-scores.js';
import type { CaseRecord } from '../../src/eval/record.js';
import { steps } from './setup.js';

const exact = { ignoreCase: false };
const EXPECTED: CaseRecord['expected'] = {
  tools: ['find', 'read'],
  steps: [
    { tool: 'find', arguments: { name: 'Lake', kind: 'RR' }, argumentsAnyOf: { kind: ['RR', ''] } },
    { tool: 'read', arguments: { stcd: '$0.stcd', days: 3 } },
  ],
  edges: [[0, 1]],
};
const GOLD = steps(['find', { name: 'Lake', kind: 'RR' }], ['read', { stcd: '${s1.data[0].stcd}', days: 3 }, ['s1']]);
const ALL_RIGHT = {
  nodeF1: 1,
  edgeF1: 1,
  order: 1,
  argumentNameF1: 1,
  argumentValueF1: 1,
  references: 1,
  planExact: 1,
};

describe('the expected plan', () => {
  it('is right in everything', () => {
    expect(scorePlan(EXPECTED, GOLD, exact)).toMatchObject({ scores: ALL_RIGHT, fault: undefined });
  });

  it('is as right without an argument that may be left out, and with numbers as texts', () => {
    const got = steps(['find', { name: 'Lake' }], ['read', { stcd: '${s1.stcd}', days: '3' }, ['s1']]);
    expect(scorePlan(EXPECTED, got, exact).scores).toEqual(ALL_RIGHT);
  });
});

describe('an argument with several accepted values', () => {
  const step = { tool: 'find', arguments: { name: 'Lake', kind: 'RR' }, argumentsAnyOf: { name: ['Lac', 'See'] } };
  const scoreOf = (name: string) =>
    scorePlan({ tools: ['find'], steps: [step], edges: [] }, steps(['find', { name, kind: 'RR' }]), exact).scores;

  it.each(['Lake', 'Lac', 'See'])('is right with %s', (name) => {
    expect(scoreOf(name)).toMatchObject({ argumentValueF1: 1, planExact: 1 });
  });

  it('is wrong with any other', () => {
    expect(scoreOf('Pond')).toMatchObject({ argumentNameF1: 1, argumentValueF1: 0.5, planExact: 0 });
  });
});

describe('an argument at the default of its tool', () => {
  const defaultOf = (tool: string, name: string) => (tool === 'read' && name === 'days' ? 3 : undefined);
  const options = { ...exact, defaultOf };
  const withoutDays = steps(['find', { name: 'Lake' }], ['read', { stcd: '${s1.stcd}' }, ['s1']]);
  const lean = {
    ...EXPECTED,
    steps: [...(EXPECTED.steps ?? []).slice(0, 1), { tool: 'read', arguments: { stcd: '$0.stcd' } }],
  };

  it('is as right left out as written down', () => {
    expect(scorePlan(EXPECTED, withoutDays, options).scores).toEqual(ALL_RIGHT);
    expect(scorePlan(EXPECTED, withoutDays, exact).fault).toBe('missing-argument');
    expect(scorePlan(lean, GOLD, options).scores).toEqual(ALL_RIGHT);
    expect(scorePlan(lean, GOLD, exact).fault).toBe('extra-argument');
  });

  it('is missing where another value is needed, and too much where it is not the default', () => {
    const other = { ...options, defaultOf: () => 7 };
    expect(scorePlan(EXPECTED, withoutDays, other)).toMatchObject({
      scores: { argumentNameF1: 0.8 },
      fault: 'missing-argument',
    });
    expect(scorePlan(lean, GOLD, other).fault).toBe('extra-argument');
  });

  it('does not make a step that is too much any worse', () => {
    const more = [...GOLD, ...steps(['read', { days: 3 }]).map((step) => ({ ...step, id: 's3' }))];
    expect(scorePlan(EXPECTED, more, options).scores).toMatchObject({ nodeF1: 0.8, argumentNameF1: 1 });
  });
});

describe('one mistake', () => {
  it.each([
    [
      'a step is missing',
      steps(['find', { name: 'Lake' }]),
      { nodeF1: 2 / 3, argumentNameF1: 0.5, edgeF1: 0 },
      'missing-step',
    ],
    [
      'a step too many',
      [...GOLD, ...steps(['read', { a: 1 }]).map((step) => ({ ...step, id: 's3' }))],
      { nodeF1: 0.8, argumentNameF1: 8 / 9 },
      'extra-step',
    ],
    [
      'a step too many that waits for the others',
      [...GOLD, ...steps(['read', { a: 1 }, ['s1', 's2']]).map((step) => ({ ...step, id: 's3' }))],
      { edgeF1: 0.5 },
      'extra-step',
    ],
    [
      'another tool',
      steps(['find', { name: 'Lake' }], ['list', { stcd: '${s1.stcd}' }, ['s1']]),
      { nodeF1: 0.5 },
      'wrong-tool',
    ],
    [
      'a wrong value',
      steps(['find', { name: 'Pond' }], ['read', { stcd: '${s1.stcd}', days: 3 }, ['s1']]),
      { argumentNameF1: 1, argumentValueF1: 2 / 3 },
      'wrong-argument',
    ],
    [
      'an argument too many',
      steps(['find', { name: 'Lake', x: 1 }], ['read', { stcd: '${s1.stcd}', days: 3 }, ['s1']]),
      { argumentNameF1: 6 / 7, argumentValueF1: 6 / 7 },
      'extra-argument',
    ],
    [
      'an argument is missing',
      steps(['find', { name: 'Lake' }], ['read', { stcd: '${s1.stcd}' }, ['s1']]),
      { argumentNameF1: 0.8 },
      'missing-argument',
    ],
    [
      'another field of the result',
      steps(['find', { name: 'Lake' }], ['read', { stcd: '${s1.id}', days: 3 }, ['s1']]),
      { references: 0, argumentValueF1: 2 / 3 },
      'wrong-reference',
    ],
    [
      'a made-up value in place of a reference',
      steps(['find', { name: 'Lake' }], ['read', { stcd: '31005650', days: 3 }, ['s1']]),
      { references: 0 },
      'wrong-reference',
    ],
    [
      'no dependency',
      steps(['find', { name: 'Lake' }], ['read', { stcd: '${s1.stcd}', days: 3 }]),
      { edgeF1: 0 },
      'missing-edge',
    ],
  ] as const)('%s', (_, got, scores, fault) => {
    const verdict = scorePlan(EXPECTED, got, exact);
    for (const [name, value] of Object.entries(scores))
      expect(verdict.scores).toHaveProperty(name, expect.closeTo(value, 9));
    expect(verdict.fault).toBe(fault);
    expect(verdict.scores.planExact).toBe(0);
  });
});

describe('two steps of one tool', () => {
  const expected: CaseRecord['expected'] = {
    tools: ['weather', 'weather'],
    steps: [
      { tool: 'weather', arguments: { city: 'Paris' } },
      { tool: 'weather', arguments: { city: 'Rome' } },
    ],
    edges: [],
  };

  it('may stand in either order where nothing depends', () => {
    const got = steps(['weather', { city: 'Rome' }], ['weather', { city: 'Paris' }]);
    expect(scorePlan(expected, got, exact).scores).toMatchObject({ planExact: 1, order: null, edgeF1: null });
  });

  it('are matched once each', () => {
    const got = steps(['weather', { city: 'Rome' }]);
    expect(scorePlan(expected, got, exact).scores).toMatchObject({ nodeF1: 2 / 3, argumentValueF1: 2 / 3 });
  });
});

describe('the order', () => {
  const chain: CaseRecord['expected'] = {
    tools: ['a', 'b', 'c'],
    steps: ['a', 'b', 'c'].map((tool) => ({ tool, arguments: {}, argumentsUnknown: true as const })),
  };

  it.each([
    [['a', 'b', 'c'], 1],
    [['b', 'a', 'c'], 2 / 3],
    [['c', 'b', 'a'], 0],
    [['c', 'a'], 0],
    [['a'], null],
  ])('of %j is %d where a benchmark gives only the order of tools', (tools, order) => {
    const { scores } = scorePlan(chain, steps(...tools.map((tool) => [tool, { any: 'value' }] as const)), exact);
    expect(scores.order).toBe(order);
    expect(scores.argumentNameF1).toBeNull();
    expect(scores.planExact).toBe(tools.join('') === 'abc' ? 1 : 0);
  });

  it('counts what depends by way of another step', () => {
    const expected: CaseRecord['expected'] = {
      ...chain,
      edges: [
        [0, 1],
        [1, 2],
      ],
    };
    const got = steps(['c'], ['b'], ['a']);
    expect(scorePlan(expected, got, exact).scores.order).toBe(0);
  });
});

describe('alternatives', () => {
  it('in another order keep the arguments of the expected steps', () => {
    const expected: CaseRecord['expected'] = {
      tools: ['a', 'b'],
      alternatives: [['b', 'a']],
      steps: [
        { tool: 'a', arguments: { x: 1 } },
        { tool: 'b', arguments: { y: 2 } },
      ],
    };
    const swapped = (x: number) => steps(['b', { y: 2 }], ['a', { x }]);
    expect(scorePlan(expected, swapped(1), exact).scores.planExact).toBe(1);
    expect(scorePlan(expected, swapped(9), exact)).toMatchObject({ scores: { planExact: 0 }, fault: 'wrong-argument' });
  });

  it('without the producer take any value where it was referred to', () => {
    const expected = { ...EXPECTED, alternatives: [['read']] };
    const got = (days: number) => steps(['read', { stcd: '31005650', days }]);
    expect(scorePlan(expected, got(3), exact).scores.planExact).toBe(1);
    expect(scorePlan(expected, got(4), exact).fault).toBe('wrong-argument');
  });

  it('with a tool of their own judge its name alone', () => {
    const expected = { ...EXPECTED, alternatives: [['search']] };
    expect(scorePlan(expected, steps(['search', { q: 'lake' }]), exact)).toMatchObject({
      scores: { nodeF1: 1, argumentNameF1: null, planExact: 1 },
      fault: undefined,
    });
  });

  it('count only where they fit better than the expected steps', () => {
    expect(scorePlan({ ...EXPECTED, alternatives: [['search']] }, GOLD, exact).scores).toEqual(ALL_RIGHT);
  });
});

describe('references', () => {
  const expected = (value: unknown): CaseRecord['expected'] => ({
    tools: ['a', 'b'],
    steps: [
      { tool: 'a', arguments: {} },
      { tool: 'b', arguments: { value } },
    ],
    edges: [[0, 1]],
  });

  it.each<[string, unknown, unknown, boolean]>([
    ['a whole result', '$0', '${s1}', true],
    ['a whole result, where the plan names a field', '$0', '${s1.id}', true],
    ['a field of a list', '$0.events.0.id', '${s1.events[0].id}', true],
    ['a field that is wrapped otherwise', '$0.id', '${s1.data.id}', true],
    ['an expression', '5 * $0.rate', '5*${s1.rate}', true],
    ['an expression with another number', '5 * $0.rate', '6 * ${s1.rate}', false],
    ['one in a list', ['$0.id', 2], ['${s1.id}', 2], true],
    ['one in an object', { id: '$0.id' }, { id: '${s1.name}' }, false],
    ['a step that is not there', '$0.id', '${s9.id}', false],
    ['a price, which is none', '$100', '$100', true],
  ])('judge %s', (_, value, got, isRight) => {
    const { scores } = scorePlan(expected(value), steps(['a'], ['b', { value: got }, ['s1']]), exact);
    expect(scores.argumentValueF1).toBe(isRight ? 1 : 0);
  });
});

describe('whatever the plan', () => {
  const tool = fc.constantFrom('find', 'read', 'list');
  const step = fc.record({
    tool,
    arguments: fc.dictionary(fc.constantFrom('name', 'stcd', 'days', 'x'), fc.jsonValue()),
  });

  it('scores lie between 0 and 1, and a plan is exact just when it has no fault', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 5 }), (drafts) => {
        const got = drafts.map((draft, place) => ({ ...draft, id: `s${place + 1}`, purpose: '', dependsOn: [] }));
        const { scores, fault } = scorePlan(EXPECTED, got, exact);
        for (const value of Object.values(scores)) {
          if (value === null) continue;
          expect(value).toBeGreaterThanOrEqual(0);
          expect(value).toBeLessThanOrEqual(1);
        }
        expect(scores.planExact === 1).toBe(fault === undefined);
        expect(scores.argumentValueF1 ?? 0).toBeLessThanOrEqual((scores.argumentNameF1 ?? 0) + 1e-9);
      }),
    );
  });
});

describe('a value that the request keeps', () => {
  it.each<[string, Record<string, unknown>, string, boolean]>([
    ['a number', { id: 130 }, '130', true],
    ['a number in a list', { ids: [120, 130] }, '130', true],
    ['one of several in a text', { ids: '120, 130' }, '130', true],
    ['an address in other letters', { to: ['Bob@x.example'] }, 'bob@x.example', true],
    ['deep inside', { filter: { any: [{ name: 'gamma' }] } }, 'gamma', true],
    ['a day written otherwise', { day: '3 December 2026' }, '2026-12-03', true],
    ['a price with zeros', { price: 24.5 }, '24.50', true],
    ['only mentioned in free text', { body: 'Keep 130 as it is' }, '130', false],
    ['part of a longer number', { id: 1300 }, '130', false],
    ['another value', { id: 120 }, '130', false],
  ])('%s', (_, values, kept, isTouched) => {
    expect(touchedValues([{ arguments: values }], [kept, 'other'])).toEqual(isTouched ? [kept] : []);
  });
});
