import { describe, expect, it } from '@jest/globals';
import type { Rule } from '../../../src/core/catalog/rule.js';
import type { Tool } from '../../../src/core/catalog/tool.js';
import { type OptionsInput, resolveOptions } from '../../../src/core/config/options.js';
import { type PlanRequest, parseRequest } from '../../../src/core/request.js';
import type { NamedTool } from '../../../src/core/selection/answer.js';
import { compose } from '../../../src/core/selection/compose.js';
import { makeTool, namesOf, needing, returning, viewOf } from './setup.js';

interface Given {
  tools?: readonly Tool[];
  named?: readonly string[];
  probabilities?: readonly number[];
  standings?: readonly number[];
  chosen?: number;
  rules?: readonly Rule[];
  /** Best first, with a score where it is not 1. */
  keywords?: readonly (string | readonly [name: string, score: number])[];
  options?: OptionsInput;
  request?: Partial<PlanRequest>;
  /** Tokens of each schema. */
  cost?: number;
}

const LETTERS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map((name) => makeTool(name));

function composed({
  tools = LETTERS,
  named = [],
  probabilities,
  standings,
  rules = [],
  keywords = [],
  cost = 1,
  ...given
}: Given) {
  const view = viewOf(tools);
  const toolOf = (name: string): Tool => {
    const tool = view.byName.get(name);
    if (!tool) throw new Error(`no tool ${name}`);
    return tool;
  };
  const ranked = named.map((name, place): NamedTool => {
    const probability = probabilities?.[place];
    const standing = standings?.[place];
    return {
      tool: toolOf(name),
      ...(probability === undefined ? {} : { probability }),
      ...(standing === undefined ? {} : { standing }),
    };
  });
  return compose({
    view,
    request: parseRequest({ message: 'do it', ...given.request }),
    answer: { named: ranked, chosen: given.chosen ?? named.length, none: { says: false }, reason: '' },
    rules,
    options: resolveOptions({ fill: false, ...given.options }),
    keywords: () =>
      keywords.map((match) => {
        const [name, score] = typeof match === 'string' ? ([match, 1] as const) : match;
        return { tool: toolOf(name), score };
      }),
    schemaTokens: () => cost,
    allTokens: cost * tools.length,
  });
}

describe('the fill', () => {
  const filled = (cost: number, options: OptionsInput = {}, named = ['a']) =>
    namesOf(composed({ named, keywords: ['b', 'c', 'd', 'e', 'f'], cost, options: { fill: true, ...options } }));

  it.each([
    [500, {}, ['a']],
    [500, { fillShare: 0.25 }, ['a', 'b']],
    [500, { fillShare: 1 }, ['a', 'b', 'c', 'd', 'e', 'f']],
    [200, {}, ['a', 'b', 'c', 'd']],
    [200, { schemaTokens: 400 }, ['a', 'b']],
    [1, {}, ['a', 'b', 'c', 'd', 'e', 'f']],
  ])('of 8 tools of %d tokens each, with %j, goes up to its share of all, or 800 tokens', (cost, options, names) => {
    expect(filled(cost, options)).toEqual(names);
  });

  it('never takes away what was chosen', () => {
    expect(filled(500, {}, ['a', 'b', 'c'])).toEqual(['a', 'b', 'c']);
  });
});

