import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Step } from '../../src/core/result.js';
import type { CompareOptions } from '../../src/eval/compare-steps.js';
import { scorePlan } from '../../src/eval/plan-scores.js';
import type { CaseRecord, ExpectedStep } from '../../src/eval/record.js';
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
const ALL_RIGHT = { nodeF1: 1, edgeF1: 1, argumentValueF1: 1 };

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
    expect(scoreOf(name)).toMatchObject({ argumentValueF1: 1 });
  });

  it('is wrong with any other', () => {
    expect(scoreOf('Pond')).toMatchObject({ argumentValueF1: 0.5 });
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
      scores: { argumentValueF1: 0.8 },
      fault: 'missing-argument',
    });
    expect(scorePlan(lean, GOLD, other).fault).toBe('extra-argument');
  });

  it('does not make a step that is too much any worse', () => {
    const more = [...GOLD, ...steps(['read', { days: 3 }]).map((step) => ({ ...step, id: 's3' }))];
    expect(scorePlan(EXPECTED, more, options).scores).toMatchObject({ nodeF1: 0.8, argumentValueF1: 1 });
  });
});

describe('one mistake', () => {
  type Given = [tool: string, values: Record<string, unknown>, needs?: string[]];
  const find: Given = ['find', { name: 'Lake' }];
  const read = (values: Record<string, unknown>, needs = ['s1']): Given => ['read', values, needs];
  const right = { stcd: '${s1.stcd}', days: 3 };
  const more = (needs: string[]) => [...GOLD, ...steps(read({ a: 1 }, needs)).map((step) => ({ ...step, id: 's3' }))];

  it.each([
    ['a step is missing', steps(find), { nodeF1: 2 / 3, argumentValueF1: 0.5, edgeF1: 0 }, 'missing-step'],
    ['a step too many', more([]), { nodeF1: 0.8, argumentValueF1: 8 / 9 }, 'extra-step'],
    ['a step too many that waits for the others', more(['s1', 's2']), { edgeF1: 0.5 }, 'extra-step'],
    ['another tool', steps(find, ['list', { stcd: '${s1.stcd}' }, ['s1']]), { nodeF1: 0.5 }, 'wrong-tool'],
    ['a wrong value', steps(['find', { name: 'Pond' }], read(right)), { argumentValueF1: 2 / 3 }, 'wrong-argument'],
    [
      'another argument',
      steps(['find', { name: 'Lake', x: 1 }], read(right)),
      { argumentValueF1: 6 / 7 },
      'extra-argument',
    ],
    ['an argument less', steps(find, read({ stcd: '${s1.stcd}' })), { argumentValueF1: 0.8 }, 'missing-argument'],
    ['another field', steps(find, read({ ...right, stcd: '${s1.id}' })), { argumentValueF1: 2 / 3 }, 'wrong-reference'],
    [
      'a made-up value',
      steps(find, read({ ...right, stcd: '31005650' })),
      { argumentValueF1: 2 / 3 },
      'wrong-reference',
    ],
    ['no dependency', steps(find, read(right, [])), { edgeF1: 0 }, 'missing-edge'],
  ] as const)('%s', (_, got, scores, fault) => {
    const verdict = scorePlan(EXPECTED, got, exact);
    for (const [name, value] of Object.entries(scores))
      expect(verdict.scores).toHaveProperty(name, expect.closeTo(value, 9));
    expect(verdict.fault).toBe(fault);
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
    expect(scorePlan(expected, got, exact)).toMatchObject({ fault: undefined, scores: { edgeF1: null } });
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
    [['a', 'b', 'c'], undefined],
    [['b', 'a', 'c'], 'wrong-order'],
    [['c', 'a'], 'missing-step'],
  ])('of %j is judged where a benchmark gives only the order of tools: %s', (tools, fault) => {
    const verdict = scorePlan(chain, steps(...tools.map((tool) => [tool, { any: 'value' }] as const)), exact);
    expect([verdict.fault, verdict.scores.argumentValueF1]).toEqual([fault, null]);
  });

  it('counts what depends by way of another step', () => {
    const expected: CaseRecord['expected'] = {
      ...chain,
      edges: [
        [0, 1],
        [1, 2],
      ],
    };
    // Only the way from a to c is in the wrong order, by way of b, which comes from another step.
    const direct = steps(['b', {}, ['s3']], ['c', {}, ['s1']], ['a']);
    expect(scorePlan(expected, direct, exact).fault).toBe('wrong-order');
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
    expect(scorePlan(expected, swapped(1), exact).fault).toBeUndefined();
    expect(scorePlan(expected, swapped(9), exact).fault).toBe('wrong-argument');
  });

  it('without the producer take any value where it was referred to', () => {
    const expected = { ...EXPECTED, alternatives: [['read']] };
    const got = (days: number) => steps(['read', { stcd: '31005650', days }]);
    expect(scorePlan(expected, got(3), exact).fault).toBeUndefined();
    expect(scorePlan(expected, got(4), exact).fault).toBe('wrong-argument');
  });

  it('without the producer take any text where a part of it was referred to', () => {
    const read = { tool: 'read', arguments: { url: 'https://a.example/$0.stcd', days: 3 } };
    const expected = { ...EXPECTED, steps: [...(EXPECTED.steps?.slice(0, 1) ?? []), read], alternatives: [['read']] };
    const got = (days: number) => steps(['read', { url: 'https://a.example/31005650', days }]);
    expect(scorePlan(expected, got(3), exact).fault).toBeUndefined();
    expect(scorePlan(expected, got(4), exact).fault).toBe('wrong-argument');
  });

  it('with a tool of their own judge its name alone', () => {
    const expected = { ...EXPECTED, alternatives: [['search']] };
    expect(scorePlan(expected, steps(['search', { q: 'lake' }]), exact)).toMatchObject({
      scores: { nodeF1: 1, argumentValueF1: null },
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
    ['a text with a whole result, where the plan names a field', 'of $0', 'of ${s1.id}', true],
    ['a text with another field', 'of $0.id', 'of ${s1.name}', false],
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

  it('scores lie between 0 and 1, and are 1 where it has no fault', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 5 }), (drafts) => {
        const got = drafts.map((draft, place) => ({ ...draft, id: `s${place + 1}`, purpose: '', dependsOn: [] }));
        const { scores, fault } = scorePlan(EXPECTED, got, exact);
        for (const value of Object.values(scores)) {
          if (value === null) continue;
          expect(value).toBeGreaterThanOrEqual(0);
          expect(value).toBeLessThanOrEqual(1);
        }
        if (fault === undefined) expect(scores).toEqual(ALL_RIGHT);
      }),
    );
  });
});

