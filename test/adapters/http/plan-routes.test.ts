/** The routes of plans and selections, and what each user sees of them. */
import { request as httpRequest } from 'node:http';
import { text as readAll } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { problemSchema } from '../../../src/adapters/http/problem.js';
import type { ToolList } from '../../../src/adapters/http/tool-routes.js';
import { createPolicy } from '../../../src/agents/policy/policy.js';
import { fixedPolicy } from '../../../src/agents/policy/policy-file.js';
import type { Catalog } from '../../../src/core/catalog/catalog.js';
import { WinnowError } from '../../../src/core/errors.js';
import { createOpenAIModel } from '../../../src/core/model/openai/openai-model.js';
import { createTool } from '../../support/create-tool.js';
import { createScriptedModel } from '../../support/scripted-model.js';
import { startScriptedServer } from '../../support/scripted-server.js';
import { fail } from '../../support/server-behaviours.js';
import { startAgentServer } from './agents/setup.js';
import {
  ASKED,
  answeringPlanner,
  createHangingModel,
  PLAN,
  plannerOf,
  post,
  recordLog,
  SELECTION,
  startServer,
  TOOLS,
  throwingPlanner,
} from './setup.js';

describe('POST /v1/plan', () => {
  it('answers the result of the planner', async () => {
    const { url } = await startServer({ planner: answeringPlanner() });
    const response = await post(`${url}/v1/plan`, ASKED);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toMatch(/^application\/json/);
    expect(await response.json()).toMatchObject({
      kind: 'plan',
      steps: [{ id: 's1', tool: 'read_level', arguments: { station: 'Sauer' } }],
      selection: { mode: 'selected', tools: [{ name: 'read_level', via: 'model' }] },
    });
  });

  it('hands every field of the body on', async () => {
    const model = createScriptedModel({ answers: [SELECTION, PLAN] });
    const { url } = await startServer({ planner: plannerOf(model) });
    const body = {
      ...ASKED,
      intent: 'levels',
      entities: { object: '盘石头水库' },
      history: [{ role: 'user', content: 'Good morning' }],
    };
    expect((await post(`${url}/v1/plan`, body)).status).toBe(200);
    const seen = model.calls[0]?.prompt.user;
    for (const part of ['levels', '盘石头水库', 'Good morning']) expect(seen).toContain(part);
    model.assertDone();
  });

  it('tells neither address nor words of a model server that fails', async () => {
    const server = await startScriptedServer(() =>
      fail(400, 'the prompt "You choose tools" with key sk-0123456789abcdef'),
    );
    const model = createOpenAIModel({ baseUrl: server.baseUrl, model: 'scripted', apiKey: 'very-secret-key' });
    const { url } = await startServer({ planner: plannerOf(model) });
    for (const accept of ['application/json', 'text/event-stream']) {
      const text = await (await post(`${url}/v1/plan`, ASKED, { headers: { accept } })).text();
      expect(text).toContain('model_refused');
      expect(text).not.toMatch(/You choose|0123456789|very-secret|127\.0\.0\.1/);
    }
    await server.close();
  });
});

describe('the log line of an answer', () => {
  it.each([
    ['/v1/plan', 'application/json', { status: 200, kind: 'plan', mode: 'selected' }],
    ['/v1/plan', 'text/event-stream', { status: 200, kind: 'plan', mode: 'selected' }],
    ['/v1/select', 'application/json', { status: 200, kind: 'selection', mode: 'selected' }],
  ])('says what %s as %s came to, in no words of the request', async (path, accept, outcome) => {
    const log = recordLog();
    const { url } = await startServer({ planner: answeringPlanner(), logger: log.logger });
    await (await post(`${url}${path}`, ASKED, { headers: { accept } })).text();
    await closed(url);
    expect(log.lines()[0]).toMatchObject({ msg: 'answered', ...outcome, milliseconds: expect.any(Number) });
    expect(log.text()).not.toContain('Sauer');
  });

  it('says also in a stream that it failed, and by which code', async () => {
    const log = recordLog();
    const planner = throwingPlanner(new WinnowError('plan_invalid', 'No plan.'), { after: 'scope' });
    const { url } = await startServer({ planner, logger: log.logger });
    await (await post(`${url}/v1/plan`, ASKED, { headers: { accept: 'text/event-stream' } })).text();
    await closed(url);
    const line = { msg: 'answered', status: 200, kind: 'failed', code: 'plan_invalid' };
    expect(log.lines()).toContainEqual(expect.objectContaining(line));
  });

  /** The line of an answer is written when its connection is done with it: before the next answer is. */
  const closed = async (url: string) => (await fetch(`${url}/healthz`)).text();
});

