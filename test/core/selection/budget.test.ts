/** Budgets of selection: tokens of schemas and summaries, and models with small contexts. */
import { afterEach, describe, expect, it } from 'vitest';
import { WinnowError } from '../../../src/core/errors.js';
import { estimateTokens } from '../../../src/core/model/count-tokens.js';
import { createOpenAIModel } from '../../../src/core/model/openai/openai-model.js';
import type { PlanRequest } from '../../../src/core/request.js';
import { createSchemaTokens } from '../../../src/core/selection/budget.js';
import { createSheet } from '../../../src/core/selection/ladder.js';
import { parseAnswer } from '../../../src/core/selection/list.js';
import { createScriptedModel, type ScriptedAnswer } from '../../support/scripted-model.js';
import { type RecordedRequest, type ScriptedServer, startScriptedServer } from '../../support/scripted-server.js';
import { answer, fail } from '../../support/server-behaviours.js';
import { makeTool, namesOf, naming, needing, plannerOf, planOf, TOOLS } from './setup.js';

const LONG = 'word '.repeat(600);
const LARGE = Array.from({ length: 12 }, (_, place) => makeTool(`large_${place}`, { description: `${place} ${LONG}` }));
/** Their schemas are small, and what planning is shown of them is not. */
const SKILLS = Array.from({ length: 12 }, (_, place) =>
  makeTool(`skill_${place}`, { toolType: 'skill', instructions: LONG }),
);
const TELLING = Array.from({ length: 12 }, (_, place) =>
  makeTool(`telling_${place}`, { outputSchema: { type: 'object', properties: { x: { description: LONG } } } }),
);

const modelWith = (contextTokens: number, answers: readonly ScriptedAnswer[]) =>
  createScriptedModel({ answers, limits: { contextTokens } });

describe('few tools that are large', () => {
  it.each([
    ['descriptions', LARGE],
    ['instructions', SKILLS],
    ['results', TELLING],
  ])('are chosen from where their %s leave no room for a plan', async (_, tools) => {
    const options = { passthroughTools: 15, summaryTokens: 20_000 };
    const [first = ''] = tools.map(({ name }) => name);
    const small = createScriptedModel({
      answers: [naming(first)],
      limits: { contextTokens: 100_000 },
    });
    const planning = modelWith(8_000, []);
    const chosen = await plannerOf({ tools, model: small, planningModel: planning, options }).select({ message: 'x' });
    expect(chosen.mode).toBe('selected');
    expect(namesOf(chosen)).toEqual([first]);
    const all = await plannerOf({ tools, model: modelWith(100_000, []), options }).select({ message: 'x' });
    expect(all.mode).toBe('passthrough');
  });
});

describe('chosen tools', () => {
  it.each([
    ['descriptions', LARGE],
    ['instructions', SKILLS],
  ])('are cut where their %s are more than the planning model can read', async (_, tools) => {
    const names = tools.map(({ name }) => name);
    const planning = modelWith(4_000, []);
    const model = modelWith(100_000, [naming(...names.slice(0, 8))]);
    const options = { summaryTokens: 20_000, schemaTokens: 100_000 };
    const { tools: kept, dropped } = await plannerOf({ tools, model, planningModel: planning, options }).select({
      message: 'x',
    });
    expect(kept.length).toBeGreaterThan(0);
    expect(kept.length).toBeLessThan(8);
    expect(dropped).toContainEqual({ name: names[7], reason: 'schemaTokens' });
  });

  it.each([
    ['descriptions', LARGE],
    ['instructions', SKILLS],
  ])('of two rounds share one budget, by what planning shows of their %s', async (_, tools) => {
    const [first = '', second = '', third = '', fourth = ''] = tools.map(({ name }) => name);
    const needed = JSON.stringify({ kind: 'needTools', needTools: 'more' });
    const model = modelWith(100_000, [naming(first, second), needed, naming(third), planOf(first)]);
    const options = { summaryTokens: 20_000, schemaTokens: 2_000 };
    const { selection } = await plannerOf({ tools, model, options }).plan({ message: 'x' });
    // Each takes about 700: two were loaded, and of the third only the one that a choice always keeps.
    expect(namesOf(selection)).toEqual([first, second, third]);
    const more = modelWith(100_000, [naming(first, second), needed, naming(third, fourth), planOf(first)]);
    const both = await plannerOf({ tools, model: more, options }).plan({ message: 'x' });
    expect(both.selection.dropped).toContainEqual({ name: fourth, reason: 'schemaTokens' });
  });

  it('of a failed selection fit with their instructions', async () => {
    const down = new WinnowError('model_failed', 'the server is down');
    const planning = modelWith(4_000, []);
    const model = modelWith(100_000, [down]);
    const chosen = await plannerOf({ tools: [...SKILLS, ...TOOLS], model, planningModel: planning }).select({
      message: 'skill',
    });
    expect(chosen.mode).toBe('fallback');
    expect(namesOf(chosen).filter((name) => name.startsWith('skill')).length).toBeLessThan(4);
    expect(chosen.leftOut).toBeGreaterThan(0);
  });
});