/** What a record tells of a plan beside the expected one; that it agrees with the scores is how these are made. */
const wanted = (
  tool: string,
  values: Record<string, unknown> = {},
  more: Partial<ExpectedStep> = {},
): ExpectedStep => ({ tool, arguments: values, ...more });

function compare(expected: readonly ExpectedStep[], got: readonly Step[], options: Partial<CompareOptions> = {}) {
  const tools = expected.map(({ tool }) => tool);
  return scorePlan({ tools, steps: [...expected], edges: [] }, got, { ignoreCase: false, ...options }).comparison;
}

describe('steps side by side', () => {
  it('are those of one tool that agree best over all, and what is left over stands alone', () => {
    const { steps: pairs } = compare(
      [wanted('find', { name: 'a' }), wanted('find', { name: 'b', kind: 'RR' }), wanted('read')],
      steps(['find', { name: 'b', kind: 'RR' }], ['find', { name: 'x' }], ['draw']),
    );
    expect(pairs.map(({ expected, got }) => [expected, got])).toEqual([
      [0, 1],
      [1, 0],
      [2, undefined],
      [undefined, 2],
    ]);
  });

  it('do not take the step that another one fits better', () => {
    const half = wanted('find', { name: 'b', kind: 'PP' });
    const { steps: pairs } = compare(
      [half, wanted('find', { name: 'b', kind: 'RR' })],
      steps(['find', { name: 'b', kind: 'RR' }], ['find', { name: 'c', kind: 'XX' }]),
    );
    expect(pairs.map(({ expected, got }) => [expected, got])).toEqual([
      [0, 1],
      [1, 0],
    ]);
  });

  it('are those of the alternative that the plan was judged by', () => {
    const expected: CaseRecord['expected'] = {
      tools: ['find', 'read'],
      alternatives: [['list'], ['find', 'look']],
      steps: [wanted('find'), wanted('read', { code: '$0.code' })],
    };
    const { comparison } = scorePlan(expected, steps(['find'], ['look', { code: 1 }]), { ignoreCase: false });
    expect(comparison).toEqual({
      alternative: 1,
      steps: [
        { expected: 0, got: 0, arguments: {} },
        { expected: 1, got: 1, arguments: { code: 'unjudged' } },
      ],
    });
  });
});