describe('POST /v1/select', () => {
  it('answers the selection, with planning left out', async () => {
    const model = createScriptedModel({ answers: [SELECTION] });
    const { url } = await startServer({ planner: plannerOf(model) });
    const result = await (await post(`${url}/v1/select`, ASKED)).json();
    expect(result).toMatchObject({ mode: 'selected', tools: [{ name: 'read_level' }] });
    expect(result).not.toHaveProperty('steps');
    model.assertDone();
  });

  it('says that it fell back, and by which code, but not in whose words', async () => {
    const model = createScriptedModel({ answers: [new Error('ENOENT: /home/someone/model.gguf')] });
    const log = recordLog();
    const { url } = await startServer({ planner: plannerOf(model), logger: log.logger });
    const text = await (await post(`${url}/v1/select`, ASKED)).text();
    // Whoever runs the server is told why.
    const warning = { level: 'warn', requestId: expect.any(String), msg: expect.stringContaining('ENOENT') };
    expect(log.lines()).toContainEqual(expect.objectContaining(warning));
    const result = JSON.parse(text);
    const note = expect.stringMatching(/^selection failed \(internal: .+\): 2 of 2 tools are taken$/);
    expect(result).toMatchObject({ mode: 'fallback', reason: expect.stringMatching(/^internal: /), leftOut: 0 });
    expect(result.trace).toContainEqual(expect.objectContaining({ stage: 'fallback', note }));
    expect(text).not.toContain('someone');
  });
});

describe('the id of a request', () => {
  it.each([
    ['a sane one is taken over', 'order-4711/a:b', 'order-4711/a:b'],
    ['one with spaces is replaced', 'a b', undefined],
    ['one that would break a log line is replaced', 'a"b', undefined],
    ['one that is too long is replaced', 'x'.repeat(129), undefined],
    ['without one, one is made', undefined, undefined],
  ])('%s, returned and used', async (_name, given, kept) => {
    const model = createScriptedModel({ answers: [SELECTION] });
    const { url } = await startServer({ planner: plannerOf(model) });
    const response = await post(
      `${url}/v1/select`,
      ASKED,
      given === undefined ? {} : { headers: { 'x-request-id': given } },
    );
    const id = response.headers.get('x-request-id');
    expect(id).toMatch(kept === undefined ? /^[\da-f]{8}-[\da-f-]{27}$/ : /^order-4711\/a:b$/);
    expect(model.calls[0]?.about?.requestId).toBe(id);
  });
});

describe('a client that leaves', () => {
  it.each(['application/json', 'text/event-stream'])('cancels its request (%s)', async (accept) => {
    const { model, asked, cancelled } = createHangingModel();
    const { url } = await startServer({ planner: plannerOf(model) });
    const leave = new AbortController();
    const request = post(`${url}/v1/plan`, ASKED, { headers: { accept }, signal: leave.signal });
    const gone = request.then((response) => response.text()).catch((error: Error) => error.name);
    await asked;
    leave.abort();
    expect(await cancelled).toBe('cancelled');
    expect(await gone).toBe('AbortError');
  });
});

describe('the bound on requests at once', () => {
  it('answers 503 with Retry-After beyond it, and takes requests again when there is room', async () => {
    const { model, asked, cancelled } = createHangingModel();
    const planner = plannerOf(model);
    const free = answeringPlanner();
    const first = { ...planner, select: free.select };
    const { url } = await startServer({ planner: first, options: { concurrency: 1, retryAfterSeconds: 7 } });
    const leave = new AbortController();
    const gone = post(`${url}/v1/plan`, ASKED, { signal: leave.signal }).catch((error: Error) => error.name);
    await asked;
    for (const accept of ['application/json', 'text/event-stream']) {
      const refused = await post(`${url}/v1/select`, ASKED, { headers: { accept } });
      expect(refused.status).toBe(503);
      expect(refused.headers.get('retry-after')).toBe('7');
      expect(await refused.json()).toMatchObject({ code: 'overloaded', status: 503 });
    }
    expect((await fetch(`${url}/v1/tools`)).status).toBe(200);
    leave.abort();
    await cancelled;
    await gone;
    expect((await post(`${url}/v1/select`, ASKED)).status).toBe(200);
  });

  it('gives a place back also after an error', async () => {
    const model = createScriptedModel({ answers: [SELECTION, 'no plan', 'no plan', SELECTION, PLAN] });
    const { url } = await startServer({ planner: plannerOf(model), options: { concurrency: 1 } });
    expect((await post(`${url}/v1/plan`, ASKED)).status).toBe(502);
    expect((await post(`${url}/v1/plan`, ASKED)).status).toBe(200);
    model.assertDone();
  });
});