it('counts what a schema costs in the tokens of the model, once a tool', () => {
  const counted: string[] = [];
  const model = {
    ...createScriptedModel(),
    countTokens: (text: string) => {
      counted.push(text);
      return text.length;
    },
  };
  const tool = makeTool('read_mail', { description: 'Reads.', inputSchema: needing('id') });
  const tokens = createSchemaTokens(model)(tool);
  expect(createSchemaTokens(model)(tool)).toBe(tokens);
  expect(counted).toHaveLength(1);
  expect(JSON.parse(counted[0] ?? '')).toEqual({
    name: 'read_mail',
    description: 'Reads.',
    parameters: tool.inputSchema,
  });
  expect(createSchemaTokens(createScriptedModel())(tool)).not.toBe(tokens);
});

/** The path of a request on a server that refuses, as vLLM does, a prompt and an answer that are more than its context together. */
describe('a small context', () => {
  const properties = Object.fromEntries(
    Array.from({ length: 8 }, (_, place) => [
      `argument_${place}`,
      { type: 'string', description: 'what is done, and why' },
    ]),
  );
  const TOOLS = Array.from({ length: 60 }, (_, place) =>
    makeTool(`tool_${place}`, {
      description: `Handles matter ${place}. ${'Word '.repeat(40)}`,
      inputSchema: { properties },
    }),
  );
  const HISTORY = [{ role: 'user' as const, content: 'please do it '.repeat(160) }];

  let server: ScriptedServer | undefined;
  afterEach(async () => {
    await server?.close();
    server = undefined;
  });

  const textOf = ({ body }: RecordedRequest) =>
    (body.messages as { content: string }[]).map(({ content }) => content).join('\n');
  const isSelection = (request: RecordedRequest) => textOf(request).includes('You choose tools');

  async function plan(contextTokens: number, { request = {}, fails = false } = {}) {
    server = await startScriptedServer((asked) => {
      // Its tokenizer counts a little higher than the estimate.
      const tokens = Math.ceil(estimateTokens(textOf(asked)) * 1.05) + Number(asked.body.max_tokens);
      if (tokens > contextTokens) return fail(400, `maximum context length is ${contextTokens}, requested ${tokens}`);
      if (isSelection(asked)) return fails ? fail(401, 'no') : answer(naming('tool_1', 'tool_2'));
      return answer(planOf('tool_1'));
    });
    const model = createOpenAIModel({ baseUrl: server.baseUrl, model: 'small', contextTokens });
    return plannerOf({ tools: TOOLS, model, options: { fillTokens: 800 } }).plan({
      message: 'do matter 1',
      ...request,
    });
  }

  describe('a server with a small context', () => {
    it.each([
      ['2,048 tokens', 2_048, {}],
      ['2,048 tokens and a history', 2_048, { request: { history: HISTORY } }],
      ['2,048 tokens where selection fails', 2_048, { fails: true }],
      ['4,096 tokens and a history', 4_096, { request: { history: HISTORY } }],
      ['4,096 tokens, a history, and a selection that fails', 4_096, { request: { history: HISTORY }, fails: true }],
    ])('gives a plan with %s', async (_, contextTokens, how) => {
      const { kind, selection } = await plan(contextTokens, how);
      expect(kind).toBe('plan');
      expect(selection.mode).toBe('fails' in how ? 'fallback' : 'selected');
      // A plan of several steps has room.
      const planning = server?.requests.filter((asked) => !isSelection(asked)) ?? [];
      expect(planning).toHaveLength(1);
      expect(Number(planning[0]?.body.max_tokens)).toBeGreaterThanOrEqual(300);
    });
  });

  describe('what a model is shown', () => {
    const select = (request: Partial<PlanRequest>, options: object = {}) => {
      const model = createScriptedModel({
        answers: () => naming('tool_1'),
        limits: { contextTokens: 2_400 },
      });
      const planner = plannerOf({ tools: TOOLS, model, options: { fillTokens: 8_000, ...options } });
      return planner.select({ message: 'do matter 1', ...request });
    };

    it('of schemas is less where the request takes the room, or a longer plan is allowed', async () => {
      const [usual, asked, brief] = [
        await select({}),
        await select({ history: HISTORY }),
        await select({ history: HISTORY }, { planTokens: 64 }),
      ].map((selected) => namesOf(selected).length);
      expect(asked).toBeLessThan(usual ?? 0);
      expect(brief).toBeGreaterThan(asked ?? 0);
    });

    it('of summaries is less where the request takes the room', async () => {
      const rungOf = async (request: Partial<PlanRequest>) =>
        (await select(request)).trace.find(({ stage }) => stage === 'summaries')?.rung;
      const long = { message: `do matter 1 ${'now '.repeat(1_200)}` };
      expect(await rungOf({})).toBe('sentence');
      expect(await rungOf(long)).toBe('names');
    });
  });
});

