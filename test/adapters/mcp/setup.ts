/** Winnow as an MCP server over tools whose runs are written down, and real clients that talk to it. */
import { PassThrough } from 'node:stream';
import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernHttp,
  type Transport as ModernTransport,
} from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  type CallToolResult,
  CallToolResultSchema,
  type ElicitRequest,
  ElicitRequestSchema,
  type ElicitResult,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { afterEach } from 'vitest';
import type { ServerParts } from '../../../src/adapters/http/app.js';
import type { McpParts } from '../../../src/adapters/mcp/answering.js';
import { type ConnectionOptions, createConnection } from '../../../src/adapters/mcp/connection.js';
import { createMcpEndpoint, type McpHttpParts } from '../../../src/adapters/mcp/http-endpoint.js';
import { type McpOptionsInput, resolveMcpOptions } from '../../../src/adapters/mcp/mcp-options.js';
import { serveStdio } from '../../../src/adapters/mcp/serve-stdio.js';
import { type Agents, type AgentsParts, createAgents } from '../../../src/agents/agents.js';
import type { CreateSessionInput } from '../../../src/agents/contracts.js';
import { createPolicy, type PolicyInput } from '../../../src/agents/policy/policy.js';
import { fixedPolicy } from '../../../src/agents/policy/policy-file.js';
import { createFunctionExecutor, type ToolFunction } from '../../../src/agents/sandbox/executors/functions.js';
import { openStore } from '../../../src/agents/store/open-store.js';
import { createCatalog } from '../../../src/core/catalog/catalog.js';
import { createTool } from '../../support/create-tool.js';
import { answeringPlanner, recordLog, startServer } from '../http/setup.js';

const path = { properties: { path: { type: 'string' } }, required: ['path'] };

export const TOOLS = [
  createTool('ask_user', {}, undefined, { risk: 'low', alwaysLoad: true, description: 'Asks the user.' }),
  createTool('file_read', path, undefined, { risk: 'low', description: 'Reads the content of a file.' }),
  createTool('file_list', {}, undefined, { risk: 'low', description: 'Lists the files of a folder.' }),
  createTool('file_delete', path, undefined, { risk: 'high', description: 'Deletes a file for ever.' }),
  createTool('file_note', path, undefined, { risk: 'medium', description: 'Writes a note beside a file.' }),
  createTool('wait', {}, undefined, { risk: 'low', description: 'Waits until it is cancelled.' }),
  createTool('secret_door', {}, undefined, { risk: 'low', description: 'Opens the secret door.' }),
  createTool('查询水库', {}, undefined, { risk: 'low', description: 'The level of a reservoir.' }),
  createTool('plan', {}, undefined, { risk: 'low', description: 'A plan of the house.' }),
  createTool('diary', {}, undefined, { risk: 'low', description: 'The diary of Bob.', scope: { user: 'bob' } }),
  createTool('mail', {}, undefined, { risk: 'low', description: 'The mail of Ann.', scope: { user: 'ann' } }),
  // Clients refuse a list that holds such schemas.
  createTool('odd', { type: ['object', 'null'], properties: { any: true } }, undefined, { risk: 'low' }),
];

const DENIED: PolicyInput = { rules: [{ name: 'shut', match: { tool: 'secret_door' }, decision: 'deny' }] };

export interface World {
  agents: Agents;
  parts: McpParts;
  readonly runs: string[];
  /** Of the tool `wait`: resolves when it begins, and when it is cancelled; lets it end. */
  readonly waiting: { began: Promise<void>; cancelled: Promise<void>; release(): void };
  log: ReturnType<typeof recordLog>;
}

export interface WorldOptions {
  policy?: PolicyInput;
  options?: McpOptionsInput;
  planner?: McpParts['planner'];
  clock?: () => Date;
  sessionIdleMs?: number;
  /** Whether plans are run. */
  hasRuns?: boolean;
  /** Parts of the agents that are other than usual. */
  more?: Partial<AgentsParts>;
}

const worlds = new Set<{ close(): Promise<unknown> }>();
export function closeAfterTest(one: { close(): Promise<unknown> }): void {
  worlds.add(one);
}
afterEach(async () => {
  for (const world of [...worlds].reverse()) await world.close();
  worlds.clear();
});

/** What `open` opens stays open after the test, until `close`: for tests that share it. */
export async function openForAll<Opened>(open: () => Promise<Opened>) {
  const before = new Set(worlds);
  const opened = await open();
  const mine = [...worlds].filter((one) => !before.has(one));
  for (const one of mine) worlds.delete(one);
  const close = async () => {
    for (const one of mine.reverse()) await one.close();
  };
  return { opened, close };
}