const SYSTEM = ['read_level', 'list_stations'];

async function namesOf(response: Response): Promise<string[]> {
  const list: ToolList = JSON.parse(await response.text());
  return list.tools.map(({ name }) => name);
}

describe('GET /v1/tools', () => {
  it.each<[string, string, Record<string, string>, string[]]>([
    ['nobody', '', {}, SYSTEM],
    ['a user', '?user=anna', {}, [...SYSTEM, 'annas_notes']],
    ['a user nobody knows', '?user=eve', {}, SYSTEM],
    ['the user of the header', '', { 'x-winnow-user': 'bob' }, [...SYSTEM, 'bobs_secret']],
    [
      'the user of the header, whoever the query names',
      '?user=bob',
      { 'x-winnow-user': 'anna' },
      [...SYSTEM, 'annas_notes'],
    ],
  ])('lists what %s sees', async (_name, query, headers, expected) => {
    const { url } = await startServer({ planner: answeringPlanner() });
    expect(await namesOf(await fetch(`${url}/v1/tools${query}`, { headers }))).toEqual(expected);
  });

  it('tells what runs each', async () => {
    const tools = [
      createTool('own'),
      createTool('rest', {}, undefined, { metadata: { http: { method: 'GET', path: '/' } } }),
      createTool('far', {}, undefined, { toolType: 'mcp' }),
    ];
    const { url } = await startServer({ planner: plannerOf(createScriptedModel(), tools) });
    const list: ToolList = JSON.parse(await (await fetch(`${url}/v1/tools`)).text());
    expect(list.tools.map(({ runner }) => runner)).toEqual(['function', 'http', undefined]);
  });

  it('tells nothing of tools that are not listed, also not by fields that name others', async () => {
    const { url } = await startServer({ planner: answeringPlanner() });
    const text = await (await fetch(`${url}/v1/tools?user=anna`)).text();
    expect(text).toContain('annas_notes');
    expect(text).not.toMatch(/bob/i);
  });

  it('has a fingerprint that another user cannot change', async () => {
    const [withAll, withoutBob] = await Promise.all(
      [TOOLS, TOOLS.slice(0, 3)].map(async (tools) => {
        const { url } = await startServer({ planner: plannerOf(createScriptedModel(), tools) });
        return (await fetch(`${url}/v1/tools?user=anna`)).text();
      }),
    );
    expect(withAll).toBe(withoutBob);
  });

  it('reads the header as UTF-8', async () => {
    const [first, ...rest] = TOOLS;
    const tools = [{ ...first, scope: { user: '王芳' } } as (typeof TOOLS)[number], ...rest];
    const { url } = await startServer({ planner: plannerOf(createScriptedModel(), tools) });
    const asked = async (value: string) => {
      const text = await new Promise<string>((resolve, reject) => {
        const request = httpRequest(`${url}/v1/tools`, { headers: { 'x-winnow-user': value } }, (response) =>
          resolve(readAll(response)),
        );
        request.on('error', reject).end();
      });
      return JSON.parse(text);
    };
    expect(await asked(Buffer.from('王芳').toString('latin1'))).toMatchObject({
      tools: [{ name: 'read_level' }, { name: 'list_stations' }],
    });
    expect(await asked('\xff')).toMatchObject({ status: 400, code: 'invalid_request' });
  });
});

/** Of a catalogue with Bob's tool, and of one without it: whole and as a stream, less what a clock says. */
async function answersOf(body: object, { selection, plan }: { selection: string; plan: string }) {
  return Promise.all(
    [TOOLS, TOOLS.slice(0, 3)].map(async (tools) => {
      const model = createScriptedModel({ answers: ({ stage }) => (stage === 'selection' ? selection : plan) });
      const { url } = await startServer({ planner: plannerOf(model, tools) });
      const headers = { 'x-request-id': 'r-1', 'x-winnow-user': 'anna' };
      const whole = await post(`${url}/v1/plan`, body, { headers });
      const selected = await post(`${url}/v1/select`, body, { headers });
      const streamed = await post(`${url}/v1/plan`, body, { headers: { ...headers, accept: 'text/event-stream' } });
      const texts = await Promise.all([whole, selected, streamed].map((response) => response.text()));
      const prompts = model.calls.map(({ prompt }) => prompt);
      return {
        status: whole.status,
        prompts,
        texts: texts.map((text) => text.replaceAll(/"milliseconds":[\d.]+/g, '')),
      };
    }),
  );
}

