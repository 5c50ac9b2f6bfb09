import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { specTypeSchemas } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { LogMessage } from '../../../../src/agents/contracts.js';
import type { AskPerson } from '../../../../src/agents/hearing.js';
import {
  createMcpExecutor,
  type McpExecutor,
  type McpExecutorOptions,
  readMcpContent,
} from '../../../../src/agents/sandbox/executors/mcp.js';
import type { SandboxLimitsInput } from '../../../../src/agents/sandbox/limits.js';
import {
  createSandbox,
  type DecidedCall,
  type Sandbox,
  type SandboxCall,
} from '../../../../src/agents/sandbox/sandbox.js';
import { createAnswerMask, type McpServer } from '../../../../src/core/catalog/sources/mcp-server.js';
import type { Risk } from '../../../../src/core/catalog/tool.js';
import { createTool } from '../../../support/create-tool.js';

const SCRIPT = resolve('test/agents/sandbox/executors/mcp-call-server.mjs');

/** Of a script that is no server: it leaves its mark as one does. */
const APPEND = "require('fs').appendFileSync(process.argv[1], 'start 1\\n')";

let folder: string;
let journal: string;
let seen = 0;
const opened: Sandbox[] = [];
let sandbox: Sandbox;
let executor: McpExecutor;

const MIXED = [
  { type: 'text', text: 'Here it is' },
  { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png', annotations: { audience: ['user'] } },
  { type: 'audio', data: 'UklGRg==', mimeType: 'audio/wav' },
  { type: 'resource_link', uri: 'file:///a.txt', name: 'a' },
  { type: 'resource', resource: { uri: 'file:///b.bin', mimeType: 'application/zip', blob: 'UEsDBA==' } },
  { type: 'resource', resource: { uri: 'file:///c.txt', mimeType: 'text/plain', text: 'words' } },
];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'winnow-mcp-calls-'));
  journal = join(folder, 'journal');
});
afterAll(async () => {
  await Promise.all(opened.map((one) => one.close()));
  await rm(folder, { recursive: true });
});
beforeEach(async () => {
  seen = (await lines()).length;
});

const lines = async () => (await readFile(journal, 'utf8').catch(() => '')).split('\n').filter(Boolean);
/** What servers have written since the test began. */
const events = async () => (await lines()).slice(seen).map((line) => line.replace(/ \d+$/u, ''));

const ownServer = () => ({ command: process.execPath, args: [SCRIPT, journal] });

function start(
  server: McpServer,
  { timeoutMs = 20_000, ...options }: McpExecutorOptions & { timeoutMs?: number } = {},
) {
  executor = createMcpExecutor({ notes: server }, options);
  sandbox = createSandbox({ executors: [executor], limits: { timeoutMs } });
  opened.push(sandbox);
}

interface CallMore extends Pick<SandboxCall, 'signal' | 'onLog' | 'onProgress' | 'onQuestion' | 'user' | 'decided'> {
  risk?: Risk;
  input?: object;
  /** Of a sandbox of its own, on the same server. */
  limits?: SandboxLimitsInput;
}

function call(name: string, { risk = 'high', input = {}, limits, ...more }: CallMore = {}) {
  const tool = createTool(name, {}, undefined, {
    toolType: 'mcp',
    risk,
    metadata: { mcp: { server: 'notes', tool: name } },
  });
  const place = limits ? createSandbox({ executors: [executor], limits }) : sandbox;
  return place.run({ tool, arguments: input, ...more });
}

/** Until the server's own process has written the line. */
async function until(event: string): Promise<void> {
  while (!(await events()).includes(event)) await pause(5);
}

/** A form with one field. */
const form = (field: object = {}, message = 'Which day?') => ({
  message,
  requestedSchema: { type: 'object', properties: { day: { type: 'string', ...field } } },
});