export async function createWorld({
  policy = {},
  options,
  planner,
  clock,
  sessionIdleMs,
  hasRuns = false,
  more = {},
}: WorldOptions = {}): Promise<World> {
  const runs: string[] = [];
  const run =
    (name: string, output: unknown): ToolFunction =>
    (input) => {
      runs.push(`${name} ${String(input.path ?? '')}`.trim());
      return output;
    };
  const began = createSignal();
  const cancelled = createSignal();
  const released = createSignal();
  const catalog = createCatalog(TOOLS);
  const agents = createAgents({
    store: await openStore(),
    catalog: () => catalog,
    policy: fixedPolicy(createPolicy({ ...DENIED, ...policy })),
    limits: { timeoutMs: 20_000 },
    options: { sessionIdleMs },
    clock,
    executors: [
      createFunctionExecutor({
        ask_user: run('ask_user', 'yes'),
        file_read: run('file_read', { text: 'hello' }),
        file_list: run('file_list', ['a.txt', 'b.txt']),
        file_delete: run('file_delete', { gone: true }),
        查询水库: run('查询水库', 12.5),
        plan: run('plan', 'two rooms'),
        wait: (_, { signal }) =>
          new Promise((resolve, reject) => {
            began.fire();
            void released.fired.then(() => resolve('done'));
            signal.addEventListener('abort', () => {
              cancelled.fire();
              reject(new Error('cancelled'));
            });
          }),
      }),
    ],
    ...more,
  });
  await agents.index.settled();
  const log = recordLog();
  const parts: McpParts = {
    router: agents.router,
    planner,
    plans: hasRuns ? agents.plans : undefined,
    options: resolveMcpOptions(options),
    logger: log.logger,
  };
  closeAfterTest(agents);
  const waiting = { began: began.fired, cancelled: cancelled.fired, release: released.fire };
  return { agents, parts, runs, waiting, log };
}

function createSignal(): { fire(): void; fired: Promise<void> } {
  let fire: () => void = () => {};
  const fired = new Promise<void>((resolve) => {
    fire = resolve;
  });
  return { fire: () => fire(), fired };
}

/** A real client on a connection in this process, closed after the test. */
export async function connect(
  world: Pick<World, 'parts'>,
  owner: CreateSessionInput = { user: 'ann' },
  { answer, ...options }: ConnectionOptions & { answer?: Answer } = {},
) {
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  const connection = createConnection(world.parts, owner, options);
  await connection.server.connect(ours);
  return { connection, ...(await openClient(theirs, answer)) };
}

/** What the person at a client says to a question. */
export type Answer = (question: ElicitRequest['params']) => ElicitResult | Promise<ElicitResult>;

export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly onprogress?: (progress: { message?: string | undefined }) => void;
}

export interface TestClient {
  readonly client: Client;
  names(): Promise<string[]>;
  call(name: string, given?: object, meta?: object, options?: CallOptions): Promise<CallToolResult>;
  /** What the answer says, where it is structured. */
  ask(...asked: Parameters<TestClient['call']>): Promise<ReturnType<typeof JSON.parse>>;
  /** How often the client was told that its tools have changed. */
  changes(): number;
  /** Resolves when it was told so often. */
  changed(count: number): Promise<void>;
}

/** Closed after the test. */
export async function openClient(transport: Transport, answer?: Answer): Promise<TestClient> {
  const capabilities = answer ? { elicitation: {} } : {};
  const client = new Client({ name: 'test', version: '1.0.0' }, { capabilities });
  if (answer) client.setRequestHandler(ElicitRequestSchema, ({ params }) => answer(params));
  let changes = 0;
  let onChange: () => void = () => {};
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
    changes += 1;
    onChange();
  });
  await client.connect(transport);
  closeAfterTest(client);
  const call: TestClient['call'] = async (name, given = {}, meta, options) => {
    const params = { name, arguments: { ...given }, ...(meta ? { _meta: { ...meta } } : {}) };
    return CallToolResultSchema.parse(await client.callTool(params, undefined, options));
  };
  return {
    client,
    call,
    names: async () => (await client.listTools()).tools.map(({ name }) => name),
    ask: async (...asked) => (await call(...asked)).structuredContent,
    changes: () => changes,
    changed: (count) =>
      new Promise((resolve) => {
        onChange = () => {
          if (changes >= count) resolve();
        };
        onChange();
      }),
  };
}

export const MODERN = '2026-07-28';

