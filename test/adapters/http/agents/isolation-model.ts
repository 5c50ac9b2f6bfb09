/**
 * Random sequences of what two sides ask of one server, over all of its routes for agents and MCP. Each side's answers must
 * be those that it gets on a server of its own, where the other side's things do not exist: so nothing of the other is
 * seen, and nothing of it is changed.
 */

import fc from 'fast-check';
import { Client } from 'undici';
import { agentRoutes } from '../../../../src/adapters/http/agents/add-agent-routes.js';
import { createServer } from '../../../../src/adapters/http/app.js';
import { createAuthenticate } from '../../../../src/adapters/http/auth/authenticate.js';
import { createMcpEndpoint } from '../../../../src/adapters/mcp/http-endpoint.js';
import { resolveMcpOptions } from '../../../../src/adapters/mcp/mcp-options.js';
import { createAgents } from '../../../../src/agents/agents.js';
import { createLogger } from '../../../../src/agents/logging/logger.js';
import { createPolicy } from '../../../../src/agents/policy/policy.js';
import { fixedPolicy } from '../../../../src/agents/policy/policy-file.js';
import { createFunctionExecutor, createSkillExecutor } from '../../../../src/agents/sandbox/executors/functions.js';
import { openStore } from '../../../../src/agents/store/open-store.js';
import { createMetrics } from '../../../../src/agents/telemetry/metrics.js';
import { createCatalog } from '../../../../src/core/catalog/catalog.js';
import { createPlanner } from '../../../../src/core/planner.js';
import { createScriptedModel } from '../../../support/scripted-model.js';
import {
  APPROVALS,
  beginningOf,
  type Command,
  lookOf,
  MCP,
  OTHER,
  REFERENCE,
  ROLES,
  RUNS,
  SESSIONS,
  type Side,
  sequencesOf,
  TOOLS,
} from './isolation-commands.js';

async function openWorld() {
  const time = { now: 0 };
  const catalog = createCatalog(TOOLS);
  const functions = Object.fromEntries(TOOLS.map(({ name }) => [name, () => name]));
  const agents = createAgents({
    store: await openStore(),
    catalog: () => catalog,
    policy: fixedPolicy(createPolicy({})),
    executors: [createFunctionExecutor(functions), createSkillExecutor()],
    createMetrics,
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
  const client = new Client(origin);
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
    const response = await client.request({
      method: method as 'GET',
      path: url,
      headers: {
        accept: 'application/json, text/event-stream',
        ...(as === 'nobody' ? {} : { authorization: `Bearer ${tokenOf(as)}` }),
        ...JSON.parse(fill(JSON.stringify(headers ?? {}))),
        ...(method === 'POST' || method === 'PUT' ? { 'content-type': 'application/json' } : {}),
      },
      ...(body === undefined ? {} : { body: fill(JSON.stringify(body)) }),
    });
    // Events of MCP have random ids.
    const text = (await response.body.text()).replaceAll(/^id: .*$/gmu, '');
    if (response.statusCode === 500) throw new Error(`${line} ${JSON.stringify(body)}: ${text}`);
    answers.push({ status: response.statusCode, text });
    // Whose it is says the first answer that holds it; another's comes back in answers about it.
    for (const id of text.match(UUID) ?? []) if (!ids[OTHER[side]].has(id)) ids[side].add(id);
    const made = as === side ? madeBy(line, text, response.headers['mcp-session-id']) : [];
    for (const [place, id] of made) {
      ids[side].add(id);
      const pool = pools[side].get(place) ?? [];
      if (!pool.includes(id)) pools[side].set(place, [...pool, id]);
    }
  }
  await client.destroy();
  await closeAtOnce(app);
  return { answers, ids, foreign };
}

/** Place -> id of what an answer says was made. */
function madeBy(line: string, text: string, connection: unknown): [string, string][] {
  const { id, approval, ok } = text.startsWith('{') ? JSON.parse(text) : Object();
  const [, place = ''] = /^POST (\/v1\/(?:sessions|plans\/run))$/u.exec(line) ?? [];
  return [
    ...(place && typeof id === 'string' ? (place === SESSIONS ? [SESSIONS] : RUNS) : []).map(
      (one): [string, string] => [one, id],
    ),
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

/** @throws where a side sees or changes something of the other, with the request and both answers; it is not made shorter */
export async function checkPairs(numRuns: number, seed?: number): Promise<PairCounts & { routes: number }> {
  const counts = { commands: 0, done: 0, foreign: 0 };
  const { agents, app } = await openWorld();
  const routes = agentRoutes(agents, () => '');
  await closeAtOnce(app);
  await fc.assert(
    fc.asyncProperty(sequencesOf(routes), async (commands) => {
      const sides = ['ann', 'bob'] as const;
      const begin = sides.flatMap(beginningOf);
      await playPair([...begin, ...commands, ...sides.flatMap((one) => lookOf(one, routes))], counts);
    }),
    { numRuns, endOnFailure: true, ...(seed === undefined ? {} : { seed }) },
  );
  return { ...counts, routes: routes.length };
}