describe('what an MCP server asks while it works on a call', () => {
  beforeEach(() => start(ownServer()));

  it.each<[string, object, string]>([
    ['asks for a secret', form({ format: 'password' }), 'it asks for a secret'],
    [
      'is no form',
      { message: 'Go there', mode: 'url', url: 'https://example.com', elicitationId: '1' },
      'its question is no form as MCP has it',
    ],
    ['has a field that no form has', form({ type: 'object' }), 'its question is no form as MCP has it'],
    ['is too long', form({}, 'x'.repeat(4_001)), 'its question is too long to read'],
    ['has a form that is too long', form({ description: 'x'.repeat(32_000) }), 'its question is too long to read'],
    ['has a form of too many parts', form({ enum: Array(2_000).fill(1) }), 'its question is too long to read'],
    ['hides text in what it reads again', form({ enum: ['a\u200bb'] }), 'its question has hidden characters'],
  ])('is declined, and nobody sees it, where it %s', async (_, input, reason) => {
    const onQuestion = vi.fn<AskPerson>();
    const result = await call('ask', { input, onQuestion });
    expect(onQuestion).not.toHaveBeenCalled();
    expect(result).toMatchObject({ output: { action: 'decline' }, notes: [expect.stringContaining(reason)] });
  });

  it('is measured before it is read, and not read where nobody can be asked', async () => {
    const validate = vi.spyOn(specTypeSchemas.ElicitRequestFormParams['~standard'], 'validate');
    const secret = form({ format: 'password', description: 'x'.repeat(32_000) });
    const long = await call('ask', { input: secret, onQuestion: vi.fn<AskPerson>() });
    expect(long).toMatchObject({ notes: [expect.stringContaining('its question is too long to read')] });
    const nobody = await call('ask', { input: form({ format: 'password' }) });
    expect(nobody).toMatchObject({ notes: [expect.stringContaining('no person can be asked')] });
    expect(validate).not.toHaveBeenCalled();
    validate.mockRestore();
  });

  it('has its words on one line each, without hidden characters, and no keyword that MCP does not have', async () => {
    const onQuestion = vi.fn<AskPerson>(async () => ({ action: 'decline' }));
    const words = { title: 'The\u202e day', description: 'of\nthe week', default: 'two\nlines' };
    await call('ask', { input: form({ ...words, pattern: '(a+)+$' }, 'Allow\n\u2028rm?'), onQuestion });
    const day = { type: 'string', title: 'The day', description: 'of the week', default: 'two\nlines' };
    const requestedSchema = { type: 'object', properties: { day } };
    expect(onQuestion.mock.calls[0]?.[0]).toEqual({ server: 'notes', message: 'Allow rm?', requestedSchema });
  });

  it('is put to nobody where several calls are under way, or several users use the connection', async () => {
    const onQuestion = vi.fn<AskPerson>(async () => ({ action: 'accept', content: { day: 'Monday' } }));
    const stop = new AbortController();
    const hanging = call('hang', { user: 'ann', signal: stop.signal, onQuestion });
    await until('call hang');
    const unclear = 'nobody can tell to which of several calls it belongs';
    const declined = { output: { action: 'decline' }, notes: [expect.stringContaining(unclear)] };
    expect(await call('ask', { input: form(), user: 'ann', onQuestion })).toMatchObject(declined);
    stop.abort();
    await hanging;
    expect(await call('ask', { input: form(), user: 'ann', onQuestion })).toMatchObject({
      output: { action: 'accept' },
    });
    expect(await call('ask', { input: form(), user: 'bob', onQuestion })).toMatchObject(declined);
    expect(onQuestion).toHaveBeenCalledTimes(1);
  });

  it('is dismissed from the 21st of one call on, and prolongs the call while it is open', async () => {
    const onQuestion = vi.fn<AskPerson>(async () => {
      await pause(700);
      return { action: 'accept', content: { day: 'Monday' } };
    });
    // The limit is for the call alone: until then the server has started.
    await call('pid');
    const limits = { timeoutMs: 500 };
    // Its start is not in that time.
    await call('pid');
    expect(await call('ask', { input: form(), onQuestion, limits })).toMatchObject({ output: { action: 'accept' } });
    onQuestion.mockImplementation(async () => ({ action: 'decline' }));
    const said = await call('ask_often', { input: { times: 21, form: form() }, onQuestion });
    expect(said).toMatchObject({ output: [...Array(20).fill('decline'), 'cancel'] });
  });
});