describe('what the model chose', () => {
  it('is handed on in its order, with rank and probability', () => {
    const { tools, dropped } = composed({ named: ['c', 'a'], probabilities: [0.7, 0.2], standings: [1, 0.3] });
    expect(tools).toEqual([
      { name: 'c', via: 'model', rank: 1, probability: 0.7 },
      // Far below the first: a second opinion.
      { name: 'a', via: 'model', rank: 2, probability: 0.2, fill: true },
    ]);
    expect(dropped).toEqual([]);
  });

  describe('and the request hardly speaks of', () => {
    const given: Given = {
      named: ['a', 'b', 'c'],
      probabilities: [0.8, 0.7, 0.6],
      standings: [1, 0.9, 0.8],
      keywords: [
        ['d', 0.9],
        ['c', 0.5],
        ['a', 0.4],
      ],
    };
    const opinionsIn = (change: Given = {}) =>
      composed({ ...given, ...change })
        .tools.filter(({ fill }) => fill)
        .map(({ name }) => name);

    it('is a second opinion where it speaks of another chosen one', () => {
      expect(opinionsIn()).toEqual(['a', 'b']);
      expect(composed(given).tools.map(({ name }) => name)).toEqual(['a', 'b', 'c']);
    });

    it('stays chosen where it speaks of none of them', () => {
      expect(opinionsIn({ keywords: [['d', 0.9]] })).toEqual([]);
      expect(opinionsIn({ keywords: [] })).toEqual([]);
    });

    it('stays chosen where keywords count nothing, or the model wrote a list', () => {
      expect(opinionsIn({ options: { keywordWeight: 0 } })).toEqual([]);
      expect(opinionsIn({ probabilities: [], standings: [] })).toEqual([]);
    });
  });

  it('says so where only keywords found it', () => {
    const { tools } = composed({ named: ['c'], standings: [1] });
    expect(tools).toEqual([{ name: 'c', via: 'keyword', rank: 1 }]);
  });
});

describe('producers', () => {
  const tools = [
    makeTool('find_parcel', { inputSchema: needing('name'), outputSchema: returning('parcel_id') }),
    makeTool('parcel_weight', { inputSchema: needing('parcel_id') }),
    ...LETTERS,
  ];

  it('stand before the tool that needs them', () => {
    expect(composed({ tools, named: ['a', 'parcel_weight'] }).tools).toMatchObject([
      { name: 'a', via: 'model' },
      { name: 'find_parcel', via: 'producer', serves: 'parcel_weight.parcel_id' },
      { name: 'parcel_weight', via: 'model' },
    ]);
  });

  it.each<[string, Given]>([
    ['the caller requires', { request: { require: ['parcel_weight'] } }],
    ['a rule adds', { rules: [{ name: 'weigh', when: { message: 'do' }, include: ['parcel_weight'] }] }],
  ])('stand before a tool that %s, too', (_, given) => {
    expect(namesOf(composed({ tools, named: ['a'], ...given }))).toEqual(['a', 'find_parcel', 'parcel_weight']);
    const found = { tools, named: ['find_parcel'], ...given };
    expect(namesOf(composed(found))).toEqual(['find_parcel', 'parcel_weight']);
  });

  it('can be switched off', () => {
    expect(namesOf(composed({ tools, named: ['parcel_weight'], options: { producers: false } }))).toEqual([
      'parcel_weight',
    ]);
  });

  it('never exceed the cap', () => {
    const { tools: kept, dropped } = composed({ tools, named: ['a', 'parcel_weight'], request: { maxTools: 2 } });
    expect(kept).toHaveLength(2);
    expect(dropped).toMatchObject([{ reason: 'cap' }]);
  });
});

describe('companions', () => {
  const circle = [
    makeTool('a', { relatedTools: ['b'] }),
    makeTool('b', { relatedTools: ['c', 'a'] }),
    makeTool('c', { relatedTools: ['a', 'b', 'gone'] }),
    makeTool('d'),
  ];

  it('come with their tool to a fixpoint, also in a circle, and where one is gone', () => {
    const { tools } = composed({ tools: circle, named: ['d', 'a'] });
    expect(namesOf({ tools })).toEqual(['d', 'a', 'b', 'c']);
    expect(tools[2]).toEqual({ name: 'b', via: 'companion', serves: 'a' });
    expect(tools[3]).toEqual({ name: 'c', via: 'companion', serves: 'b' });
  });

  it('can be switched off', () => {
    expect(namesOf(composed({ tools: circle, named: ['a'], options: { companions: false } }))).toEqual(['a']);
  });

  it('that the model chose too stay where it put them', () => {
    const { tools } = composed({ tools: circle, named: ['c', 'a'] });
    expect(tools).toMatchObject([
      { name: 'c', via: 'model' },
      { name: 'b', via: 'companion' },
      { name: 'a', via: 'model' },
    ]);
  });

  // "Companions: chosen whenever this tool is", whoever chose it.
  it.each<[string, Given]>([
    ['a rule added', { rules: [{ name: 'r', when: { message: 'do' }, include: ['a'] }] }],
    ['the caller requires', { request: { require: ['a'] } }],
  ])('come with a tool that %s', (_, given) => {
    expect(namesOf(composed({ tools: circle, named: ['d'], ...given }))).toContain('b');
  });
});