const sheet = createSheet(TOOLS, 'whole');

function parse(text: string, finish: 'stop' | 'length' = 'stop') {
  return parseAnswer({ text, finish }, sheet);
}

function read(text: string) {
  const parsed = parse(text);
  if (!parsed.ok) throw new Error(parsed.issues.join('; '));
  const { named, ...rest } = parsed.value;
  return { ...rest, names: named.map(({ tool }) => tool.name), dropped: [...parsed.dropped] };
}

describe('the answer of a list model', () => {
  it('keeps the order of relevance', () => {
    expect(read(naming('stock_quote', 'read_mail', 'book_flight'))).toMatchObject({
      names: ['stock_quote', 'read_mail', 'book_flight'],
      chosen: 3,
      reason: 'they fit',
      dropped: [],
    });
  });

  it('may lack its reason', () => {
    expect(read('{"selected_tools":["read_mail"]}')).toMatchObject({ names: ['read_mail'], reason: '' });
    expect(read('{"selected_tools":["read_mail"],"reason":7}')).toMatchObject({ names: ['read_mail'], reason: '' });
  });

  it('drops what is repeated, 4,000 times too, and says so once', () => {
    const answer = read(naming(...Array<string>(4_000).fill('read_mail'), 'stock_quote'));
    expect(answer.names).toEqual(['read_mail', 'stock_quote']);
    expect(answer.dropped).toEqual([{ name: 'read_mail', reason: 'duplicate' }]);
  });

  it('drops unknown names, suggests the near miss, and never takes it', () => {
    const answer = read(naming('raed_mail', 'stock_quote', 'xyzzy'));
    expect(answer.names).toEqual(['stock_quote']);
    expect(answer.dropped).toEqual([
      { name: 'raed_mail', reason: 'unknown', suggestion: 'read_mail' },
      { name: 'xyzzy', reason: 'unknown' },
    ]);
  });

  it('records 4,000 unknown names, but looks for near misses of the first only', () => {
    const { names, dropped } = read(
      naming(...Array.from({ length: 4_000 }, (_, place) => `read_ma${place}`), 'play_song'),
    );
    expect(names).toEqual(['play_song']);
    expect(dropped).toHaveLength(4_000);
    const suggested = dropped.filter(({ suggestion }) => suggestion === 'read_mail');
    expect(suggested.length).toBeGreaterThan(0);
    expect(suggested.length).toBeLessThanOrEqual(20);
  });

  it.each(['READ_MAIL', 'read mail', 'read_mail()', '- read_mail', ' read_mail'])(
    'does not take %s for a tool',
    (name) => {
      expect(read(naming(name, 'stock_quote')).names).toEqual(['stock_quote']);
    },
  );

  it('shortens the unknown names that it records', () => {
    const [dropped] = read(naming('x'.repeat(50_000), 'read_mail')).dropped;
    expect(dropped?.name.length).toBeLessThanOrEqual(200);
  });

  it.each([
    ['an empty list', naming()],
    ['the name for it', naming('none')],
  ])('can say by %s that no tool fits', (_, text) => {
    expect(read(text)).toMatchObject({ names: [], none: { says: true } });
  });

  it('does not say so beside a tool', () => {
    expect(read(naming('none', 'read_mail'))).toMatchObject({ names: ['read_mail'], none: { says: false } });
  });

  it.each([
    ['only unknown names', naming('xyzzy', 'plugh'), 'none of xyzzy, plugh'],
    ['no JSON', 'I would take read_mail.', 'JSON'],
    ['nothing', '', 'empty'],
    ['the wrong key', '{"tools":["read_mail"]}', 'selected_tools'],
  ])('is not usable with %s, and says why', (_, text, said) => {
    const parsed = parse(text);
    expect(parsed).toMatchObject({ ok: false });
    expect(!parsed.ok && parsed.issues.join()).toContain(said);
  });

  it.each(['{"selected_tools":["read_ma', '{"selected_tools":["read_mail"],"reas'])(
    'is told to be shorter when it was cut: %s',
    (text) => {
      expect(parse(text, 'length')).toMatchObject({ ok: false, issues: ['the answer was cut: be shorter'] });
    },
  );

  it('carries the probability of each name where the server gives them', () => {
    const pieces = ['{"selected_tools":[', '"', 'read', '_mail', '",', '"', 'stock_quote', '"]}'];
    const logprobs = pieces.map((text) => ({
      text,
      logprob: text === 'read' ? Math.log(0.5) : text === '_mail' ? Math.log(0.8) : 0,
    }));
    const parsed = parseAnswer({ text: pieces.join(''), finish: 'stop', logprobs }, sheet);
    const named = parsed.ok ? parsed.value.named : [];
    expect(named.map(({ probability }) => probability)).toEqual([expect.closeTo(0.4, 5), 1]);
  });
});

describe('names that the model reads', () => {
  const tools = [
    makeTool('github__open_issue', { origin: 'github' }),
    makeTool('jira__open_issue', { origin: 'jira' }),
    makeTool('jira__close', { origin: 'jira' }),
  ];
  const labelled = createSheet(tools, 'names');

  it('are taken as they stand on the sheet and as they are', () => {
    expect(labelled.text).toContain('- close');
    for (const name of ['close', 'jira__close']) {
      const parsed = parseAnswer({ text: naming(name), finish: 'stop' }, labelled);
      expect(parsed.ok && parsed.value.named.map(({ tool }) => tool.name)).toEqual(['jira__close']);
    }
  });

  it('never stand for two tools', () => {
    expect(parseAnswer({ text: naming('open_issue'), finish: 'stop' }, labelled)).toMatchObject({ ok: false });
  });
});