describe('a tool of an MCP server', () => {
  beforeAll(() => start(ownServer()));

  it('is called over one connection, started at the first call and shared by calls at once', async () => {
    const results = await Promise.all([call('structured', { input: { a: 1 } }), call('pid'), call('pid')]);
    expect(results[0]).toMatchObject({ ok: true, output: { got: { a: 1 } } });
    expect(results[1]).toMatchObject({ ok: true });
    expect(results[1]?.ok && results[1].output).toBe(results[2]?.ok && results[2].output);
    expect((await events()).filter((line) => line === 'start')).toHaveLength(1);
  });

  it('gives structured content, else text as JSON where it is an object, else what there is', async () => {
    expect(await call('json_text')).toMatchObject({
      output: { ids: ['a', 'b'] },
      content: [{ type: 'text', text: '{"ids": ["a", "b"]}' }],
    });
    expect(await call('plain_text')).toMatchObject({ output: '[1] is no JSON', notes: [] });
    expect(await call('empty')).toMatchObject({ ok: true, output: null });
    expect(await call('error')).toMatchObject({ ok: false, code: 'tool_failed', reason: 'no such note' });
  });

  it('gives its blocks as they came, and a value without what only programs can read', async () => {
    const mixed = await call('mixed');
    expect(mixed).toMatchObject({ output: { level: 3 }, isStructured: true, content: MIXED, notes: [] });
    const blocks = await call('blocks');
    expect(blocks).toMatchObject({
      content: MIXED,
      notes: [],
      output: [
        { type: 'text', text: 'Here it is' },
        { type: 'image', bytes: 8, mimeType: 'image/png' },
        { type: 'audio', bytes: 4, mimeType: 'audio/wav' },
        { type: 'resource_link', uri: 'file:///a.txt', name: 'a' },
        { type: 'resource', resource: { uri: 'file:///b.bin', mimeType: 'application/zip', bytes: 4 } },
        { type: 'resource', resource: { text: 'words' } },
      ],
    });
    expect(JSON.stringify(blocks.ok && blocks.output)).not.toMatch(/iVBOR|UklG|UEsD/u);
    expect(await call('error_picture')).toMatchObject({ code: 'tool_failed', content: MIXED.slice(0, 2) });
    const strange = { type: 'hologram', data: 'AAAA' };
    const many = { content: Array(1_001).fill(MIXED[0]), isError: false };
    expect(readMcpContent(many)).toMatchObject({
      ok: false,
      reason: 'The answer has 1001 blocks. At most 1000 are read.',
    });
    expect(readMcpContent({ content: [strange, MIXED[0]], isError: false })).toMatchObject({
      content: [{ type: 'text', text: expect.stringContaining('"hologram"') }, MIXED[0]],
    });
  });

  it('has each block of its answer without one that is too large to be checked', () => {
    const audience = (count: number) => ({ annotations: { audience: Array(count).fill('user') } });
    const _meta = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`k${index}`, 1]));
    const content = [{ ...MIXED[0], ...audience(250), _meta }, { ...MIXED[0], ...audience(300) }, MIXED[1]];
    const left = '(a block of type "text" that is not of the form of MCP was left out)';
    expect(readMcpContent({ content, isError: false })).toMatchObject({
      content: [content[0], { type: 'text', text: left }, MIXED[1]],
    });
    expect(readMcpContent({ content: [{ ...MIXED[0], _meta: [] }], isError: false })).toMatchObject({ output: left });
  });

  it('has failed where too much of its answer is malformed, of which the rest is not read', () => {
    const unread = vi.fn();
    const last = Object.defineProperty({ type: 'text' }, 'text', { enumerable: true, get: unread });
    const malformed = { ...MIXED[0], annotations: { audience: Array(250).fill(1) } };
    expect(readMcpContent({ content: Array(10).fill(malformed), isError: false })).toMatchObject({ ok: true });
    expect(readMcpContent({ content: [...Array(20).fill(malformed), last], isError: false })).toMatchObject({
      ok: false,
      reason: 'Too many blocks of the answer are not of the form of MCP.',
    });
    expect(unread).not.toHaveBeenCalled();
  });

  it('that answers more than there is room for keeps whole pictures or none, and says what is left out', async () => {
    const limits = { maxOutputBytes: 1_000, maxMediaBytes: 400 };
    const { content = [], ...fits } = await call('large', { input: { base64: 400, text: 10 }, limits });
    expect(content).toMatchObject([{}, { type: 'image', data: 'A'.repeat(400) }, { text: 'the end' }]);
    expect(fits).toMatchObject({ ok: true, notes: [] });
    const tooLarge = await call('large', { input: { base64: 404, text: 10 }, limits });
    expect(tooLarge).toMatchObject({
      content: [{}, { type: 'text', text: '(image/png, 1 kB: left out, it is too large)' }, { text: 'the end' }],
      notes: [expect.stringMatching(/^1 of the blocks .* left out: .*maxMediaBytes/u)],
    });
    const long = await call('large', { input: { base64: 4, text: 1_000 }, limits });
    expect(Buffer.byteLength(JSON.stringify(long.content))).toBeLessThanOrEqual(1_100);
    expect(long.content?.[0]?.text).toMatch(/^é+$/u);
    expect(long).toMatchObject({ notes: expect.arrayContaining([expect.stringContaining('maxOutputBytes')]) });
    const many = await call('many', { input: { count: 60 }, limits });
    expect(Buffer.byteLength(JSON.stringify(many.content))).toBeLessThan(3_000);
    const described = await call('large', { input: { meta: 1_000 }, limits });
    expect(described).not.toHaveProperty('meta');
    expect(described).toMatchObject({ notes: ['_meta of the result was left out: it is too large or no JSON.'] });
  });

  it('tells what it logs, within bounds, to nobody once two users have called', async () => {
    const told: LogMessage[] = [];
    const chat = (words: string, user?: string) =>
      call('chatty', { input: { words }, ...(user ? { user } : {}), onLog: (message) => told.push(message) });
    await chat('x'.repeat(2_000));
    expect(told).toMatchObject([{ level: 'warning', data: expect.stringMatching(/^.{1,1001}…$/u) }]);
    await chat('a secret of ann', 'ann');
    expect(told).toHaveLength(1);
  });

  it('tells what it logs to nobody once another user has asked it for resources', async () => {
    start(ownServer());
    const told: LogMessage[] = [];
    const chat = () => call('chatty', { input: { words: 'x' }, user: 'ann', onLog: (message) => told.push(message) });
    const request = { method: 'resources/list' } as const;
    await executor.offers.ask('notes', request, { user: 'ann' });
    await chat();
    expect(told).toHaveLength(1);
    await executor.offers.ask('notes', request, { user: 'bob' });
    await chat();
    expect(told).toHaveLength(1);
  });

  it('is of no server whose name gives the prefix of another, in code and in files', () => {
    const servers = { my_notes: { command: 'a' }, 'my.notes': { command: 'b' } };
    expect(() => createMcpExecutor(servers)).toThrow('The MCP servers "my_notes" and "my.notes" have one prefix');
  });

  it('that reads is called once more when its server dies; one that writes is not', async () => {
    expect(await call('die', { risk: 'high' })).toMatchObject({ ok: false, code: 'connection_lost' });
    expect((await events()).filter((line) => line === 'call die')).toHaveLength(1);
    expect(await call('die', { risk: 'low' })).toMatchObject({ ok: false, code: 'connection_lost' });
    expect((await events()).filter((line) => line === 'call die')).toHaveLength(3);
  });

  const GO: DecidedCall = { risk: 'low', isApproved: false, findRefusal: async () => undefined };
  it.each<[string, Risk, Partial<DecidedCall>, number]>([
    ['twice, for a tool of low risk', 'low', {}, 2],
    ['once, for a tool of high risk that is lowered', 'high', {}, 1],
    ['once, for a tool of low risk that is raised', 'low', { risk: 'medium' }, 1],
    ['once, for a tool of low risk that used an approval', 'low', { isApproved: true }, 1],
  ])('is called %s, where its server dies', async (_, risk, decided, times) => {
    start(ownServer());
    expect(await call('die', { risk, decided: { ...GO, ...decided } })).toMatchObject({ code: 'connection_lost' });
    expect((await events()).filter((line) => line === 'call die')).toHaveLength(times);
  });

  it('that used an approval is called once, though marked as one that may be repeated', async () => {
    start(ownServer());
    const limits = { tools: { die: { idempotent: true } } };
    await call('die', { decided: { ...GO, risk: 'high', isApproved: true }, limits });
    expect((await events()).filter((line) => line === 'call die')).toHaveLength(1);
    await call('die', { decided: { ...GO, risk: 'high' }, limits });
    expect((await events()).filter((line) => line === 'call die')).toHaveLength(3);
  });

  it('is decided again once its server has started, and is not sent where it is refused by then', async () => {
    start(ownServer());
    const refusal = { ok: false, code: 'session_ended', reason: 'The session has ended.', next: 'Open one.' } as const;
    let seenThen: string[] = [];
    const findRefusal = async () => {
      seenThen = await events();
      return refusal;
    };
    expect(await call('pid', { decided: { ...GO, findRefusal } })).toEqual(refusal);
    expect(seenThen).toEqual(['start']);
    const broken = { ...GO, findRefusal: () => Promise.reject(new Error('the store is away')) };
    expect(await call('pid', { decided: broken })).toMatchObject({ code: 'not_started' });
    expect(await call('empty')).toMatchObject({ ok: true });
    expect(await events()).toEqual(['start', 'call empty']);
  });

  it('works again after its server died: the next call starts it', async () => {
    const before = await call('pid');
    process.kill(Number(before.ok && before.output), 'SIGKILL');
    const after = await call('pid', { risk: 'low' });
    expect(after).toMatchObject({ ok: true });
    expect(after.ok && after.output).not.toBe(before.ok && before.output);
  });

  it('that is private, or of a server that nobody configured or that was moved, is not run', async () => {
    const metadata = { mcp: { server: 'notes', tool: 'pid' } };
    const own = createTool('pid', {}, undefined, { toolType: 'mcp', scope: { user: 'anna' }, metadata });
    expect(await sandbox.run({ tool: own, arguments: {}, user: 'anna' })).toMatchObject({ code: 'not_runnable' });
    const other = createTool('x', {}, undefined, { metadata: { mcp: { server: 'other', tool: 'x' } } });
    expect(await sandbox.run({ tool: other, arguments: {} })).toMatchObject({ code: 'not_runnable' });
    const moved = createTool('pid', {}, undefined, {
      metadata: { mcp: { server: 'notes', tool: 'pid', target: 'x' } },
    });
    expect(await sandbox.run({ tool: moved, arguments: {} })).toMatchObject({ code: 'not_runnable' });
    expect(await events()).toEqual([]);
  });

  it('leaves no process behind when the sandbox is closed', async () => {
    const pid = await call('pid');
    await sandbox.close();
    expect(() => process.kill(Number(pid.ok && pid.output), 0)).toThrow('ESRCH');
    expect(await call('pid')).toMatchObject({ ok: false, code: 'tool_unavailable' });
  });
});

