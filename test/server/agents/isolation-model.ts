/**
 * Random sequences of what two sides ask of one server, over all of its routes for agents and MCP. Each side's answers must
 * be those that it gets on a server of its own, where the other side's things do not exist: so nothing of the other is
 * seen, and nothing of it is changed.
 */
import fc from 'fast-check';
import { z } from 'zod';
import { createCatalog } from '../../../src/core/catalog/catalog.js';
import type { JsonSchema } from '../../../src/core/catalog/tool.js';
import { createPlanner } from '../../../src/core/planner.js';
import { createFunctionExecutor } from '../../../src/execution/executors/functions.js';
import { createSkillExecutor } from '../../../src/execution/executors/skills.js';
import { createMcpEndpoint } from '../../../src/mcp/http-endpoint.js';
import { resolveMcpOptions } from '../../../src/mcp/mcp-options.js';
import { createLogger } from '../../../src/routing/logging/logger.js';
import { createPolicy } from '../../../src/routing/policy/policy.js';
import { fixedPolicy } from '../../../src/routing/policy/policy-file.js';
import { agentRoutes } from '../../../src/server/agents/add-agent-routes.js';
import { createAgents } from '../../../src/server/agents/agents.js';
import type { Route } from '../../../src/server/agents/route.js';
import { createServer } from '../../../src/server/app.js';
import { createAuthenticate } from '../../../src/server/auth/authenticate.js';
import { createMemoryStore } from '../../../src/store/memory/memory-store.js';
import { createTool } from '../../support/create-tool.js';
import { createScriptedModel } from '../../support/scripted-model.js';
import { valuesOf } from '../../support/schema-values.js';

const path = { properties: { path: { type: 'string' } }, required: ['path'] };
const TOOLS = [
  createTool('file_read', path, undefined, { risk: 'low', description: 'Reads a file.' }),
  createTool('file_delete', path, undefined, { risk: 'high', description: 'Deletes a file.' }),
  createTool('diary', {}, undefined, { risk: 'low', description: 'The diary of Ann.', scope: { user: 'ann' } }),
  createTool('letters', {}, undefined, { risk: 'low', description: 'The letters of Bob.', scope: { user: 'bob' } }),
];

/** Inga has roles that sound like much; nemo has proven something, but no name; nobody has proven nothing. */
const ROLES = { ann: [], bob: [], inga: ['admin', 'root', 'Operator', 'approver'], olga: ['operator'] };
type Actor = keyof typeof ROLES | 'nemo' | 'nobody';
const SIDES = { ann: ['ann'], bob: ['bob', 'bob', 'inga', 'nemo', 'nobody'] } as const;
type Side = keyof typeof SIDES;
const OTHER: Record<Side, Side> = { ann: 'bob', bob: 'ann' };

interface Command {
  readonly side: Side;
  readonly as: Actor;
  /** Method and path. Here, in headers and in the body, `@place|side|number` stands for the id of something there. */
  readonly line: string;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

const SESSIONS = '/v1/sessions';
const RUNS = '/v1/plans/runs';
const APPROVALS = '/v1/approvals';
const MCP = '/mcp';
const REFERENCE = /@([\w/-]+)\|(ann|bob)\|(\d)/gu;
const own = (place: string, side: Side) => `@${place}|${side}|0`;
const references = (place: string) => [0, 1, 2].flatMap((n) => [`@${place}|ann|${n}`, `@${place}|bob|${n}`]);

const NAMES = ['file_read', 'file_delete', 'diary', 'letters', 'my__of_ann', 'my__of_bob', 'my__both', 'nothing'];
const step = (id: string, tool: string) => ({ id, tool, arguments: tool.startsWith('file') ? { path: 'a' } : {} });
const PLANS = NAMES.map((name) => ({ steps: [step('s1', 'file_read'), step('s2', name)] }));
const ENTRIES = ['of_ann', 'of_bob', 'both'].map((name) => ({
  ...{ name, toolType: 'skill', risk: 'low', description: `Zebra ${name}.`, instructions: `Say ${name}.` },
}));

/** What a field of this name is filled with, whatever route has it; all others by their schema. */
const FIELDS: Record<string, readonly unknown[]> = {
  session: [...references(SESSIONS), 'nothing'],
  approval: [...references(APPROVALS), 'nothing'],
  user: ['ann', 'bob'],
  roles: [['operator'], []],
  names: NAMES.map((name) => [name]),
  tool: NAMES,
  query: ['zebra', 'file', 'diary of ann', 'letters'],
  arguments: [{ path: 'a' }, { path: 'b' }, {}],
  plan: PLANS,
  by: [{ user: 'ann' }, { user: 'olga', roles: ['operator'] }],
};
/** Needs a model. */
const LEFT_OUT = ['request'];

function withFields(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withFields);
  if (typeof schema !== 'object' || schema === null) return schema;
  const { properties, ...rest }: JsonSchema = { ...schema };
  const mapped = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, withFields(value)]));
  if (typeof properties !== 'object' || properties === null) return mapped;
  const fields = Object.entries(properties).filter(([name]) => !LEFT_OUT.includes(name));
  return { ...mapped, properties: Object.fromEntries(fields.map(([name, field]) => [name, fieldOf(name, field)])) };
}