describe('arguments side by side', () => {
  const verdictOf = (expected: ExpectedStep, values: Record<string, unknown>, options: Partial<CompareOptions> = {}) =>
    compare([expected], steps(['t', values]), options).steps[0]?.arguments.a;

  it.each<[string, ExpectedStep, Record<string, unknown>, string]>([
    ['the same value', wanted('t', { a: { x: 1, y: [2] } }), { a: { y: [2], x: 1 } }, 'same'],
    ['another value', wanted('t', { a: 1 }), { a: 2 }, 'different'],
    ['one that counts too', wanted('t', { a: 'x' }, { argumentsAnyOf: { a: ['x', 'y'] } }), { a: 'y' }, 'accepted'],
    ['the number as a text', wanted('t', { a: 24 }), { a: '24' }, 'form'],
    ['the day written otherwise', wanted('t', { a: '2026-07-21' }), { a: 'July 21, 2026' }, 'form'],
    ['the text in another case', wanted('t', { a: 'Lake' }), { a: 'LAKE' }, 'different'],
    ['none', wanted('t', { a: 1 }), {}, 'missing'],
    ['none, where it may be left out', wanted('t', { a: 1 }, { argumentsAnyOf: { a: ['', 1] } }), {}, 'optional'],
    ['one too many', wanted('t'), { a: 1 }, 'extra'],
    ['one more that is allowed', wanted('t', {}, { argumentsAnyOf: { a: ['', 'RR'] } }), { a: 'RR' }, 'accepted'],
    ['one that nobody judges', wanted('t', {}, { argumentsUnknown: true }), { a: 1 }, 'unjudged'],
    ['a price that looks like a reference', wanted('t', { a: '$1.50' }), { a: '$1.50' }, 'same'],
  ])('say of %s what the scores count', (_, expected, values, verdict) => {
    expect(verdictOf(expected, values)).toBe(verdict);
  });

  it('count letter case and defaults as the case and the catalogue have them', () => {
    expect(verdictOf(wanted('t', { a: 'Lake' }), { a: 'LAKE' }, { ignoreCase: true })).toBe('form');
    const defaultOf = () => 7;
    expect(verdictOf(wanted('t', { a: 7 }), {}, { defaultOf })).toBe('default');
    expect(verdictOf(wanted('t'), { a: 7 }, { defaultOf })).toBe('default');
    expect(verdictOf(wanted('t', { a: 8 }), {}, { defaultOf })).toBe('missing');
  });

  it.each([
    ['to the same step in another order', '${s2.code}', 'same'],
    ['to the same field below another one', '${s2.data[0].code}', 'same'],
    ['to another step', '${s1.code}', 'different'],
    ['to another field', '${s2.name}', 'different'],
    ['to no step', '${s9.code}', 'different'],
  ])('have references compared: %s', (_, reference, verdict) => {
    const { steps: pairs } = compare(
      [wanted('find'), wanted('list'), wanted('read', { code: '$0.code' })],
      steps(['list'], ['find'], ['read', { code: reference }]),
    );
    expect(pairs[2]?.arguments.code).toBe(verdict);
  });
});