describe('the keys that an MCP server is given', () => {
  const KEY = 'Zm9vL2JhciYm';
  const PASSWORD = 'hunter/2@horse';
  const env = {
    API_KEY: KEY,
    STORE: `postgres://svc:${encodeURIComponent(PASSWORD)}@db/notes`,
    PIN_TOKEN: '90017',
    USE_TOKEN: 'true',
    LEVEL: 'warning',
    ROOT: '/data/notes-2026-11',
    HOST: 'https://notes.example.com',
    ZONE: 'eu-west-1',
  };
  const settings = {
    is: true,
    said: 'true',
    level: 'warning',
    place: `${env.ROOT}/a`,
    link: `${env.HOST}/a`,
    at: env.ZONE,
  };
  beforeAll(() => start({ ...ownServer(), env: { ...env, NUMBER_KEY: '12345678' } }));

  it('are in no text of its answers, whose settings and media stay as they came', async () => {
    const blob = `${KEY}AAAA`;
    const block = (key: string, password: string) => [
      { type: 'text', text: `GET /?key=${key} by ${password}`, _meta: { [`x/${key}`]: key } },
      { type: 'image', data: blob, mimeType: 'image/png' },
      { type: 'resource', resource: { uri: `note:///${key}`, mimeType: 'a/b', blob } },
      { type: 'resource', resource: { uri: 'note:///b', text: key } },
      { type: 'resource_link', uri: `note:///${key}`, name: key },
    ];
    const answer = (key: string, password: string, number: number | string) => ({
      content: block(key, password),
      structuredContent: { [key]: [key, { a: password }], number, ...settings },
      _meta: { 'example.com/trace': key },
    });
    const hidden = answer('[masked]', '[masked]', '[masked]');
    const result = await call('repeat', { input: answer(KEY, PASSWORD, 12_345_678) });
    expect(result).toMatchObject({ content: hidden.content, output: hidden.structuredContent, meta: hidden._meta });
    const text = `{"path": "${KEY.replace('9', '\\u0039')}", "is": true}`;
    expect(await call('repeat', { input: { content: [{ type: 'text', text }] } })).toMatchObject({
      output: { path: '[masked]', is: true },
    });
  });

  it('are in no failure, log, report or question', async () => {
    const content = [{ type: 'text', text: `no such key: ${KEY}` }];
    expect(await call('repeat', { input: { content, isError: true } })).toMatchObject({
      ok: false,
      reason: 'no such key: [masked]',
      content: [{ text: 'no such key: [masked]' }],
    });
    const onLog = vi.fn<(message: LogMessage) => void>();
    await call('chatty', { input: { words: KEY }, onLog });
    expect(onLog).toHaveBeenCalledWith({ level: 'warning', logger: 'db', data: { words: '[masked]' } });
    const onProgress = vi.fn();
    await call('report', { input: { words: KEY }, onProgress });
    expect(onProgress).toHaveBeenCalledWith({ progress: 1, message: '[masked]' });
    const onQuestion = vi.fn<AskPerson>(async () => ({ action: 'decline' }));
    await call('ask', { input: form({ title: KEY }, `Is it ${KEY}?`), onQuestion });
    expect(onQuestion.mock.calls[0]?.[0]).toMatchObject({
      message: 'Is it [masked]?',
      requestedSchema: { properties: { day: { title: '[masked]' } } },
    });
  });

  it.each<[string, McpServer]>([
    ['a header', { url: 'https://a.test', headers: { 'x-api-key': KEY } }],
    ['a token', { url: 'https://a.test', headers: { authorization: `Bearer ${KEY}` } }],
    ['a login', { url: 'https://a.test', headers: { authorization: `Basic ${btoa(`svc:${KEY}`)}` } }],
    ['a query', { url: `https://a.test/mcp?api_key=${KEY}` }],
    ['a client secret', { url: 'https://a.test', oauth: { clientId: 'winnow', clientSecret: KEY } }],
  ])('are known in %s', (_, server) => {
    const mask = createAnswerMask({
      ...server,
      ...('url' in server && { headers: { accept: 'text/html', ...server.headers } }),
    });
    expect(mask(`${KEY} of svc, winnow, text/html`)).toBe('[masked] of svc, winnow, text/html');
  });
});