function fieldOf(name: string, field: unknown): unknown {
  if (name === 'tool' && Object(field).type === 'object') return { enum: ENTRIES };
  return FIELDS[name] ? { enum: FIELDS[name] } : withFields(field);
}

function inputOf(schema: z.ZodType | undefined): fc.Arbitrary<unknown> {
  if (!schema) return fc.constant(undefined);
  const json = Object(withFields(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })));
  return valuesOf(json, json);
}

/** Ids that a path of this form takes: of what was made there, or names. */
function idsFor(path: string): fc.Arbitrary<string> {
  const [place = ''] = path.split('/:id');
  return fc.constantFrom(...references(place), ...references(place), ...NAMES, 'nothing');
}

function commandOf({ method, path, body, query }: Route): fc.Arbitrary<Omit<Command, 'side' | 'as'>> {
  const parts = { id: idsFor(path), body: inputOf(body?.schema), query: inputOf(query) };
  return fc.record(parts).map(({ id, body, query }) => {
    const asked = Object.entries(Object(query)).map(([key, value]) => `${key}=${encodeURIComponent(String(value))}`);
    // A reference stays as it is until its id is put in.
    const search = asked.join('&').replaceAll('%40', '@').replaceAll('%7C', '|').replaceAll('%2F', '/');
    const line = `${method} ${path.replace(':id', id)}${search && `?${search}`}`;
    return { line, ...(body === undefined ? {} : { body }) };
  });
}

const INITIALIZE = {
  ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
};
const JSON_RPC = { jsonrpc: '2.0', id: 2 };
const uses = (name: string, input: object) => ({ ...JSON_RPC, method: 'tools/call', params: { name, arguments: input } });
const mcpCommand = fc
  .record({
    line: fc.constantFrom(`POST ${MCP}`, `POST ${MCP}`, `POST ${MCP}`, `DELETE ${MCP}`),
    body: fc.constantFrom<unknown>(
      { ...JSON_RPC, method: 'tools/list' },
      uses('tool_search', { query: 'zebra' }),
      ...NAMES.flatMap((name) => [uses('tool_enable', { names: [name] }), uses(name, { path: 'a' })]),
    ),
    id: fc.constantFrom(...references(MCP)),
  })
  .map(({ line, body, id }) => ({
    line,
    headers: { 'mcp-session-id': id },
    ...(line.startsWith('POST') ? { body } : {}),
  }));

/** Something of each kind that a side can have, so that there is something to see. */
function beginningOf(side: Side): Command[] {
  const session = own(SESSIONS, side);
  const by = (as: Actor) => (line: string, body?: unknown) => ({ side, as, line, body });
  const ask = by(side);
  return [
    ask('POST /v1/sessions', {}),
    ask('POST /v1/private-tools', { tool: { ...ENTRIES[2], name: `of_${side}` } }),
    ask('POST /v1/private-tools', { tool: { ...ENTRIES[2], instructions: `Of ${side}.` } }),
    ask(`POST ${SESSIONS}/${session}/enable`, { names: ['file_read', 'file_delete', `my__of_${side}`] }),
    ask(`POST ${SESSIONS}/${session}/call`, { tool: 'file_delete', arguments: { path: 'a' } }),
    ask('POST /v1/approvals', { session, tool: 'file_delete', arguments: { path: 'b' } }),
    by('olga')(`POST ${APPROVALS}/${own(APPROVALS, side)}/grant`, {}),
    ask('POST /v1/plans/run', { session, plan: { steps: [step('s1', `my__of_${side}`), step('s2', 'file_delete')] } }),
    { ...ask(`POST ${MCP}`, INITIALIZE) },
  ];
}

