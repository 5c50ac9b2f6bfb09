import { describe, expect, it } from 'vitest';
import type { Rule } from '../../../src/core/catalog/rule.js';
import type { Tool } from '../../../src/core/catalog/tool.js';
import { noUsage } from '../../../src/core/model/model.js';
import { type OptionsInput, resolveOptions } from '../../../src/core/options.js';
import { loadPrompts } from '../../../src/core/prompts/prompts.js';
import { type PlanRequest, parseRequest } from '../../../src/core/request.js';
import { type NamedTool, PRIORITY, type Stage } from '../../../src/core/selection/candidates.js';
import { select } from '../../../src/core/selection/select.js';
import {
  companions,
  DEFAULT_STAGES,
  fill,
  matchingRules,
  producers,
  rules as rulesStage,
} from '../../../src/core/selection/stages.js';
import { createTrace } from '../../../src/core/trace.js';
import { createScriptedModel } from '../../support/scripted-model.js';
import { makeTool, namesOf, needing, returning, viewOf } from './setup.js';

interface Given {
  tools?: readonly Tool[];
  /** By the model, best first. */
  named?: readonly string[];
  /** How many of them are chosen. Default: all. */
  chosen?: number;
  rules?: readonly Rule[];
  options?: OptionsInput;
  request?: Partial<PlanRequest>;
  /** Tokens of each tool. */
  cost?: number | ((tool: Tool) => number);
  /** Stages that are left out. */
  without?: readonly Stage[];
}

const LETTERS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map((name) => makeTool(name));

/** The list of stages with a model in its first place that says what the test wants. */
function staged({ tools = LETTERS, named = [], chosen = named.length, rules = [], cost = 1, ...given }: Given) {
  const view = viewOf(tools);
  const ranked = named.flatMap((name): NamedTool[] => {
    const tool = view.byName.get(name);
    return tool ? [{ tool, via: 'model' }] : [];
  });
  const says: Stage = {
    name: 'model',
    apply: (candidates) => ({
      ...candidates,
      tools: ranked.slice(0, chosen).map(({ tool, via }, place) => ({
        tool,
        priority: PRIORITY.chosen,
        selected: { name: tool.name, via, rank: place + 1 },
      })),
      answer: { named: ranked, chosen, none: { says: named.length === 0 }, reason: 'so' },
    }),
  };
  const model = createScriptedModel();
  const prompts = loadPrompts();
  const request = parseRequest({ message: 'do it', ...given.request });
  return select(
    {
      view,
      request,
      rules: () => matchingRules(rules, request),
      earlier: [],
      usage: noUsage(),
      trace: createTrace(),
      signal: new AbortController().signal,
      facts: { requestId: 'r', session: undefined, secretNames: [] },
    },
    {
      model,
      options: resolveOptions({ passthroughTools: 0, fillTokens: 0, ...given.options }),
      prompt: prompts['select-tools'],
      repair: prompts.repair,
      schemaTokens: typeof cost === 'number' ? () => cost : cost,
      planningLimits: { ...model.limits, contextTokens: 100_000 },
      planningFrame: () => 0,
      stages: [says, ...DEFAULT_STAGES.slice(1)].filter((stage) => !given.without?.includes(stage)),
    },
  );
}