describe('a tool of an MCP server that has trouble', () => {
  it('of a server that can not be started is unavailable, without its secrets', async () => {
    start({
      command: process.execPath,
      args: ['-e', 'console.error(process.env.KEY); process.exit(3)'],
      env: { KEY: 'very-secret' },
    });
    const result = await call('pid');
    expect(result).toMatchObject({ ok: false, code: 'tool_unavailable', reason: expect.stringContaining('"notes"') });
    expect(JSON.stringify(result)).not.toContain('very-secret');
  });

  it('of a server that starts slowly runs out of time, and the server is there for the next', async () => {
    const slow = `setTimeout(() => import(${JSON.stringify(SCRIPT)}), 700)`;
    // With -e, the journal is the first argument of the script, so a placeholder stands for its name.
    start(
      { command: process.execPath, args: ['--input-type=module', '-e', slow, 'script', journal] },
      { timeoutMs: 400 },
    );
    expect(await call('empty')).toMatchObject({ ok: false, code: 'timeout' });
    await pause(600);
    let last = await call('empty');
    for (let tries = 0; !last.ok && tries < 20; tries++) last = await call('empty');
    expect(last).toMatchObject({ ok: true });
    expect((await events()).filter((line) => line === 'start')).toHaveLength(1);
  });
});