/** All that a side and an operator see of it at the end. */
function lookOf(side: Side, routes: readonly Route[]): Command[] {
  const lists = routes.filter(({ method, path }) => method === 'GET' && !path.includes(':id'));
  const ids = [SESSIONS, APPROVALS].flatMap((place) => references(place).map((id) => `GET ${place}/${id}`));
  const tools = `GET ${SESSIONS}/${own(SESSIONS, side)}/tools`;
  const lines = [...lists.map((route) => `GET ${route.path}`), ...ids, tools, `${tools}?mode=classic`];
  const all = ['/v1/audit?limit=1000&', '/v1/approvals?', '/v1/telemetry?'].map((line) => `GET ${line}user=${side}`);
  return [
    ...lines.map((line): Command => ({ side, as: side, line })),
    ...all.map((line): Command => ({ side, as: 'olga', line })),
  ];
}

async function openWorld() {
  const time = { now: 0 };
  const catalog = createCatalog(TOOLS);
  const functions = Object.fromEntries(TOOLS.map(({ name }) => [name, () => name]));
  const agents = createAgents({
    store: createMemoryStore(),
    catalog: () => catalog,
    policy: fixedPolicy(createPolicy({})),
    executors: [createFunctionExecutor(functions), createSkillExecutor()],
    clock: () => new Date(time.now),
  });
  await agents.index.settled();
  const planner = createPlanner({ catalog, model: createScriptedModel() });
  const logger = createLogger({ level: 'silent' });
  const mcp = createMcpEndpoint({ router: agents.router, planner, options: resolveMcpOptions({}), logger });
  const app = createServer({ planner, agents, mcp, authenticate: authenticate(), logger });
  const origin = await app.listen({ host: '127.0.0.1', port: 0 });
  return { agents, app, origin, time };
}

/** Nothing runs any more, but clients hold their connections open. */
async function closeAtOnce(app: ReturnType<typeof createServer>): Promise<void> {
  const closed = app.close();
  app.server.closeAllConnections();
  await closed;
}

const tokenOf = (user: string) => `the-token-of-${user}`;