describe('producers', () => {
  const tools = [
    makeTool('find_parcel', { inputSchema: needing('name'), outputSchema: returning('parcel_id') }),
    makeTool('parcel_weight', { inputSchema: needing('parcel_id') }),
    ...LETTERS,
  ];

  it('stand before the tool that needs them, also one that the model named later', async () => {
    expect((await staged({ tools, named: ['a', 'parcel_weight'] })).tools).toEqual([
      { name: 'a', via: 'model', rank: 1 },
      { name: 'find_parcel', via: 'producer', serves: 'parcel_weight.parcel_id' },
      { name: 'parcel_weight', via: 'model', rank: 2 },
    ]);
    const both = await staged({ tools, named: ['parcel_weight', 'find_parcel'] });
    expect(namesOf(both)).toEqual(['find_parcel', 'parcel_weight']);
  });

  it.each<[string, Given]>([
    ['the caller requires', { request: { require: ['parcel_weight'] } }],
    ['a rule adds', { rules: [{ name: 'weigh', when: { message: 'do' }, include: ['parcel_weight'] }] }],
  ])('stand before a tool that %s, too', async (_, given) => {
    expect(namesOf(await staged({ tools, named: ['a'], ...given }))).toEqual(['a', 'find_parcel', 'parcel_weight']);
    const found = await staged({ tools, named: ['find_parcel'], ...given });
    expect(namesOf(found)).toEqual(['find_parcel', 'parcel_weight']);
  });

  it('never exceed the cap', async () => {
    const { tools: kept, dropped } = await staged({ tools, named: ['a', 'parcel_weight'], request: { maxTools: 2 } });
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

  it('come with their tool to a fixpoint, also in a circle, and where one is gone', async () => {
    expect((await staged({ tools: circle, named: ['d', 'a'] })).tools).toMatchObject([
      { name: 'd' },
      { name: 'a' },
      { name: 'b', via: 'companion', serves: 'a' },
      { name: 'c', via: 'companion', serves: 'b' },
    ]);
  });

  it('that the model chose too stay where it put them', async () => {
    const vias = (await staged({ tools: circle, named: ['c', 'a'] })).tools.map(({ name, via }) => [name, via]);
    expect(vias).toEqual([
      ['c', 'model'],
      ['b', 'companion'],
      ['a', 'model'],
    ]);
  });

  it.each<[string, Given]>([
    ['a rule added', { rules: [{ name: 'r', when: { message: 'do' }, include: ['a'] }] }],
    ['the caller requires', { request: { require: ['a'] } }],
  ])('come with a tool that %s', async (_, given) => {
    expect(namesOf(await staged({ tools: circle, named: ['d'], ...given }))).toContain('b');
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
    ['last, behind what the caller requires', { message: 'x', intent: 'report', require: ['g'] }, ['b', 'g', 'a']],
    ['somewhere', { message: 'do' }, ['a', 'b', 'f']],
    ['not at all', { message: 'x' }, ['a', 'b']],
  ])('put a tool %s', async (_, request, expected) => {
    expect(namesOf(await staged({ named: ['a', 'b'], rules, request }))).toEqual(expected);
  });

  it('tell which of them it was, and keep one entry a tool', async () => {
    expect((await staged({ named: ['a', 'e'], rules, request: { entities: { object: 'y' } } })).tools).toMatchObject([
      { name: 'e', via: 'rule', serves: 'begin' },
      { name: 'a' },
      { name: 'f', serves: 'with' },
    ]);
  });
});

describe('always-on and required tools', () => {
  const tools = [...LETTERS, makeTool('always', { alwaysLoad: true })];

  it('are handed on whatever the model picks', async () => {
    expect((await staged({ tools, named: ['a'], request: { require: ['b', 'a', 'gone'] } })).tools).toMatchObject([
      { name: 'a', via: 'model' },
      { name: 'b', via: 'required' },
      { name: 'always', via: 'always' },
    ]);
  });

  it('outlive the cap, and the result names what went', async () => {
    const required = await staged({ named: ['a', 'b', 'c'], request: { require: ['d', 'c', 'gone'], maxTools: 3 } });
    expect(namesOf(required)).toEqual(['a', 'c', 'd']);
    expect(required.dropped).toEqual([
      { name: 'gone', reason: 'unknown' },
      { name: 'b', reason: 'cap' },
    ]);
    const always = await staged({ tools, named: ['a', 'b'], request: { maxTools: 2 } });
    expect(namesOf(always)).toEqual(['a', 'always']);
  });

  it('alone are no sign that a tool fits', async () => {
    expect(await staged({ tools })).toMatchObject({ mode: 'none', tools: [{ name: 'always' }] });
  });
});

describe('the cap', () => {
  const named = LETTERS.map(({ name }) => name);

  it.each<[string, Given, number]>([
    ['of the option', { options: { maxTools: 3 } }, 3],
    ['of the request, which is stronger', { options: { maxTools: 3 }, request: { maxTools: 5 } }, 5],
  ])('%s keeps the first, and records the others', async (_, given, count) => {
    const { tools, dropped } = await staged({ named, ...given });
    expect(namesOf({ tools })).toEqual(named.slice(0, count));
    expect(dropped).toEqual(named.slice(count).map((name) => ({ name, reason: 'cap' })));
  });

  it('on schema tokens leaves out the tool that does not fit, and always keeps one', async () => {
    const given: Given = { named: ['a', 'b', 'c'], options: { schemaTokens: 200 } };
    const huge = await staged({ ...given, cost: ({ name }) => (name === 'b' ? 9_000 : 60) });
    expect(namesOf(huge)).toEqual(['a', 'c']);
    expect(huge.dropped).toEqual([{ name: 'b', reason: 'schemaTokens' }]);
    expect(namesOf(await staged({ ...given, cost: 900 }))).toEqual(['a']);
  });

  it('keeps what a choice asks for before a companion', async () => {
    const tools = [makeTool('a', { relatedTools: ['b'] }), makeTool('b'), makeTool('c')];
    expect(namesOf(await staged({ tools, named: ['a', 'c'], request: { maxTools: 2 } }))).toEqual(['a', 'c']);
  });
});

describe('the fill', () => {
  const filled = async (given: Given) =>
    (await staged({ named: ['a', 'b', 'c'], chosen: 1, request: { message: 'g and h and c' }, ...given })).tools;

  it('takes the next best of the model, then keyword matches, each once and marked as not surely chosen', async () => {
    expect(await filled({ options: { fillTokens: 800 } })).toEqual([
      { name: 'a', via: 'model', rank: 1 },
      { name: 'b', via: 'model', rank: 2, fill: true },
      { name: 'c', via: 'model', rank: 3, fill: true },
      expect.objectContaining({ name: 'g', via: 'keyword', fill: true }),
      expect.objectContaining({ name: 'h', via: 'keyword', fill: true }),
    ]);
  });

  it.each<[string, Given, string[]]>([
    ['fillTokens', { cost: 400, options: { fillTokens: 800 } }, ['a', 'b', 'c']],
    ['fillTokens of 0', { options: { fillTokens: 0 } }, ['a']],
    ['schemaTokens', { cost: 100, options: { fillTokens: 800, schemaTokens: 200 } }, ['a', 'b']],
    ['maxTools', { options: { fillTokens: 800, maxTools: 4 } }, ['a', 'b', 'c', 'g']],
  ])('ends at %s', async (_, given, expected) => {
    expect((await filled(given)).map(({ name }) => name)).toEqual(expected);
  });

  it('brings the producers of what it takes', async () => {
    const find = makeTool('find_b', { inputSchema: needing('name'), outputSchema: returning('parcel_id') });
    const tools = [makeTool('a'), makeTool('b', { inputSchema: needing('parcel_id') }), find];
    expect(await filled({ tools, named: ['a', 'b'], options: { fillTokens: 800 } })).toMatchObject([
      { name: 'a' },
      { name: 'find_b', via: 'producer', fill: true },
      { name: 'b', fill: true },
    ]);
  });

  it('adds nothing where the model found that no tool fits', async () => {
    expect(await filled({ named: [], options: { fillTokens: 800 } })).toEqual([]);
  });
});

describe('a list without a stage', () => {
  const tools = [
    makeTool('find', { inputSchema: needing('name'), outputSchema: returning('parcel_id') }),
    makeTool('weigh', { inputSchema: needing('parcel_id'), relatedTools: ['print'] }),
    makeTool('print'),
    makeTool('begin'),
    makeTool('other'),
  ];
  const given: Given = {
    tools,
    named: ['weigh', 'other'],
    chosen: 1,
    rules: [{ name: 'r', when: { message: 'do' }, first: ['begin'] }],
    options: { fillTokens: 800 },
  };

  it.each<[Stage, string]>([
    [rulesStage, 'begin'],
    [producers, 'find'],
    [companions, 'print'],
    [fill, 'other'],
  ])('does not add what $name adds', async (stage, name) => {
    const all = namesOf(await staged(given));
    expect(all).toEqual(['begin', 'find', 'weigh', 'print', 'other']);
    const without = namesOf(await staged({ ...given, without: [stage] }));
    expect(without).toEqual(all.filter((one) => one !== name));
  });
});

const RULED: PlanRequest = {
  message: 'Write the REPORT 水位',
  intent: 'report',
  entities: { object: '盘石头', empty: null, blank: ' ', none: [], zero: 0 },
};

describe('a rule', () => {
  it.each<[Rule['when'], boolean]>([
    [{ entities: ['object'] }, true],
    [{ entities: ['object', 'other'] }, false],
    [{ entities: ['empty'] }, false],
    [{ entities: ['blank'] }, false],
    [{ entities: ['none'] }, false],
    [{ entities: ['zero'] }, true],
    [{ intent: 'report' }, true],
    [{ intent: ['query', 'report'] }, true],
    [{ intent: 'Report' }, false],
    [{ intent: 'query' }, false],
    [{ message: 'report' }, true],
    [{ message: '^report' }, false],
    [{ message: '水(位|库)' }, true],
    [{ entities: ['object'], intent: 'report', message: 'write' }, true],
    [{ entities: ['object'], intent: 'report', message: 'read' }, false],
  ])('with %j matches: %s', (when, expected) => {
    expect(matchingRules([{ name: 'r', when }], parseRequest(RULED))).toHaveLength(expected ? 1 : 0);
  });

  it.each([
    ['^\\s*(.*)\\s*x$', `x${' '.repeat(50_000)}y`],
    [`^${'(a|a)'.repeat(28)}$`, `${'a'.repeat(28)}b`],
    [`^${'(aa?)'.repeat(40)}$`, `${'a'.repeat(60)}b`],
  ])('whose pattern %s others try for ever does not match', (message, text) => {
    expect(matchingRules([{ name: 'r', when: { message } }], parseRequest({ message: text }))).toEqual([]);
  });

  it('behind many that each take their time is not tried any more: they have one budget', () => {
    const slow = Array.from({ length: 80 }, (_, at) => ({ name: `r${at}`, when: { message: `(?:c|d)+!|${at}` } }));
    const last = { name: 'last', when: { message: '(?:a|b)+!' } };
    const matched = (characters: number) =>
      matchingRules([...slow, last], parseRequest({ message: `${'a'.repeat(characters)}!` }));
    expect([matched(60), matched(99_000)]).toEqual([[last], []]);
  });

  it('beside one whose pattern would run for ever matches all the same', () => {
    const rules = ['(a+)+$', '(?:b|c)+|d', '!'].map((message) => ({ name: message, when: { message } }));
    const matched = matchingRules(rules, parseRequest({ message: `c${'a'.repeat(60)}!` }));
    expect(matched.map(({ name }) => name)).toEqual(['(?:b|c)+|d', '!']);
  });

  it('finds its words in a long message, in letters of either case', () => {
    const long = parseRequest({ message: `${'x '.repeat(5_000)} the REPORT of today` });
    expect(matchingRules([{ name: 'r', when: { message: '(?:the )+report' } }], long)).toHaveLength(1);
  });

  it('never matches by what an object inherits', () => {
    const rule = { name: 'r', when: { entities: ['constructor'] } };
    expect(matchingRules([rule], parseRequest({ message: 'x' }))).toEqual([]);
  });

  it('without its condition in the request does not match', () => {
    const rules = [
      { name: 'r', when: { intent: 'report' } },
      { name: 's', when: { entities: ['object'] } },
    ];
    expect(matchingRules(rules, parseRequest({ message: 'x' }))).toEqual([]);
  });
});