describe('the life of a server that is called', () => {
  const TOOL = createTool('pid', {}, undefined, {
    toolType: 'mcp',
    metadata: { mcp: { server: 'notes', tool: 'pid' } },
  });
  const starts = async () => (await events()).filter((line) => line === 'start').length;

  async function untilGone(pid: number): Promise<void> {
    for (;;) {
      try {
        process.kill(pid, 0);
      } catch {
        return;
      }
      await pause(5);
    }
  }

  const pidOf = async () => {
    const result = await call('pid');
    return Number(result.ok && result.output);
  };

  const ENDED = 'it ended before it answered';
  const script = (...args: string[]) => ({ command: process.execPath, args });

  it.each([
    ['can not be started', { command: 'no-such-command-here' }, 'it could not be started (ENOENT)'],
    ['ends at once', script('-e', `${APPEND}; console.error("sk-very-secret"); process.exit(3)`), ENDED],
    ['dies of each call', script(SCRIPT), ENDED],
  ])('is a pause, longer each time, where it %s, and the caller hears why', async (_, server, reason) => {
    let clock = 0;
    const args = 'args' in server ? [...server.args, journal] : [];
    start({ ...server, args }, { now: () => clock });
    const fails = () => call('die');
    for (let time = 0; time < 4; time++) expect(await fails()).toMatchObject({ ok: false });
    for (const [seconds, times] of [1, 2, 4, 8].entries()) {
      const before = await starts();
      expect(await fails()).toMatchObject({
        code: 'tool_unavailable',
        reason: expect.stringMatching(/^The MCP server "notes" is down: .*\. It may be started again in \d+ s\.$/su),
      });
      expect(executor.whyDown?.(TOOL)).toContain(`is down: ${reason}`);
      expect(executor.whyDown?.(TOOL)).toContain(`in ${2 ** seconds} s`);
      expect(executor.whyDown?.(TOOL)).not.toContain('very-secret');
      expect(executor.health?.().get('notes')).toBeDefined();
      expect(await starts()).toBe(before);
      clock += 1_000 * times;
      expect(executor.whyDown?.(TOOL)).toBeUndefined();
      await fails();
      if (args.length > 0) expect(await starts()).toBeGreaterThan(before);
    }
  });

  it('is over when nobody has called for a while, and begins again with the next call', async () => {
    start(ownServer(), { idleMs: 30 });
    const first = await pidOf();
    await untilGone(first);
    const second = await pidOf();
    expect(second).not.toBe(first);
    expect(executor.health?.()).toEqual(new Map([['notes', undefined]]));
    // A call that runs for longer than that keeps it.
    const [slow, pid] = await Promise.all([call('slow', { input: { steps: 10 } }), pidOf()]);
    expect(slow).toMatchObject({ ok: true, output: 'done' });
    await untilGone(pid);
  });
});

