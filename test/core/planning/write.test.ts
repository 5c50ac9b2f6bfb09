import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Tool } from '../../../src/core/catalog/tool.js';
import { checkPlan } from '../../../src/core/planning/check-plan.js';
import { groundSteps } from '../../../src/core/planning/ground.js';
import { readPlan } from '../../../src/core/planning/write.js';
import { parseRequest } from '../../../src/core/request.js';
import { createTool } from '../../support/create-tool.js';
import { createScriptedModel, type ScriptedAnswer } from '../../support/scripted-model.js';
import { makeTool, plannerOf, toolOf } from '../selection/setup.js';

const [text, number] = [{ type: 'string' }, { type: 'number' }];
const convert = toolOf('convert_currency', { amount: number });
const invoice = toolOf('create_invoice', { amount: number, day: text, note: text }, ['amount', 'day']);
const message = 'Convert 100 USD to EUR, then an invoice over it for 3/4/2026';

const stepsOf = (...steps: [tool: string, values: Record<string, unknown>][]) =>
  JSON.stringify({
    kind: 'plan',
    steps: steps.map(([tool, values], place) => ({ id: `s${place + 1}`, tool, arguments: values })),
  });
const planWith = (values: Record<string, unknown>) =>
  stepsOf(['convert_currency', { amount: 100 }], ['create_invoice', values]);
const VALID = planWith({ amount: '${s1.amount}', day: '3/4/2026' });

async function ask(answers: readonly ScriptedAnswer[], tools: readonly Tool[] = [convert, invoice]) {
  const model = createScriptedModel({ answers });
  const planner = plannerOf({ tools, model, options: { passthroughTools: 8, planTokens: 512 } });
  const outcome = await planner.plan({ message }).then(
    (result) => ({ result, error: undefined }),
    (error: unknown) => ({ result: undefined, error }),
  );
  model.assertDone();
  return { ...outcome, calls: model.calls };
}

describe('a plan by writing', () => {
  it.each<[string, Record<string, unknown>]>([
    ['takes a value from an earlier step', { amount: '${s1.amount}', day: '3/4/2026' }],
    ['has a number that nobody gave', { amount: 92, day: '3/4/2026' }],
    ['writes a day in another form', { amount: 100, day: '2026-04-03' }],
    ['leaves a number of the request out', { amount: 5, day: 'soon' }],
  ])('is the first valid answer, also where it %s', async (_, values) => {
    const { result } = await ask([planWith(values)]);
    expect(result).toMatchObject({
      kind: 'plan',
      steps: [{ arguments: { amount: 100 } }, { arguments: values }],
      usage: { planning: { calls: 1 } },
    });
    expect(result).not.toHaveProperty('confidence');
  });

  it('is repaired once, with every problem, and the trace tells', async () => {
    const { result, calls } = await ask([planWith({ amount: 'much' }), VALID]);
    expect(result).toMatchObject({ kind: 'plan', usage: { planning: { calls: 2 } } });
    const issues = ['s2.arguments.day: is required', 's2.arguments.amount: must be number, not string'];
    for (const issue of issues) expect(calls[1]?.prompt.user).toContain(`- ${issue}`);
    expect(calls[1]?.schema).toEqual(calls[0]?.schema);
    expect(result?.trace.at(-1)).toMatchObject({ note: 'the plan is repaired' });
    expect(new Set(Object(result?.trace.at(-1)).issues)).toEqual(new Set(issues));
  });

  it('is asked for again where it was cut', async () => {
    const { result, calls } = await ask([{ text: VALID.slice(0, 60), finish: 'length' }, VALID]);
    expect(result?.kind).toBe('plan');
    expect(calls[1]?.prompt.user).toContain('the answer was cut: write fewer steps');
  });

  it('is an error with its problems where the repair is no better', async () => {
    const { error } = await ask([stepsOf(['xyzzy', {}]), planWith({ amount: 1 })]);
    expect(error).toMatchObject({
      code: 'plan_invalid',
      issues: ['s2.arguments.day: is required'],
      details: { usage: { planning: { calls: 2 } }, tools: ['convert_currency', 'create_invoice'], steps: [] },
    });
  });

  it('tells where each argument comes from', async () => {
    const properties = {
      ...{ to: text, text, amount: number, lines: { type: 'array', items: text }, tone: { enum: ['warm', 'cold'] } },
      ...{ day: { ...text, format: 'date' }, copy: { type: 'boolean' }, limit: { type: 'integer', default: 7 } },
      account_id: text,
    };
    const send = toolOf('send_mail', properties, []);
    const values = {
      to: 'EUR',
      text: 'All is well, dear friend',
      amount: 100,
      lines: ['invoice', 'a word of thanks'],
      tone: 'warm',
      day: '2026-03-04',
      copy: true,
      limit: 7,
      account_id: 'acc-77',
    };
    const { result } = await ask(
      [stepsOf(['convert_currency', { amount: 93 }], ['send_mail', values])],
      [convert, send],
    );
    expect(result).toMatchObject({
      steps: [
        { from: { amount: 'unknown' } },
        {
          arguments: values,
          from: {
            to: 'request',
            text: 'composed',
            amount: 'request',
            lines: 'composed',
            tone: 'enum',
            day: 'computed',
            copy: 'enum',
            limit: 'default',
            account_id: 'unknown',
          },
        },
      ],
    });
  });
});

