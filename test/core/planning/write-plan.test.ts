import { describe, expect, it } from '@jest/globals';
import type { Tool } from '../../../src/core/catalog/tool.js';
import type { Completion } from '../../../src/core/model/model.js';
import { createScriptedModel, type ScriptedAnswer } from '../../support/scripted-model.js';
import { makeTool, plannerOf } from '../selection/setup.js';

const convert = makeTool('convert_currency', {
  inputSchema: { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] },
});
const invoice = makeTool('create_invoice', {
  inputSchema: {
    type: 'object',
    properties: { amount: { type: 'number' }, day: { type: 'string' }, note: { type: 'string' } },
    required: ['amount', 'day'],
  },
});
const MESSAGE = 'Convert 100 USD to EUR, then an invoice over it for 3/4/2026';

const planWith = (values: Record<string, unknown>) =>
  JSON.stringify({
    kind: 'plan',
    steps: [
      { id: 's1', tool: 'convert_currency', arguments: { amount: 100 } },
      { id: 's2', tool: 'create_invoice', arguments: values },
    ],
  });
const cutIn = (values: string, finish: Completion['finish'] = 'loop'): Completion => ({
  text: `{"kind":"plan","steps":[{"id":"s1","tool":"create_invoice","arguments":{${values}`,
  finish,
  usage: { calls: 1, read: 10, cached: 0, written: 90 },
});

const plan = (...answers: ScriptedAnswer[]) => planOf(MESSAGE, ...answers);

async function planOf(message: string, ...answers: ScriptedAnswer[]) {
  return planWithTools([convert, invoice], message, ...answers);
}

async function planWithTools(tools: Tool[], message: string, ...answers: ScriptedAnswer[]) {
  const model = createScriptedModel({ answers, limits: { tuples: true } });
  const options = { passthroughTools: 8, planTokens: 512 };
  const planner = plannerOf({ tools, model, options });
  const result = await planner.plan({ message });
  model.assertDone();
  const { calls } = model;
  const [first, second] = calls;
  return { result, calls, first, second, isSamePrompt: second?.prompt.user === first?.prompt.user };
}

const schemaText = (call: { schema?: { schema: unknown } } | undefined) => JSON.stringify(call?.schema?.schema);