describe('a tool of an MCP server on streamable HTTP', () => {
  it('of low risk is called again on a new session when the server forgot the old one, which is given back', async () => {
    const server = spawn(process.execPath, [SCRIPT, journal, 'http'], { stdio: ['ignore', 'pipe', 'ignore'] });
    try {
      const line = await createInterface({ input: server.stdout })[Symbol.asyncIterator]().next();
      const base = `http://127.0.0.1:${String(line.value).replace('port ', '')}`;
      start({ url: `${base}/mcp` });
      expect(await call('structured', { input: { a: 1 } })).toMatchObject({ output: { got: { a: 1 } } });
      await fetch(`${base}/forget`);
      expect(await call('structured', { input: { a: 2 }, risk: 'low' })).toMatchObject({ output: { got: { a: 2 } } });
      expect((await events()).filter((event) => event === 'call structured')).toHaveLength(2);
      await fetch(`${base}/forget`);
      expect(await call('structured', { input: { a: 3 } })).toMatchObject({
        code: 'connection_lost',
        reason: 'The MCP server "notes" can\'t be reached: HTTP 404: no such session',
      });
      expect(await call('structured', { input: { a: 4 } })).toMatchObject({ output: { got: { a: 4 } } });
      await sandbox.close();
      expect(await events()).toContain('session closed');
    } finally {
      const exit = once(server, 'exit');
      server.kill();
      await exit;
    }
  });

  it('that is not there is unavailable', async () => {
    start({ url: 'http://127.0.0.1:9/mcp' });
    expect(await call('pid')).toMatchObject({ ok: false, code: 'tool_unavailable' });
  });
});