/** French, whose patterns take seconds to compile, is read in said.test.ts. */
const MESSAGES: readonly ((number: number, other: number, name: string, day: string) => string)[] = [
  (number, other, name, day) => `Delete ${number} and ${other} of ${name} before ${day}, but keep 130`,
  (number, other, name, day) => `Lösche ${number} und ${other} von ${name} vor dem ${day}, aber behalte 130`,
  (number, other, name, day) => `Borra ${number} y ${other} de ${name} antes del ${day}, pero conserva 130`,
  (number, other, name, day) => `Apague ${number} e ${other} de ${name} antes de ${day}, mas mantenha 130`,
  (number, other, name, day) => `Удали ${number} и ${other} у ${name} до ${day}, но оставь 130`,
  (number, other, name, day) => `${day}までに${name}の${number}と${other}を削除して、130は残してください`,
  (number, other, name, day) => `${day}之前删除${name}的${number}和${other}，不要删除130`,
];

const TOOLS = [
  toolOf(
    'delete_records',
    {
      ids: { type: 'array', items: { type: 'integer' } },
      account_id: text,
      before: { ...text, format: 'date' },
      mode: { enum: ['soft', 'hard'] },
    },
    ['ids'],
  ),
  makeTool('find_person', {
    inputSchema: {
      type: 'object',
      properties: { name: { type: 'string' }, age: { type: 'number' } },
      required: ['name'],
    },
    outputSchema: { type: 'object', properties: { account_id: { type: 'string' } } },
  }),
];

const anyNumber = fc.integer({ min: 1, max: 999 });
const anyName = fc.constantFrom('Ann', 'Jürgen', 'Zoë', 'Анна', '佐藤', '王芳', 'Müller & Söhne');
const anyDay = fc.constantFrom('2026-11-24', '3/4/2027', '24.12.2026', '11月24日');
const anyMessage = fc
  .tuple(fc.constantFrom(...MESSAGES), anyNumber, anyNumber, anyName, anyDay)
  .map(([write, ...values]) => write(...values));
const calls = {
  delete_records: fc.record(
    {
      ids: fc.array(anyNumber, { minLength: 1, maxLength: 4 }),
      account_id: fc.constantFrom('acc-1', '${s1.account_id}', 'Ann'),
      before: fc.constantFrom('2026-11-24', '2020-01-01'),
      mode: fc.constantFrom('soft', 'hard'),
    },
    { requiredKeys: ['ids'] },
  ),
  find_person: fc.record({ name: anyName, age: fc.integer({ min: 0, max: 130 }) }, { requiredKeys: ['name'] }),
};
const findPerson = calls.find_person.map((values) => ({
  tool: 'find_person',
  arguments: values as Record<string, unknown>,
}));
const remove = calls.delete_records.map((values) => ({
  tool: 'delete_records',
  arguments: values as Record<string, unknown>,
}));
/** The first step finds a person, so that others may refer to it. */
const anySteps = fc
  .tuple(findPerson, fc.array(fc.oneof(findPerson, remove), { maxLength: 4 }))
  .map(([first, more]) => [first, ...more].map((step, place) => ({ id: `s${place + 1}`, ...step })));