describe('a second attempt at a plan', () => {
  it('has only a reference where the first made a value up, and is the same question', async () => {
    const right = { amount: '${s1.amount}', day: '3/4/2026' };
    const { result, first, second, isSamePrompt } = await plan(
      planWith({ amount: 92, day: '3/4/2026' }),
      planWith(right),
    );
    expect(result).toMatchObject({ kind: 'plan', steps: [{}, { arguments: right, dependsOn: ['s1'] }] });
    expect(isSamePrompt).toBe(true);
    expect(schemaText(first)).toContain('"amount":{"anyOf":[{"type":"number"}');
    expect(schemaText(second)).toMatch(
      /"const":"create_invoice"[^}]*\},"arguments":\{[^}]*"amount":\{"type":"string","pattern"/u,
    );
    expect(result.trace.at(-1)?.note).toBe('the plan is doubted, and asked for once more');
    expect(result.trace.at(-1)?.issues).toEqual([
      's2.arguments.amount: nobody gave this value; refer to the step that finds it',
    ]);
  });

  it.each([
    ['no plan', 'no plan'],
    ['a question', '{"kind":"clarification","question":"How much?","missing":[]}'],
    ['a reason', '{"kind":"unplannable","reason":"there is no sum"}'],
    ['a wish for tools', '{"kind":"needTools","needTools":"sums"}'],
    [
      'a plan that leaves a step out',
      '{"kind":"plan","steps":[{"id":"s1","tool":"convert_currency","arguments":{"amount":100}}]}',
    ],
    ['another value that nobody gave', planWith({ amount: 77, day: '3/4/2026' })],
  ])('that brings %s leaves the first plan, and says so', async (_, second) => {
    const first = { amount: 92, day: '3/4/2026' };
    const { result } = await plan(planWith(first), second);
    expect(result).toMatchObject({ kind: 'plan', steps: [{}, { arguments: first, dependsOn: [] }] });
    expect(result.trace.at(-1)?.note).toBe('what is doubted in the plan stays');
  });

  it('is told what the request states and no step uses', async () => {
    const converts = (...amounts: number[]) => {
      const steps = amounts.map((amount, place) => ({
        id: `s${place + 1}`,
        tool: 'convert_currency',
        arguments: { amount },
      }));
      return JSON.stringify({ kind: 'plan', steps });
    };
    const { result, second } = await planOf('Convert 120 USD and 75 USD to EUR', converts(120), converts(120, 75));
    expect(result).toMatchObject({
      kind: 'plan',
      steps: [{ arguments: { amount: 120 } }, { arguments: { amount: 75 } }],
    });
    expect(JSON.stringify(second?.prompt)).toContain(
      'no step uses 75, which the request states: does it belong into one?',
    );
    const { result: unchanged } = await planOf('Convert 120 USD and 75 USD to EUR', converts(120), converts(120));
    expect(unchanged).toMatchObject({ kind: 'plan', steps: [{ arguments: { amount: 120 } }] });
    expect(unchanged.trace.at(-1)?.note).toBe('what is doubted in the plan stays');
  });

  describe('where a reference names a field that the result lacks', () => {
    const find = makeTool('find_person', {
      inputSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
      outputSchema: {
        type: 'object',
        properties: { title: { type: 'string' }, age: { type: 'integer' } },
      },
    });
    const rate = makeTool('rate_person', {
      inputSchema: {
        type: 'object',
        properties: { stars: { type: 'integer' }, note: { type: 'string' } },
        required: ['stars', 'note'],
      },
      outputSchema: { type: 'object', properties: { score: { type: 'integer' } } },
    });
    const rated = (stars: unknown, note: string) =>
      JSON.stringify({
        kind: 'plan',
        steps: [
          { id: 's1', tool: 'find_person', arguments: { name: 'Anna' } },
          { id: 's2', tool: 'rate_person', arguments: { stars, note } },
        ],
      });
    const ask = (...answers: ScriptedAnswer[]) =>
      planWithTools([find, rate], 'Find the person Anna and rate her with 4 stars and a note', ...answers);

    const wrong = rated('${s1.score}', '${s1.name}');

    it('is told of it, and a third can name only fields that it has, or a value', async () => {
      const { result, calls } = await ask(wrong, wrong, rated(4, 'good'));
      expect(result).toMatchObject({ kind: 'plan', steps: [{}, { arguments: { stars: 4, note: 'good' } }] });
      const [first, second, third] = calls;
      expect(second?.prompt.user).toContain('has no field score');
      expect(schemaText(second)).toBe(schemaText(first));
      expect(schemaText(first)).toContain('(\\\\.age|\\\\.score)');
      expect(schemaText(third)).toContain(
        '"stars":{"anyOf":[{"type":"integer"},{"type":"string","pattern":"^\\\\$\\\\{s[1-1](\\\\.age)',
      );
      expect(schemaText(third)).toContain('"note":{"anyOf":[{"type":"string","pattern":"^([^$]|[$]+[^${])*[$]*$"},');
    });

    it.each([
      ['more is wrong', rated('${s1.score}', 5 as unknown as string)],
      ['it stands in a longer text', rated(4, 'as ${s1.name} is')],
    ])('is told of it and nothing else where %s', async (_, written) => {
      await expect(ask(written, written)).rejects.toMatchObject({ code: 'plan_invalid' });
    });
  });

  describe('where a step runs on an identifier that nobody gave', () => {
    const schema = (property: string) => ({
      type: 'object',
      properties: { [property]: { type: 'string' } },
      required: [property],
    });
    const translate = makeTool('translate_text', { inputSchema: schema('text'), description: 'Translates a text' });
    const save = makeTool('save_file', { inputSchema: schema('project_id'), description: 'Saves a file' });
    const steps = (...list: [tool: string, values: Record<string, string>][]) =>
      JSON.stringify({
        kind: 'plan',
        steps: list.map(([tool, values], place) => ({ id: `s${place + 1}`, tool, arguments: values })),
      });
    const hello: [string, Record<string, string>] = ['translate_text', { text: 'Hello' }];
    const saved: [string, Record<string, string>] = ['save_file', { project_id: 'prj-9f3a' }];
    const question = '{"kind":"clarification","question":"Which project?","missing":["project_id"]}';
    /** The first answer is the selection: what it does not name fills free room. */
    const ask = async (message: string, chosen: string[], ...answers: ScriptedAnswer[]) => {
      const selected = JSON.stringify({ selected_tools: chosen });
      const model = createScriptedModel({ answers: [selected, ...answers], limits: { tuples: true } });
      const options = { passthroughTools: 0, fillTokens: 800 };
      const result = await plannerOf({ tools: [translate, save], model, options }).plan({ message });
      model.assertDone();
      const [, first, second] = model.calls;
      return { result, first, second };
    };
    const MESSAGE = 'Translate the text "Hello" for the project';
    const notesOf = ({ trace }: { trace: readonly { note: string }[] }) => trace.map(({ note }) => note);
    const LEFT_OUT = 'steps are left out that run on an identifier which nobody gave';

    it('can write no step of its tool where it only fills free room and the request does not call it', async () => {
      const { result, first, second } = await ask(MESSAGE, ['translate_text'], steps(hello, saved), steps(hello));
      expect(result).toMatchObject({ kind: 'plan', steps: [{ tool: 'translate_text' }] });
      const isWritable = [first, second].map((call) => schemaText(call).includes('save_file'));
      expect(isWritable).toEqual([true, false]);
      expect(second?.prompt.user).toBe(first?.prompt.user);
      expect(result.trace.at(-1)).toMatchObject({ note: LEFT_OUT, tools: ['save_file'] });
    });

    it('may not lose the other steps, also where one of the tool has its identifier', async () => {
      const { result } = await ask(MESSAGE, ['translate_text'], steps(hello, saved), question);
      expect(result).toMatchObject({ kind: 'plan', steps: [{}, { tool: 'save_file' }] });
      expect(notesOf(result)).toContain('what is doubted in the plan stays');
      const known: typeof saved = ['save_file', { project_id: 'project' }];
      const both = await ask(MESSAGE, ['translate_text'], steps(hello, known, saved), steps(hello));
      expect(both.result).toMatchObject({ kind: 'plan', steps: [{}, {}, { tool: 'save_file' }] });
      expect(schemaText(both.second)).toContain('save_file');
    });

    it.each([
      ['was chosen', MESSAGE, ['translate_text', 'save_file']],
      ['is called by the request', 'Translate the text "Hello", then save a file of it', ['translate_text']],
    ])('is told of it where the tool %s, and may not leave it out', async (_, message, chosen) => {
      const { result, second } = await ask(message, chosen, steps(hello, saved), steps(hello));
      expect(schemaText(second)).toContain('save_file');
      expect(JSON.stringify(second?.prompt)).toContain('s2.arguments.project_id: nobody gave this identifier');
      expect(result).toMatchObject({ kind: 'plan', steps: [{}, { tool: 'save_file' }] });
      expect(notesOf(result)).not.toContain(LEFT_OUT);
    });

    it('may ask where all steps do', async () => {
      const { result } = await ask('Save a file', ['save_file'], steps(saved), question);
      expect(result).toMatchObject({ kind: 'clarification', question: 'Which project?' });
      const { result: other } = await ask('Save a file', ['save_file'], steps(saved), steps(hello));
      expect(other).toMatchObject({ kind: 'plan', steps: [{ tool: 'save_file' }] });
    });
  });

  it('is not told a part of the request that may be of a secret', async () => {
    const secret = { type: 'string', writeOnly: true };
    const reset = makeTool('reset_user', {
      inputSchema: { type: 'object', properties: { user: { type: 'string' }, password: secret }, required: ['user'] },
    });
    const plan = '{"kind":"plan","steps":[{"id":"s1","tool":"reset_user","arguments":{"user":"ann"}}]}';
    const { result, second } = await planWithTools([reset], 'Reset ann, with the password tr0ub!48219', plan, plan);
    expect(second?.prompt.user).toContain('no step uses one of the values');
    expect(second?.prompt.user.split('48219')).toHaveLength(2);
    expect(JSON.stringify(result.trace)).not.toContain('48219');
  });

  it('has only the days of the request to choose from where the first took another', async () => {
    const onDay = (day: string) => planWith({ amount: '${s1.amount}', day });
    const { result, second, isSamePrompt } = await planOf(
      'Convert 100 USD to EUR, then an invoice over it for December 4, 2026',
      onDay('2026-11-22'),
      onDay('2026-12-04'),
    );
    expect(result).toMatchObject({ kind: 'plan', steps: [{}, { arguments: { day: '2026-12-04' } }] });
    expect(isSamePrompt).toBe(true);
    expect(schemaText(second)).toContain(
      '"day":{"anyOf":[{"type":"string","enum":["2026-12-04"]},{"type":"string","pattern"',
    );
  });

  it('is not made where the request gave all', async () => {
    const { result } = await plan(planWith({ amount: '${s1.amount}', day: '3/4/2026' }));
    expect(result.usage.planning.calls).toBe(1);
  });

  it('can write no optional argument that ran on without end', async () => {
    const { result, second, isSamePrompt } = await plan(
      cutIn('"amount":100,"day":"3/4/2026","note":"so so so so'),
      planWith({ amount: '${s1.amount}', day: '3/4/2026' }),
    );
    expect(result.kind).toBe('plan');
    expect(isSamePrompt).toBe(true);
    expect(schemaText(second)).toContain('create_invoice');
    expect(schemaText(second)).not.toContain('"note"');
  });

  it('has no plan to write where a required argument ran in a loop: there is no value for it', async () => {
    const question = { question: 'Which day?', missing: ['day'] };
    const { result, second } = await plan(
      cutIn('"amount":100,"day":"so so so so'),
      JSON.stringify({ kind: 'clarification', ...question }),
    );
    expect(result).toMatchObject({ kind: 'clarification', ...question });
    expect(schemaText(second)).toContain('clarification');
    expect(schemaText(second)).not.toContain('steps');
  });

  it('can write no step of a tool that the request does not speak of where a required argument ran in a loop', async () => {
    const { result, second } = await planOf(
      'An invoice over 100 USD',
      { ...cutIn(''), text: '{"kind":"plan","steps":[{"id":"s1","tool":"convert_currency","arguments":{"amount":1111' },
      '{"kind":"plan","steps":[{"id":"s1","tool":"create_invoice","arguments":{"amount":100,"day":"today"}}]}',
    );
    expect(result).toMatchObject({ kind: 'plan', steps: [{ tool: 'create_invoice' }] });
    expect(schemaText(second)).not.toContain('convert_currency');
    expect(schemaText(second)).toContain('create_invoice');
  });

  it('that runs in a loop, too, is the last: a question or a reason is left', async () => {
    const { result } = await plan(
      cutIn('"amount":100,"day":"3/4/2026","note":"so so so so'),
      cutIn('"amount":100,"day":"so so so so'),
      '{"kind":"unplannable","reason":"no day"}',
    );
    expect(result).toMatchObject({ kind: 'unplannable', reason: 'no day', usage: { planning: { calls: 3 } } });
  });

  it('is told what was wrong where a long required argument met the limit', async () => {
    const answer = planWith({ amount: '${s1.amount}', day: '3/4/2026' });
    const { result, first, second } = await plan(cutIn('"amount":100,"day":"a long story', 'length'), answer);
    expect(result.kind).toBe('plan');
    expect(second?.prompt.user).toContain('the answer was cut');
    expect(schemaText(second)).toBe(schemaText(first));
  });
});

