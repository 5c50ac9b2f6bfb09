import { beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { PlanResult, Selection } from '../../src/core/result.js';

type Renderers = Pick<typeof import('../../src/cli/render-plan.js'), 'renderPlan'> &
  Pick<typeof import('../../src/cli/render-selection.js'), 'renderSelection' | 'renderTools'>;
let render: Renderers;
beforeAll(async () => {
  // Whether there are colours is decided when the modules are loaded.
  process.env.NO_COLOR = '1';
  jest.resetModules();
  const [plan, selection] = [
    await import('../../src/cli/render-plan.js'),
    await import('../../src/cli/render-selection.js'),
  ];
  render = { ...plan, ...selection };
});

const usage = {
  selection: { calls: 1, read: 900, cached: 800, written: 30 },
  planning: { calls: 1, read: 1196, cached: 0, written: 70 },
  schemaTokens: { all: 5210, loaded: 640 },
  milliseconds: 4321,
};
const selection: Selection = {
  mode: 'selected',
  reason: 'they fit',
  tools: [
    { name: 'find_station', via: 'producer', serves: 'read_level.stcd' },
    { name: 'read_level', via: 'model', rank: 1, probability: 0.874 },
    { name: 'compare', via: 'keyword', rank: 3 },
    { name: 'rare', via: 'model', rank: 4, probability: 0.0123 },
  ],
  dropped: [
    { name: 'raed_level', reason: 'unknown', suggestion: 'read_level' },
    { name: 'other', reason: 'cap' },
  ],
  leftOut: 0,
};
const common = { selection: { ...selection, tools: [], dropped: [] }, usage, trace: [] };

describe('a selection for people', () => {
  it('says of each tool why it is here, and tells of names that do not exist', () => {
    expect(render.renderSelection({ ...selection, usage, trace: [] })).toBe(
      [
        'Tools',
        '  find_station  provides read_level.stcd',
        '  read_level    named by the model (1., 87 %)',
        '  compare       matches words of the request (3.)',
        '  rare          named by the model (4., 1.2 %)',
        '  left out for want of room: other',
        '  dropped: raed_level does not exist (near: read_level)',
        '',
        'tokens: selection 900 read, 800 from cache, 30 written; planning 1,196 read, 0 from cache, 70 written; schemas 640, all would be 5,210 (88 % less); 4,321 ms',
      ].join('\n'),
    );
  });

  it.each([
    ['of selection alone', 1, 0, 'tokens: selection 900 read, 800 from cache, 30 written; schemas 640'],
    ['of planning alone', 0, 1, 'tokens: planning 1,196 read, 0 from cache, 70 written; schemas 640'],
    ['of no call', 0, 0, 'tokens: no call; schemas 640'],
  ])('tells the cost %s', (_, selecting, planning, cost) => {
    const calls = {
      selection: { ...usage.selection, calls: selecting },
      planning: { ...usage.planning, calls: planning },
    };
    const rendered = render.renderSelection({ ...selection, usage: { ...usage, ...calls }, trace: [] });
    expect(rendered.split('\n').at(-1)).toContain(cost);
  });

  it.each<[string, Partial<Selection>, string]>([
    [
      'a fallback with its reason and what it left out',
      { mode: 'fallback', reason: 'the server failed', leftOut: 7 },
      'Tools (no choice was possible: the server failed)\n  none\n  7 more did not fit',
    ],
    ['that no tool fits', { mode: 'none', reason: 'nothing fits' }, 'Tools (none fits: nothing fits)\n  none'],
  ])('tells of %s', (_, more, text) => {
    expect(render.renderTools({ ...selection, tools: [], dropped: [], ...more })).toBe(text);
  });
});

describe('a result for people', () => {
  const step = (id: string, tool: string, values: Record<string, unknown>, dependsOn: string[] = []) => ({
    id,
    tool,
    arguments: values,
    purpose: '',
    dependsOn,
  });
  const bodyOf = (result: PlanResult) => render.renderPlan(result).split('\n\n')[1];

  it('shows each step with its arguments, deeper than those it waits for', () => {
    const steps = [
      step('s1', 'find', { name: '盘石头水库' }),
      step('s2', 'read', { stcd: '${s1.stcd}', hours: 24, days: ['a'] }, ['s1']),
      step('s3', 'find', {}),
    ];
    expect(bodyOf({ kind: 'plan', goal: 'g', steps, levels: [['s1', 's3'], ['s2']], unserved: [], ...common })).toBe(
      [
        'Plan',
        '  s1  find',
        '       name: 盘石头水库',
        '    s2  read  after s1',
        '         stcd: ${s1.stcd}',
        '         hours: 24',
        '         days: ["a"]',
        '  s3  find',
      ].join('\n'),
    );
  });

  it('tells where each value comes from, what no tool does, and how sure the plan is', () => {
    const steps = [
      {
        ...step('s1', 'read', { stcd: '${s0.stcd}', hours: 24, id: '7' }),
        from: { stcd: 'step', hours: 'computed', id: 'unknown' } as const,
      },
    ];
    const more = { levels: [['s1']], unserved: ['the weather'], confidence: 0.731 };
    expect(
      bodyOf({ kind: 'plan', goal: 'g', steps, ...more, ...common })
        ?.split('\n')
        .slice(2),
    ).toEqual([
      '       stcd: ${s0.stcd}  step',
      '       hours: 24  computed',
      '       id: 7  ! unknown',
      '  no tool does  the weather',
      '  least sure decision: 73 %',
    ]);
  });

  it('shows a value of several lines, or with control characters, on one line', () => {
    const steps = [step('s1', 'write', { text: 'one\n  two\u001b[31m\u009b0m' })];
    const body = bodyOf({ kind: 'plan', goal: 'g', steps, levels: [['s1']], unserved: [], ...common });
    expect(body?.split('\n')).toHaveLength(3);
    for (const sign of ['\u001b', '\u009b']) expect(body).not.toContain(sign);
  });

  it('shows a question with what is missing, and the reason why there is no plan', () => {
    expect(bodyOf({ kind: 'clarification', question: 'Which?', missing: ['name', 'day'], ...common })).toBe(
      'A question back\n  Which?\n  missing: name, day',
    );
    expect(bodyOf({ kind: 'clarification', question: 'Which?', missing: [], ...common })).toBe(
      'A question back\n  Which?',
    );
    expect(bodyOf({ kind: 'unplannable', reason: 'No\u001b tool\nbooks.', ...common })).toBe(
      'No plan\n  No tool books.',
    );
  });
});