it('a valid first plan is never changed, whatever the request says: it is the plan, with one completion', async () => {
  await fc.assert(
    fc.asyncProperty(anyMessage, anySteps, async (message, steps) => {
      const answer = JSON.stringify({ kind: 'plan', steps });
      const model = createScriptedModel({ answers: () => answer });
      const options = { passthroughTools: 8, planning: 'write' } as const;
      const result = await plannerOf({ tools: TOOLS, model, options }).plan({ message, today: '2026-11-23' });
      expect(model.calls).toHaveLength(1);
      expect(
        result.kind === 'plan' && result.steps.map(({ id, tool, arguments: values }) => [id, tool, values]),
      ).toEqual(steps.map(({ id, tool, arguments: values }) => [id, tool, values]));
    }),
    { numRuns: 30 },
  );
}, 120_000);

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
const parse = (text: string) => readPlan({ text, finish: 'stop' }, CONTEXT);
const parseJson = (value: unknown) => parse(JSON.stringify(value));

const PLAN = {
  kind: 'plan',
  steps: [
    { id: 's1', tool: 'find', arguments: { name: 'a' } },
    { id: 's2', tool: 'read', arguments: { stcd: '${s1.stcd}' } },
  ],
};

describe('what a model wrote as a plan', () => {
  it('becomes a plan with the request as its goal, its dependencies and its levels', async () => {
    expect(await parseJson(PLAN)).toEqual({
      ok: true,
      value: {
        kind: 'plan',
        goal: 'read the level',
        steps: [
          { id: 's1', tool: 'find', arguments: { name: 'a' }, from: {}, purpose: '', dependsOn: [] },
          { id: 's2', tool: 'read', arguments: { stcd: '${s1.stcd}' }, from: {}, purpose: '', dependsOn: ['s1'] },
        ],
        levels: [['s1'], ['s2']],
        unserved: [],
      },
    });
  });

  it('may hold nulls for all that may be left out, or nothing', async () => {
    const stop = createTool('stop', { additionalProperties: false });
    const steps = [
      { id: 's1', tool: 'stop', arguments: null, dependsOn: null },
      { id: 's2', tool: 'stop' },
    ];
    const plan = JSON.stringify({ kind: 'plan', steps, question: null, missing: null });
    const written = await readPlan(
      { text: plan, finish: 'stop' },
      { tools: new Map([['stop', stop]]), message: 'stop' },
    );
    const step = { tool: 'stop', arguments: {}, purpose: '', dependsOn: [] };
    expect(written).toMatchObject({ ok: true, value: { kind: 'plan', steps: [step, step] } });
    const question = { kind: 'clarification', question: 'which?', missing: null, steps: null };
    expect(await parseJson(question)).toMatchObject({ ok: true, value: { question: 'which?', missing: [] } });
  });

  it.each([
    ['nothing', '', 'the answer is empty'],
    ['another kind', '{"kind":"poem"}', 'kind: '],
    ['a plan without steps', '{"kind":"plan","steps":[]}', 'steps: '],
    ['a step without an id', '{"kind":"plan","steps":[{"tool":"find","arguments":{}}]}', 'steps.0.id: '],
    ['a question without words', '{"kind":"clarification","question":""}', 'question: '],
  ])('is refused with its place: %s', async (_, text, start) => {
    const parsed = await parse(text);
    expect(parsed).toMatchObject({ ok: false, issues: [expect.stringContaining(start)] });
  });

  it.each([
    ['a question', { kind: 'clarification', question: 'Which one?', missing: ['name'] }, { unserved: [] }],
    [
      'a question about nothing in particular',
      { kind: 'clarification', question: 'Which one?' },
      { missing: [], unserved: [] },
    ],
    ['a tool that is missing', { kind: 'needTools', needTools: 'one that books' }, {}],
    ['that there is no plan', { kind: 'unplannable', reason: 'no tool books' }, {}],
  ])('may be %s', async (_, answer, more) => {
    expect(await parseJson(answer)).toEqual({ ok: true, value: { ...answer, ...more } });
  });
});

