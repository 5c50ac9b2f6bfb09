/** Tools of MCP servers behind Winnow: a client of Winnow gets what a client of the server gets. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { LoggingMessageNotificationSchema, type Progress } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createMcpExecutor } from '../../../src/agents/sandbox/executors/mcp.js';
import type { SandboxLimitsInput } from '../../../src/agents/sandbox/limits.js';
import { createCatalog } from '../../../src/core/catalog/catalog.js';
import type { JsonSchema, ToolEntry } from '../../../src/core/catalog/tool.js';
import { createTool } from '../../support/create-tool.js';
import { connect, createWorld, openClient, openForAll } from './setup.js';

const SCRIPT = resolve('test/agents/sandbox/executors/mcp-call-server.mjs');
let folder: string;
let server: { command: string; args: string[] };
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'winnow-upstream-'));
  server = { command: process.execPath, args: [SCRIPT, join(folder, 'journal')] };
});
afterAll(() => rm(folder, { recursive: true }));

const GOT: JsonSchema = {
  type: 'object',
  properties: { got: { type: 'object', properties: { a: { type: 'integer' } }, required: ['a'] } },
  required: ['got'],
};
const SELF: JsonSchema = { type: 'object', properties: { x: { $ref: '#/$defs/nothing' } } };

function upstream(name: string, output?: JsonSchema, more: Partial<ToolEntry> = {}) {
  const metadata = { mcp: { server: 'calls', tool: name } };
  return createTool(name, {}, output, { toolType: 'mcp', risk: 'low', alwaysLoad: true, metadata, ...more });
}

async function connectBehind(limits?: SandboxLimitsInput) {
  const tools = [
    ...['mixed', 'blocks', 'json_text', 'picture', 'error_picture', 'large', 'slow', 'chatty'].map((name) =>
      upstream(name),
    ),
    upstream('structured', GOT, { title: 'Says what it got' }),
    upstream('empty', SELF),
    createTool('local', {}, { type: 'object' }, { risk: 'low', alwaysLoad: true, toolType: 'builtin' }),
  ];
  const catalog = createCatalog(tools);
  const more = { catalog: () => catalog, executors: [createMcpExecutor({ calls: server })] };
  const world = await createWorld({ more: { ...more, limits: { timeoutMs: 20_000, ...limits } } });
  return connect(world);
}

describe('a tool of an MCP server', () => {
  let behind: Awaited<ReturnType<typeof connectBehind>>;
  let close: () => Promise<void>;
  beforeAll(async () => {
    ({ opened: behind, close } = await openForAll(() => connectBehind()));
    // The client then checks every answer against the schema that was listed.
    await behind.names();
  });
  afterAll(() => close());

  it('answers the same through Winnow as without it', async () => {
    const direct = await openClient(new StdioClientTransport(server));
    for (const name of ['mixed', 'blocks', 'json_text', 'picture', 'error_picture']) {
      const { content, structuredContent, isError, _meta } = await direct.call(name);
      const result = await behind.call(name);
      const meta = _meta ? { _meta } : {};
      if (isError)
        expect(result).toMatchObject({ content, isError, structuredContent: { code: 'tool_failed' }, ...meta });
      else expect(result).toEqual({ content, ...(structuredContent ? { structuredContent } : {}), ...meta });
      expect(await behind.call('tool_call', { tool: name })).toEqual(result);
    }
  });

  it('keeps its title and what it promises to answer; what can not be compiled is no promise', async () => {
    const { client } = behind;
    const { tools } = await client.listTools();
    const byName = new Map(tools.map((tool) => [tool.name, tool]));
    expect(byName.get('structured')).toMatchObject({ title: 'Says what it got', outputSchema: GOT });
    for (const name of ['empty', 'local', 'mixed']) expect(byName.get(name)).not.toHaveProperty('outputSchema');
  });

  it('that keeps its promise answers by it; else it is an error that clients take', async () => {
    const { call } = behind;
    expect(await call('structured', { a: 1 })).toEqual({ content: [], structuredContent: { got: { a: 1 } } });
    const broken = await call('structured', { a: 'one' });
    expect(broken).toEqual({
      isError: true,
      content: [
        { type: 'text', text: '{"got":{"a":"one"}}' },
        { type: 'text', text: expect.stringContaining('does not fit its outputSchema: got.a') },
      ],
    });
  });

  it('that is shortened or refused is an error that clients take, too', async () => {
    const { names, call } = await connectBehind({
      maxOutputBytes: 200,
      tools: { structured: { maxOutputBytes: 200, rate: { calls: 2, seconds: 60 } } },
    });
    await names();
    const long = await call('structured', { a: 1, more: 'x'.repeat(500) });
    expect(long).toMatchObject({ isError: true, content: [{}, { text: expect.stringContaining('maxOutputBytes') }] });
    expect(await call('structured', { a: 1, b: 2 })).toMatchObject({ structuredContent: { got: { b: 2 } } });
    const refused = await call('structured', { a: 1 });
    expect(refused).toEqual({
      isError: true,
      content: [{ type: 'text', text: expect.stringMatching(/^rate_limited: /u) }],
    });
  });

  it('tells its progress to the client that asked for it, as the server says it', async () => {
    const { client } = behind;
    const told: Progress[] = [];
    const onprogress = (progress: Progress) => told.push(progress);
    const steps = [1, 2, 3].map((progress) => ({ progress, total: 3, message: `step ${progress}` }));
    await client.callTool({ name: 'slow', arguments: { steps: 3 } }, undefined, { onprogress });
    expect(told).toEqual(steps);
    const params = { name: 'tool_call', arguments: { tool: 'slow', arguments: { steps: 3 } } };
    await client.callTool(params, undefined, { onprogress });
    expect(told).toEqual([...steps, ...steps]);
  });

  it('logs to the client, as far down as the client wants', async () => {
    const { client, call } = behind;
    const told: unknown[] = [];
    client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => void told.push(params));
    await client.setLoggingLevel('warning');
    await call('chatty', { words: 'disk is full' });
    expect(told).toEqual([{ level: 'warning', logger: 'db', data: { words: 'disk is full' } }]);
    await client.setLoggingLevel('error');
    await call('chatty', { words: 'disk is full' });
    expect(told).toHaveLength(1);
  });
});