describe('rules', () => {
  const rules: Rule[] = [
    { name: 'begin', when: { entities: ['object'] }, first: ['e'] },
    { name: 'end', when: { intent: 'report' }, last: ['a'] },
    { name: 'with', when: { message: '^do' }, include: ['f', 'gone'] },
  ];

  it.each<[string, Partial<PlanRequest>, string[]]>([
    ['first', { message: 'x', entities: { object: 'y' } }, ['e', 'a', 'b']],
    ['last', { message: 'x', intent: 'report' }, ['b', 'a']],
    ['somewhere', { message: 'do' }, ['a', 'b', 'f']],
    ['not at all', { message: 'x' }, ['a', 'b']],
  ])('put a tool %s', (_, request, expected) => {
    expect(namesOf(composed({ named: ['a', 'b'], rules, request }))).toEqual(expected);
  });

  it('tell which of them it was, and keep one entry a tool', () => {
    const { tools } = composed({ named: ['a', 'e'], rules, request: { entities: { object: 'y' } } });
    expect(tools).toMatchObject([
      { name: 'e', via: 'rule', serves: 'begin' },
      { name: 'a' },
      { name: 'f', serves: 'with' },
    ]);
  });

  it('can be switched off', () => {
    expect(namesOf(composed({ named: ['a'], rules, options: { rules: false } }))).toEqual(['a']);
  });
});

describe('always-on and required tools', () => {
  const tools = [...LETTERS, makeTool('always', { alwaysLoad: true })];

  it('are handed on whatever the model picks', () => {
    expect(composed({ tools, named: ['a'], request: { require: ['b', 'a'] } }).tools).toMatchObject([
      { name: 'a', via: 'model' },
      { name: 'b', via: 'required' },
      { name: 'always', via: 'always' },
    ]);
  });

  it('required ones outlive the cap, and what it takes is recorded', () => {
    const { tools: kept, dropped } = composed({
      named: ['a', 'b', 'c'],
      request: { require: ['d', 'c'], maxTools: 3 },
    });
    expect(namesOf({ tools: kept })).toEqual(['a', 'c', 'd']);
    expect(dropped).toEqual([{ name: 'b', reason: 'cap' }]);
  });

  it('an always-on one is never gone without a word', () => {
    const { tools: kept, dropped } = composed({ tools, named: ['a', 'b'], request: { maxTools: 2 } });
    expect([...namesOf({ tools: kept }), ...dropped.map(({ name }) => name)].sort()).toEqual(['a', 'always', 'b']);
  });

  // `alwaysLoad`: "Handed on with every selection".
  it('an always-on one outlives the cap', () => {
    expect(namesOf(composed({ tools, named: ['a', 'b'], request: { maxTools: 2 } }))).toContain('always');
  });
});

describe('the cap', () => {
  const named = LETTERS.map(({ name }) => name);

  it.each<[string, Given, number]>([
    ['of the option', { options: { maxTools: 3 } }, 3],
    ['of the request, which is stronger', { options: { maxTools: 3 }, request: { maxTools: 5 } }, 5],
  ])('%s keeps the first, and records the others', (_, given, count) => {
    const { tools, dropped } = composed({ named, ...given });
    expect(namesOf({ tools })).toEqual(named.slice(0, count));
    expect(dropped).toEqual(named.slice(count).map((name) => ({ name, reason: 'cap' })));
  });

  it('on schema tokens records too, and always leaves one tool', () => {
    const two = composed({ named: ['a', 'b', 'c'], cost: 100, options: { schemaTokens: 200 } });
    expect(namesOf(two)).toEqual(['a', 'b']);
    expect(two.dropped).toEqual([{ name: 'c', reason: 'schemaTokens' }]);
    expect(namesOf(composed({ named: ['a', 'b'], cost: 900, options: { schemaTokens: 200 } }))).toEqual(['a']);
  });

  it('keeps what a rule and a choice asks for before a companion', () => {
    const tools = [makeTool('a', { relatedTools: ['b'] }), makeTool('b'), makeTool('c')];
    expect(namesOf(composed({ tools, named: ['a', 'c'], request: { maxTools: 2 } }))).toEqual(['a', 'c']);
  });
});
