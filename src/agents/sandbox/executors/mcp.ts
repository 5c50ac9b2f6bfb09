/**
 * MCP tools: one connection a server, opened at the first call and shared by all. A call that the server has not
 * seen is made once more on a new connection; one that was lost on the way only if it may be repeated.
 */

import { type ContentBlock, ContentBlockSchema } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { isObject } from '../../../core/catalog/schema/json.js';
import { targetOf } from '../../../core/catalog/sources/mcp.js';
import { McpFailure } from '../../../core/catalog/sources/mcp-connection.js';
import type { McpServer } from '../../../core/catalog/sources/source.js';
import type { Tool } from '../../../core/catalog/tool.js';
import { orAborted } from '../../../core/errors.js';
import { describeBlock } from '../cap-output.js';
import { type CallFailure, describeThrown, fail } from '../failure.js';
import { REMOTE_TIMEOUT_MS } from '../limits.js';
import { type Executed, type Executor, type ExecutorCall, runnerOf } from './executor.js';
import { type McpAnswer, type McpSession, openMcpSession } from './mcp-session.js';

export interface McpExecutorOptions {
  /** For the start of a server and its handshake, in milliseconds. Default: 30,000, since many come by `npx`. */
  readonly connectTimeoutMs?: number;
  /** Told what a process that did not start wrote on stderr last. Callers never are. Default: nobody is told. */
  readonly onLastWords?: ((facts: { server: string; stderr: string }) => void) | undefined;
}

type Reached = { ok: true; session: McpSession } | CallFailure;

/**
 * Calls tools on their MCP servers.
 * Name of a server, as in `metadata.mcp.server` of its tools -> how it is started or reached.
 * @example
 * const mcp = createMcpExecutor({ files: { command: 'node', args: ['server.mjs'] } });
 */
export function createMcpExecutor(
  servers: Readonly<Record<string, McpServer>>,
  { connectTimeoutMs = 30_000, onLastWords }: McpExecutorOptions = {},
): Executor {
  const byName = new Map(Object.entries(servers));
  const sessions = new Map<string, Promise<McpSession>>();
  let isClosed = false;

  /** None where the server has been moved since the tool was read: what was approved for one place must not go to another. */
  function serverOf(tool: Tool): McpServer | undefined {
    const { server: name = '', target } = readMcpTarget(tool) ?? {};
    const server = byName.get(name);
    return server && (target === undefined || target === targetOf(server)) ? server : undefined;
  }

  /** Not bound to the call that is first: when that one has no more time, the next finds the server started. */
  function open(name: string, server: McpServer): Promise<McpSession> {
    const opening = openMcpSession(server, { connectTimeoutMs });
    sessions.set(name, opening);
    opening.catch((error: unknown) => {
      forget(name, opening);
      if (error instanceof McpFailure && error.lastWords !== '')
        onLastWords?.({ server: name, stderr: error.lastWords });
    });
    return opening;
  }

  function forget(name: string, opening: Promise<McpSession>): void {
    if (sessions.get(name) === opening) sessions.delete(name);
  }

  async function reach(name: string, server: McpServer, signal: AbortSignal): Promise<Reached> {
    if (isClosed) return fail('tool_unavailable', 'The executor of MCP tools is closed.');
    const opening = sessions.get(name) ?? open(name, server);
    try {
      const session = await orAborted(opening, signal);
      if (session.isOpen()) return { ok: true, session };
      forget(name, opening);
      await session.close();
      return { ok: true, session: await orAborted(sessions.get(name) ?? open(name, server), signal) };
    } catch (error) {
      if (signal.aborted) return fail('cancelled', `The MCP server "${name}" was still starting.`);
      return fail('tool_unavailable', `The MCP server "${name}" ${describeThrown(error)}.`);
    }
  }

  async function drop(name: string, session: McpSession): Promise<void> {
    const opening = sessions.get(name);
    if (opening && (await opening.catch(() => undefined)) === session) forget(name, opening);
    await session.close();
  }

  return {
    defaultTimeoutMs: () => REMOTE_TIMEOUT_MS,
    canRun: (tool) => runnerOf(tool) === 'mcp' && serverOf(tool) !== undefined,

    async run(call) {
      const target = readMcpTarget(call.tool);
      const server = serverOf(call.tool);
      if (!target || !server) return fail('not_runnable', `${call.tool.name} belongs to no known MCP server.`);
      for (let isSecond = false; ; isSecond = true) {
        const reached = await reach(target.server, server, call.signal);
        if (!reached.ok) return reached;
        const answer = await reached.session.callTool({ ...call, name: target.tool });
        if (!answer.ok && answer.kind !== 'refused' && !call.signal.aborted) await drop(target.server, reached.session);
        if (isSecond || !mayRepeat(answer, call)) return toExecuted(answer, target.server);
      }
    },

    async close() {
      isClosed = true;
      const opened = await Promise.allSettled(sessions.values());
      sessions.clear();
      await Promise.all(opened.map((one) => (one.status === 'fulfilled' ? one.value.close() : undefined)));
    },
  };
}

