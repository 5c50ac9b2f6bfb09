import { describe, expect, it } from '@jest/globals';
import { readPlan } from '../../../src/core/planning/read-plan.js';
import { createTool } from '../../support/create-tool.js';

const find = createTool('find', {
  properties: { name: { type: 'string' } },
  required: ['name'],
  additionalProperties: false,
});
const read = createTool('read', {
  properties: { stcd: { type: 'string' } },
  required: ['stcd'],
  additionalProperties: false,
});
const CONTEXT = { tools: new Map([find, read].map((tool) => [tool.name, tool])), message: 'read the level' };
const parse = (text: string, finish: 'stop' | 'length' = 'stop') => readPlan({ text, finish }, CONTEXT);
const parseJson = (value: unknown) => parse(JSON.stringify(value));

const PLAN = {
  kind: 'plan',
  steps: [
    { id: 's1', tool: 'find', arguments: { name: 'a' } },
    { id: 's2', tool: 'read', arguments: { stcd: '${s1.stcd}' } },
  ],
};

describe('what a model wrote as a plan', () => {
  it('becomes a plan with its goal, its dependencies and its levels', () => {
    expect(parseJson({ ...PLAN, goal: 'own words' })).toEqual({
      ok: true,
      value: {
        kind: 'plan',
        goal: 'own words',
        steps: [
          { id: 's1', tool: 'find', arguments: { name: 'a' }, from: {}, purpose: '', dependsOn: [] },
          { id: 's2', tool: 'read', arguments: { stcd: '${s1.stcd}' }, from: {}, purpose: '', dependsOn: ['s1'] },
        ],
        levels: [['s1'], ['s2']],
        unserved: [],
      },
    });
  });

  it('may hold nulls for all that may be left out', () => {
    const stop = createTool('stop', { additionalProperties: false });
    const steps = [{ id: null, tool: 'stop', arguments: null, dependsOn: null, purpose: null }];
    const plan = JSON.stringify({ kind: 'plan', goal: null, steps, question: null, missing: null });
    const written = readPlan({ text: plan, finish: 'stop' }, { tools: new Map([['stop', stop]]), message: 'stop' });
    const step = { id: 's1', tool: 'stop', arguments: {}, purpose: '', dependsOn: [] };
    expect(written).toMatchObject({ ok: true, value: { kind: 'plan', goal: 'stop', steps: [step] } });
    const question = { kind: 'clarification', question: 'which?', missing: null, steps: null };
    expect(parseJson(question)).toMatchObject({ ok: true, value: { question: 'which?', missing: [] } });
  });

  it('has the request as its goal where the model gave none', () => {
    expect(parseJson(PLAN)).toMatchObject({ ok: true, value: { goal: 'read the level' } });
  });

  it.each([
    ['in a fence', `\`\`\`json\n${JSON.stringify(PLAN, null, 2)}\n\`\`\``],
    ['with words around it', `Here you are: ${JSON.stringify(PLAN)} Anything else?`],
    ['with a fence and words', `Sure.\n\`\`\`\n${JSON.stringify(PLAN)}\n\`\`\`\nDone.`],
  ])('is read %s', (_, text) => {
    expect(parse(text)).toMatchObject({ ok: true, value: { kind: 'plan' } });
  });

  it('may number its steps, leave arguments out of a step that has none, and ids in front', () => {
    const stop = createTool('stop', { additionalProperties: false });
    const steps = [
      { id: 1, tool: 'stop' },
      { id: 2, tool: 'stop', arguments: {} },
    ];
    const parsed = readPlan(
      { text: JSON.stringify({ kind: 'plan', steps }), finish: 'stop' },
      { tools: new Map([['stop', stop]]), message: '' },
    );
    expect(parsed).toMatchObject({ ok: true, value: { steps: [{ id: 's1', arguments: {} }, { id: 's2' }] } });
  });

  it.each<[string, string, 'stop' | 'length', string]>([
    ['nothing', '', 'stop', 'the answer is empty'],
    ['words alone', 'I can not do that.', 'stop', 'the answer holds no complete JSON'],
    ['an answer that was cut', JSON.stringify(PLAN).slice(0, 60), 'length', 'the answer was cut: write fewer steps'],
    [
      'an answer that stops in the middle',
      JSON.stringify(PLAN).slice(0, 60),
      'stop',
      'the answer holds no complete JSON',
    ],
    ['a list', '[]', 'stop', 'answer: '],
    ['another kind', '{"kind":"poem"}', 'stop', 'kind: '],
    ['no kind', '{"steps":[]}', 'stop', 'kind: '],
    ['a plan without steps', '{"kind":"plan","steps":[]}', 'stop', 'steps: '],
    ['steps that are texts', '{"kind":"plan","steps":["find"]}', 'stop', 'steps.0: '],
    ['a step without a tool', '{"kind":"plan","steps":[{"id":"s1","arguments":{}}]}', 'stop', 'steps.0.tool: '],
    [
      'arguments that are a list',
      '{"kind":"plan","steps":[{"id":"s1","tool":"find","arguments":[]}]}',
      'stop',
      'steps.0.arguments: ',
    ],
    [
      'a step with a wrong argument',
      '{"kind":"plan","steps":[{"id":"s1","tool":"find","arguments":{"name":1}}]}',
      'stop',
      's1.arguments.name: must be string',
    ],
    ['a question without words', '{"kind":"clarification","question":""}', 'stop', 'question: '],
    ['a lack without words', '{"kind":"needTools"}', 'stop', 'needTools: '],
    ['no reason', '{"kind":"unplannable"}', 'stop', 'reason: '],
  ])('is refused with its place: %s', (_, text, finish, start) => {
    const parsed = parse(text, finish);
    expect(parsed).toMatchObject({ ok: false, issues: [expect.stringContaining(start)] });
  });

  it.each([
    ['a question', { kind: 'clarification', question: 'Which one?', missing: ['name'] }, {}],
    ['a question about nothing in particular', { kind: 'clarification', question: 'Which one?' }, { missing: [] }],
    ['a tool that is missing', { kind: 'needTools', needTools: 'one that books' }, {}],
    ['that there is no plan', { kind: 'unplannable', reason: 'no tool books' }, {}],
  ])('may be %s', (_, answer, more) => {
    expect(parseJson(answer)).toEqual({ ok: true, value: { ...answer, ...more } });
  });

  it('tells all that is wrong with the steps at once', () => {
    const parsed = parseJson({
      kind: 'plan',
      steps: [
        { id: 's1', tool: 'lose', arguments: {} },
        { id: 's2', tool: 'read', arguments: {} },
      ],
    });
    expect(parsed).toMatchObject({
      ok: false,
      issues: [expect.stringContaining('s1.tool'), expect.stringContaining('s2.arguments.stcd')],
    });
  });

  it('may have steps without ids', () => {
    const steps = [
      { tool: 'find', arguments: { name: 'a' } },
      { tool: 'find', arguments: { name: 'b' } },
    ];
    expect(parseJson({ kind: 'plan', steps })).toMatchObject({
      ok: true,
      value: { steps: [{ id: 's1' }, { id: 's2' }] },
    });
  });
});