/** A real client of 2026-07-28, closed after the test. */
export async function openModern(transport: ModernTransport, answer?: Answer) {
  const capabilities = answer ? { elicitation: { form: {} } } : {};
  const versionNegotiation = { mode: { pin: MODERN } };
  const client = new ModernClient({ name: 'test', version: '1.0.0' }, { capabilities, versionNegotiation });
  if (answer)
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      const { action, content } = await answer(params as ElicitRequest['params']);
      return content ? { action, content } : { action };
    });
  await client.connect(transport);
  closeAfterTest(client);
  const call = async (name: string, given: object = {}, meta?: object, options?: CallOptions) =>
    client.callTool({ name, arguments: { ...given }, ...(meta ? { _meta: { ...meta } } : {}) }, options);
  return {
    client,
    call,
    list: async () => (await client.listTools()).tools,
    names: async () => (await client.listTools()).tools.map(({ name }) => name),
    /** What the answer says, where it is structured. */
    ask: async (...asked: Parameters<typeof call>): Promise<ReturnType<typeof JSON.parse>> =>
      (await call(...asked)).structuredContent,
  };
}

interface HttpOptions {
  http?: Partial<McpHttpParts>;
  server?: ServerParts['options'];
  hostNames?: readonly string[];
}

type Who = Parameters<typeof asUser>;

/** What a gateway sets; without a user there is none. */
export function asUser(user?: string, roles?: string) {
  const headers = {
    ...(user === undefined ? {} : { 'x-winnow-user': user }),
    ...(roles === undefined ? {} : { 'x-winnow-roles': roles }),
  };
  return { requestInit: { headers } };
}

/** `/mcp` of a real server over this world, which is closed after the server; the transports of clients of both eras. */
export async function serveHttp<One extends Pick<World, 'parts'>>(world: One, options: HttpOptions = {}) {
  const { http, server, hostNames } = options;
  const mcp = createMcpEndpoint({ ...world.parts, ...http });
  const limits = { stopTimeoutMs: 2_000, ...server };
  const { app, url: base } = await startServer({ planner: answeringPlanner(), mcp, hostNames, options: limits });
  closeAfterTest(app);
  const url = `${base}/mcp`;
  return {
    ...world,
    ...{ app, mcp, url },
    old: (...who: Who) => new StreamableHTTPClientTransport(new URL(url), asUser(...who)) as Transport,
    modern: (...who: Who) => new ModernHttp(new URL(url), asUser(...who)),
    close: (): Promise<unknown> => app.close(),
  };
}

/** Both ends of the pipes of a process that is not there; each transport of MCP reads one and writes the other. */
export async function servePipes<One extends Pick<World, 'parts'>>(
  world: One,
  owner: CreateSessionInput = { user: 'ann' },
) {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const told: object[] = [];
  const stop = new AbortController();
  const onClient = (client: object) => told.push(client);
  const served = serveStdio(world.parts, owner, { stdin, stdout, signal: stop.signal, onClient });
  closeAfterTest({
    async close() {
      stop.abort();
      await served;
    },
  });
  const transport = () => new StdioServerTransport(stdout, stdin);
  const close = async () => void stdin.end();
  return { ...world, ...{ served, stdin, stdout, told }, old: transport as () => Transport, modern: transport, close };
}

/** Each way in which a client speaks to Winnow. */
export const HOW = ['sessions on stdio', 'sessions on HTTP', '2026-07-28 on stdio', '2026-07-28 on HTTP'] as const;
export type How = (typeof HOW)[number];

/** Ann as a client of this era over this transport. */
export async function openBy(how: How, options: WorldOptions = {}, answer?: Answer) {
  const world = await createWorld(options);
  const served = how.endsWith('HTTP') ? await serveHttp(world) : await servePipes(world);
  const isModern = how.startsWith(MODERN);
  const { client, call, ask, names } = isModern
    ? await openModern(served.modern('ann'), answer)
    : await openClient(served.old('ann'), answer);
  let handle = {};
  /** One of Winnow's own tools, with the handle that it has once given. */
  const own: typeof ask = async (name, given, ...more) => {
    const answered = await ask(name, { ...given, ...handle }, ...more);
    if (isModern && answered.session) handle = { session: answered.session };
    return answered;
  };
  /** A tool that was enabled: by its name, or with the handle. */
  const use: typeof ask = (tool, given = {}, ...more) =>
    isModern ? own('tool_call', { tool, arguments: given }, ...more) : ask(tool, given, ...more);
  const told = 'told' in served ? served.told : [];
  return { ...served, ...{ client, call, ask, names, told, own, use } };
}