function mayRepeat(answer: McpAnswer, call: ExecutorCall): boolean {
  if (answer.ok || call.signal.aborted) return false;
  return answer.kind === 'not_sent' || (answer.kind === 'lost' && call.repeatable);
}

function toExecuted(answer: McpAnswer, server: string): Executed {
  if (answer.ok) return readMcpContent(answer);
  const who = `The MCP server "${server}"`;
  switch (answer.kind) {
    case 'not_sent':
      return fail('tool_unavailable', `${who} can't be reached: ${answer.reason}`);
    case 'lost':
      return fail('connection_lost', `${who} broke off in the middle of the call: ${answer.reason}`);
    case 'refused':
      return fail('tool_failed', `${who} refused the call: ${answer.reason}`);
  }
}

// Which server has a tool, and what the server itself calls it; as `catalog/sources/mcp.ts` writes it.

const targetSchema = z.object({
  server: z.string().min(1),
  tool: z.string().min(1),
  target: z.string().optional(),
});
export type McpTarget = z.infer<typeof targetSchema>;

function readMcpTarget(tool: Tool): McpTarget | undefined {
  return targetSchema.safeParse(tool.metadata.mcp).data;
}

// What an MCP tool gave: its blocks as they came, for whoever shows them, and one value, for models and plans.

/** The value is the structured content; else the text, read as JSON where it is an object or a list; else the blocks without their data. */
export function readMcpContent(answer: Extract<McpAnswer, { ok: true }>): Executed {
  const content = answer.content.map(readBlock);
  const texts = content.flatMap((block) => (block.type === 'text' ? [block.text] : []));
  if (answer.isError) {
    const failure = fail('tool_failed', texts.join('\n') || 'The tool reported an error without words.');
    return { ...failure, content };
  }
  const { structuredContent } = answer;
  if (isObject(structuredContent)) return { ok: true, output: structuredContent, content, isStructured: true };
  return { ok: true, output: outputOf(content, texts), content };
}

/** A block of another form would make clients refuse the whole result. */
function readBlock(block: unknown): ContentBlock {
  const parsed = ContentBlockSchema.safeParse(block);
  if (parsed.success) return parsed.data;
  const type = JSON.stringify(Object(block).type)?.slice(0, 80);
  return { type: 'text', text: `(a block of type ${type} that is not of the form of MCP was left out)` };
}

function outputOf(content: readonly ContentBlock[], texts: readonly string[]): unknown {
  if (texts.length < content.length) return content.map(describeBlock);
  const [first] = texts;
  if (texts.length !== 1 || first === undefined) return texts.length === 0 ? null : texts.join('\n');
  return parseStructured(first) ?? first;
}

/** Older servers write their objects as text; a plan can only refer to fields of objects. */
function parseStructured(text: string): unknown {
  if (!/^\s*[[{]/u.test(text)) return undefined;
  try {
    const parsed: unknown = JSON.parse(text);
    return isObject(parsed) || Array.isArray(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}