/** What nobody said is never told as said. */
async function sourcesOf(message: string, values: Record<string, unknown>, schema: Record<string, unknown>) {
  const tools = new Map([['t', makeTool('t', { inputSchema: { type: 'object', ...schema } })]]);
  const checked = await checkPlan([{ id: 's1', tool: 't', arguments: values }], tools, { defaults: true });
  if (!checked.ok) throw new Error(checked.issues.join());
  const request = parseRequest({ message, today: '2026-11-23', timeZone: 'UTC' });
  const [step] = await groundSteps(checked.steps, { tools, request });
  return step?.from;
}

describe('the source of a written value', () => {
  it.each<[string, unknown, object, string]>([
    ['Clean up my old drafts', '/', text, 'unknown'],
    ['Clean up my old drafts', '*', text, 'composed'],
    ['Pay Ann 10.50 euros', 1050, number, 'unknown'],
    ['Pay Ann for room 1504', 50, number, 'unknown'],
    ['Pay Ann 1504 euros', 1504, number, 'request'],
    ['Transfer 5 to code 123', 'DE12', text, 'unknown'],
    ['Pay to acct-123', 'acct-12', text, 'unknown'],
    ['Pay to acct-123.', 'acct-123', text, 'request'],
    ['Show the annual report', 'ann', text, 'composed'],
    ['Show the report of Ann', 'ann', text, 'request'],
    ['查一下修武站5号的水位', '修武站', text, 'request'],
    ['查一下修武站5号的水位', 5, number, 'request'],
    ['Hello', '', text, 'composed'],
    ['Hello', [], { type: 'array', items: text }, 'composed'],
    ['Remind me tomorrow', '2', text, 'unknown'],
    ['Remind me tomorrow', '2026-11-24T03:17', text, 'unknown'],
    ['Remind me tomorrow', '2026-11-24', text, 'computed'],
    ['Remind me tomorrow at 3 pm', '2026-11-24T15:00:00Z', text, 'computed'],
    ['Wait for two hours, please', 120, number, 'computed'],
    ['A loan over 3 years, please', 36, number, 'computed'],
    ['A loan over 3 years, please', 37, number, 'unknown'],
    ['A loan at 7%, please', 0.07, number, 'computed'],
  ])('in "%s" of %j is told', async (message, value, schema, source) => {
    expect(await sourcesOf(message, { value }, { properties: { value: schema } })).toEqual({ value: source });
  });

  it('is the default where the schema filled it in, whatever its type', async () => {
    const properties = {
      said: text,
      force: { type: 'boolean', default: true },
      unit: { enum: ['C', 'F'], default: 'C' },
      options: { type: 'object', default: { zone: 'eu-1' } },
      tags: { type: 'array', items: text, default: ['all'] },
    };
    expect(await sourcesOf('Hello', { said: 'Hello' }, { properties })).toEqual({
      said: 'request',
      force: 'default',
      unit: 'default',
      options: 'default',
      tags: 'default',
    });
  });

  it('is found behind references of the schema, also inside of objects', async () => {
    const where = { type: 'object', properties: { unit: { $ref: '#/$defs/Unit' } } };
    const schema = { $defs: { Unit: { enum: ['C', 'F'] } }, properties: { where } };
    expect(await sourcesOf('Weather', { where: { unit: 'C' } }, schema)).toEqual({ where: 'enum' });
  });
});