it('does not say what tools wait for that only fill free room', async () => {
  const ids = { type: 'object', properties: { city_id: { type: 'string' } }, required: ['city_id'] };
  const tools = [
    makeTool('find_city', {
      inputSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
      outputSchema: ids,
    }),
    makeTool('show_weather', { inputSchema: ids, description: 'The weather of a city' }),
    makeTool('show_map', { inputSchema: ids, description: 'The map of a city' }),
  ];
  const steps = [
    { id: 's1', tool: 'find_city', arguments: { name: 'Paris' } },
    { id: 's2', tool: 'show_weather', arguments: { city_id: '${s1.city_id}' } },
  ];
  const answers = ['{"selected_tools":["show_weather"]}', JSON.stringify({ kind: 'plan', steps })];
  const model = createScriptedModel({ answers, limits: { tuples: true } });
  const options = { passthroughTools: 0, fillTokens: 800 };
  const { kind } = await plannerOf({ tools, model, options }).plan({ message: 'The weather of the city of Paris' });
  const [, planning] = model.calls;
  expect(kind).toBe('plan');
  expect(planning?.prompt.user).toContain('show_weather needs what find_city finds.');
  expect(planning?.prompt.system + (planning?.prompt.user ?? '')).toContain('show_map');
  expect(planning?.prompt.user).not.toContain('show_map needs');
  // It can be called all the same, and only with a reference.
  expect(schemaText(planning)).toMatch(
    /"const":"show_map"\},"arguments":\{[^}]*"city_id":\{"type":"string","pattern"/u,
  );
});

it('has room for a step for each of many things', async () => {
  const amounts = Array.from({ length: 10 }, (_, place) => 20 + place);
  const steps = amounts.map((amount, place) => ({
    id: `s${place + 1}`,
    tool: 'convert_currency',
    arguments: { amount },
  }));
  const message = `Convert ${amounts.map((amount) => `${amount} USD`).join(', ')}`;
  const { result, first } = await planOf(message, JSON.stringify({ kind: 'plan', steps }));
  expect(result).toMatchObject({ kind: 'plan', steps: { length: 10 } });
  expect(schemaText(first)).toContain('"maxItems":12');
});

describe('a date of the request that can be read in two ways', () => {
  it('is in the plan as the user wrote it', async () => {
    const { result } = await plan(planWith({ amount: '${s1.amount}', day: '2026-04-03' }));
    expect(result).toMatchObject({ steps: [{}, { arguments: { day: '3/4/2026' } }] });
  });
});