describe("another user's private tool", () => {
  const unplannable = '{"kind": "unplannable", "reason": "no"}';
  const guess = '{"selected_tools": ["read_level", "bobs_secre"], "reason": ""}';
  const allow = ['read_level', 'annas_notes', 'bobs_secret'];

  it.each([
    ['an error', ASKED, SELECTION, 'no plan', 502],
    ['a fallback', ASKED, 'no JSON', unplannable, 200],
    ['a wrong guess of its name', ASKED, guess, unplannable, 200],
    ['a request that names its user', { ...ASKED, user: 'bob' }, SELECTION, unplannable, 200],
    ['a request that requires it', { ...ASKED, require: ['bobs_secret'], allow }, SELECTION, unplannable, 200],
  ])(
    'leaves no trace in %s: prompts and answers are the same as without it',
    async (_name, body, selection, plan, status) => {
      const [there, gone] = await answersOf(body, { selection, plan });
      expect(there?.status).toBe(status);
      expect(there?.texts[2]).toMatch(/"note":"\d tools are visible"/);
      expect(there).toEqual(gone);
    },
  );
});

/** `POST /v1/plan` and `/v1/select` with tools that the request brings along. */
const ORDER = {
  name: 'order_tea',
  description: 'Orders tea.',
  inputSchema: { type: 'object', properties: { cups: {} } },
};
const FUNCTION = {
  type: 'function',
  function: { name: 'pour', description: 'Pours.', parameters: { type: 'object' } },
};
const TEA = { message: 'Order two cups of tea' };
const ORDERING = '{"selected_tools": ["order_tea"], "reason": "it orders"}';
const TEA_PLAN = '{"kind": "plan", "steps": [{"id": "s1", "tool": "order_tea", "arguments": {"cups": 2}}]}';

function planning() {
  const model = createScriptedModel({ answers: ({ stage }) => (stage === 'selection' ? ORDERING : TEA_PLAN) });
  const made: Catalog[] = [];
  const of = (catalog: Catalog) => {
    made.push(catalog);
    return plannerOf(model, catalog.tools);
  };
  return { model, made, of };
}