function authenticate() {
  const tokens = Object.entries(ROLES).map(([user, roles]) => ({ user, roles, token: tokenOf(user) }));
  const byToken = createAuthenticate({ tokens });
  const named: typeof byToken = Object.assign(
    async (request: Parameters<typeof byToken>[0]) =>
      request.headersDistinct.authorization?.[0] === `Bearer ${tokenOf('nemo')}`
        ? { caller: {}, isProven: true }
        : byToken(request),
    { isOpen: false },
  );
  return named;
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

interface Played {
  /** By the command; undefined where it was not played. */
  readonly answers: readonly (Answer | undefined)[];
  /** All ids that answers to a side have held. */
  readonly ids: Readonly<Record<Side, ReadonlySet<string>>>;
  /** By the command: reference -> id, of references to the other side. */
  readonly foreign: readonly ReadonlyMap<string, string>[];
}

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gu;

/** @param together the same commands with both sides: the other's ids are taken from there */
async function play(commands: readonly Command[], sides: readonly Side[], together?: Played): Promise<Played> {
  const { app, origin, time } = await openWorld();
  const pools: Record<Side, Map<string, string[]>> = { ann: new Map(), bob: new Map() };
  const ids = { ann: new Set<string>(), bob: new Set<string>() };
  const answers: (Answer | undefined)[] = [];
  const foreign: Map<string, string>[] = [];
  for (const [index, { side, as, line, body, headers }] of commands.entries()) {
    // The same in each world, and none at the same time as another.
    time.now = index * 1_000;
    const known = new Map<string, string>();
    foreign.push(known);
    if (!sides.includes(side)) {
      answers.push(undefined);
      continue;
    }
    const idOf = (reference: string, place: string, owner: string, number: string): string => {
      if (owner !== side && together) return together.foreign[index]?.get(reference) ?? 'nothing';
      const pool = pools[owner === 'ann' ? 'ann' : 'bob'].get(place) ?? [];
      const id = pool[Number(number) % pool.length] ?? 'nothing';
      if (owner !== side) known.set(reference, id);
      return id;
    };
    const fill = (text: string) => text.replaceAll(REFERENCE, idOf);
    const [method = '', url = ''] = fill(line).split(' ');
    const response = await fetch(`${origin}${url}`, {
      method,
      headers: {
        accept: 'application/json, text/event-stream',
        ...(as === 'nobody' ? {} : { authorization: `Bearer ${tokenOf(as)}` }),
        ...JSON.parse(fill(JSON.stringify(headers ?? {}))),
        ...(method === 'POST' || method === 'PUT' ? { 'content-type': 'application/json' } : {}),
      },
      ...(body === undefined ? {} : { body: fill(JSON.stringify(body)) }),
    });
    // Events of MCP have random ids.
    const text = (await response.text()).replaceAll(/^id: .*$/gmu, '');
    if (response.status === 500) throw new Error(`${line} ${JSON.stringify(body)}: ${text}`);
    answers.push({ status: response.status, text });
    // Whose it is says the first answer that holds it; another's comes back in answers about it.
    for (const id of text.match(UUID) ?? []) if (!ids[OTHER[side]].has(id)) ids[side].add(id);
    const made = as === side ? madeBy(line, text, response.headers.get('mcp-session-id')) : [];
    for (const [place, id] of made) {
      ids[side].add(id);
      const pool = pools[side].get(place) ?? [];
      if (!pool.includes(id)) pools[side].set(place, [...pool, id]);
    }
  }
  await closeAtOnce(app);
  return { answers, ids, foreign };
}

/** Place -> id of what an answer says was made. */
function madeBy(line: string, text: string, connection: string | null): [string, string][] {
  const { id, approval, ok } = text.startsWith('{') ? JSON.parse(text) : Object();
  const [, place = ''] = /^POST (\/v1\/(?:sessions|plans\/run))$/u.exec(line) ?? [];
  return [
    ...(place && typeof id === 'string' ? [[place === SESSIONS ? SESSIONS : RUNS, id] as [string, string]] : []),
    ...(typeof approval === 'string' ? [[APPROVALS, approval] as [string, string]] : []),
    ...(ok === true && typeof approval?.id === 'string' ? [[APPROVALS, approval.id] as [string, string]] : []),
    ...(typeof connection === 'string' ? [[MCP, connection] as [string, string]] : []),
  ];
}

/** Without what differs between any two servers: ids of one's own, numbers of audit entries, times taken, keyed digests. */
function comparable({ status, text }: Answer, foreign: ReadonlySet<string>): string {
  const plain = text
    .replaceAll(UUID, (id) => (foreign.has(id) ? id : 'own'))
    .replaceAll(/"id":"\d+"/gu, '"id":"place"')
    .replaceAll(/\b[0-9a-f]{64}\b/gu, 'digest')
    .replaceAll(/(\\?"milliseconds\\?"):[\d.e-]+/gu, '$1:0');
  return `${status} ${plain}`;
}

export interface PairCounts {
  commands: number;
  /** Answered with success. */
  done: number;
  /** That named something of the other side. */
  foreign: number;
}

async function playPair(commands: readonly Command[], counts: PairCounts): Promise<void> {
  const together = await play(commands, ['ann', 'bob']);
  for (const side of ['ann', 'bob'] as const) {
    const alone = await play(commands, [side], together);
    for (const [index, command] of commands.entries()) {
      const [one, other] = [together.answers[index], alone.answers[index]];
      if (!one || !other) continue;
      counts.commands += 1;
      counts.done += Number(one.status < 300);
      counts.foreign += Number((together.foreign[index]?.size ?? 0) > 0);
      const [seen, expected] = [one, other].map((answer) => comparable(answer, together.ids[OTHER[side]]));
      if (seen !== expected)
        throw new Error(`${JSON.stringify(command)}\nbeside ${OTHER[side]}: ${seen}\nalone: ${expected}`);
    }
  }
}

/** @throws where a side sees or changes something of the other, with the shortest sequence that shows it */
export async function checkPairs(numRuns: number, seed?: number): Promise<PairCounts & { routes: number }> {
  const counts = { commands: 0, done: 0, foreign: 0 };
  const { agents, app } = await openWorld();
  const routes = agentRoutes(agents);
  await closeAtOnce(app);
  const kinds = [...routes.map(commandOf), mcpCommand, mcpCommand];
  const side = fc.constantFrom<Side>('ann', 'bob', 'bob');
  const command = side.chain((side) =>
    fc.record({ side: fc.constant(side), as: fc.constantFrom<Actor>(...SIDES[side]), what: fc.oneof(...kinds) }),
  );
  const sequence = fc.array(command, { minLength: 10, maxLength: 40, size: 'max' });
  await fc.assert(
    fc.asyncProperty(sequence, async (drawn) => {
      const commands = drawn.map(({ what, ...who }): Command => ({ ...who, ...what }));
      const sides = ['ann', 'bob'] as const;
      const begin = sides.flatMap(beginningOf);
      await playPair([...begin, ...commands, ...sides.flatMap((one) => lookOf(one, routes))], counts);
    }),
    { numRuns, endOnFailure: true, ...(seed === undefined ? {} : { seed }) },
  );
  return { ...counts, routes: routes.length };
}