describe('tools of the request', () => {
  it('are planned with in place of those of the server, in either form', async () => {
    const { of, model } = planning();
    const { url } = await startServer({ planner: answeringPlanner(), plannerOf: of });
    const answer = await (await post(`${url}/v1/plan`, { ...TEA, tools: [ORDER, FUNCTION] })).json();
    expect(answer).toMatchObject({ kind: 'plan', steps: [{ tool: 'order_tea', arguments: { cups: 2 } }] });
    const seen = model.calls.map(({ prompt }) => `${prompt.system}${prompt.user}`).join();
    expect(seen).toContain('pour');
    expect(seen).not.toContain('read_level');
    const selected = await (await post(`${url}/v1/select`, { ...TEA, tools: [ORDER] })).json();
    expect(selected).toMatchObject({ tools: [{ name: 'order_tea' }] });
  });

  it.each<[string, object]>([
    [
      'a catalogue with rules',
      { name: 'mine', tools: [ORDER], rules: [{ name: 'r', when: { intent: 'tea' }, first: ['order_tea'] }] },
    ],
    ['the answer of tools/list', { tools: [ORDER] }],
    ['functions of Anthropic', [{ name: 'order_tea', description: 'Orders tea.', input_schema: ORDER.inputSchema }]],
  ])('may be %s', async (_, tools) => {
    const { of, made } = planning();
    const { url } = await startServer({ planner: answeringPlanner(), plannerOf: of });
    const answer = await (await post(`${url}/v1/plan`, { ...TEA, tools })).json();
    expect(answer).toMatchObject({ kind: 'plan', steps: [{ tool: 'order_tea', arguments: { cups: 2 } }] });
    expect(made.map(({ rules }) => rules.length)).toEqual(['rules' in tools ? 1 : 0]);
  });

  it('have at most 100 rules', async () => {
    const { url } = await startServer({ planner: answeringPlanner(), plannerOf: planning().of });
    const rules = Array.from({ length: 101 }, (_, at) => ({
      name: `r${at}`,
      when: { intent: 'x' },
      first: ['order_tea'],
    }));
    const answer = await post(`${url}/v1/plan`, { ...TEA, tools: { tools: [ORDER], rules } });
    expect(answer.status).toBe(400);
    expect(await answer.text()).toContain('tools.rules');
  });

  it('of one tenant are not seen by another, also where both have tools of one name or ask at once', async () => {
    const model = createScriptedModel({
      answers: ({ stage, prompt }) => {
        if (stage === 'selection') return ORDERING;
        return JSON.stringify({ kind: 'unplannable', reason: /Orders [a-z]+/u.exec(prompt.system + prompt.user)?.[0] });
      },
    });
    const of = ({ tools }: Catalog) => plannerOf(model, tools);
    const { url } = await startServer({ planner: answeringPlanner(), plannerOf: of });
    const drinks = ['tea', 'cocoa', 'tea', 'milk'];
    const answers = await Promise.all(
      drinks.map(async (drink, user) => {
        const tools = [{ ...ORDER, description: `Orders ${drink}.` }];
        const headers = { 'x-winnow-user': `tenant-${user}` };
        return (await post(`${url}/v1/plan`, { ...TEA, tools }, { headers })).text();
      }),
    );
    for (const [place, text] of answers.entries()) {
      expect(JSON.parse(text)).toMatchObject({ reason: `Orders ${drinks[place]}` });
      const others = drinks.filter((drink) => drink !== drinks[place] && drink !== 'tea');
      expect(others.filter((drink) => text.includes(drink))).toEqual([]);
    }
  });

  it('are not even read where the server has no place for the request', async () => {
    const { of } = planning();
    const { url } = await startServer({ planner: answeringPlanner(), plannerOf: of, options: { concurrency: 0 } });
    expect((await post(`${url}/v1/plan`, { ...TEA, tools: [{ name: 1 }] })).status).toBe(503);
  });

  it('have one planner as long as they are the same', async () => {
    const { of, made } = planning();
    const { url } = await startServer({ planner: answeringPlanner(), plannerOf: of });
    for (const tools of [[ORDER], [ORDER], [ORDER, FUNCTION]]) await post(`${url}/v1/select`, { ...TEA, tools });
    expect(made.map(({ tools }) => tools.length)).toEqual([1, 2]);
  });

  it('obey the policy of the server', async () => {
    const { of } = planning();
    const policy = { rules: [{ name: 'no tea', match: { tool: 'order_tea' }, decision: 'deny' as const }] };
    const { ask } = await startAgentServer({ plannerOf: of, more: { policy: fixedPolicy(createPolicy(policy)) } });
    const { body } = await ask('POST /v1/select', { ...TEA, tools: [ORDER, FUNCTION] });
    expect(body.tools.map(({ name }: { name: string }) => name)).not.toContain('order_tea');
  });

  it.each<[string, unknown, string]>([
    ['are none', [], 'tools'],
    ['are no list', { name: 'x' }, 'tools'],
    ['have servers to start', { mcpServers: { a: { command: 'x' } } }, 'tools.tools'],
    ['have a rule with a slip', { tools: [ORDER], rules: [{ wen: {} }] }, 'tools rules[0]'],
    ['have no name', [{ description: 'x' }], 'tools[0]: name'],
    ['have a slip in a key', [{ name: 'order_tea', descripton: 'x' }], 'tools[0] order_tea: descripton'],
    ['have one name twice', [ORDER, ORDER], 'order_tea'],
    ['unfold without end', [{ ...ORDER, inputSchema: bomb() }], 'order_tea'],
  ])('that %s are refused with their place', async (_, tools, place) => {
    const { of } = planning();
    const { url } = await startServer({ planner: answeringPlanner(), plannerOf: of });
    const response = await post(`${url}/v1/plan`, { ...TEA, tools });
    const { code, detail } = problemSchema.parse(await response.json());
    expect([response.status, code, detail]).toEqual([400, 'invalid_request', expect.stringContaining(place)]);
  });

  it('are refused where the server plans with its own alone', async () => {
    const { url } = await startServer({ planner: answeringPlanner() });
    const response = await post(`${url}/v1/plan`, { ...TEA, tools: [ORDER] });
    expect([response.status, problemSchema.parse(await response.json()).detail]).toEqual([
      400,
      expect.stringContaining('its own tools only'),
    ]);
  });
});

function bomb(): object {
  const levels = Array.from({ length: 26 }, (_, at) => [
    `l${at}`,
    { anyOf: [1, 2].map(() => ({ $ref: `#/$defs/l${at + 1}` })) },
  ]);
  return { type: 'object', $ref: '#/$defs/l0', $defs: { ...Object.fromEntries(levels), l26: { type: 'string' } } };
}
