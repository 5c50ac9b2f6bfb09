/** MCP tools: one connection per server, shared by all calls; one per user where users authorize their own calls. */
import { type ElicitResult, isSpecType } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { isObject, objectOf } from '../../../core/catalog/schema/json.js';
import { type AskedByServer, NO_TIMEOUT_MS, readPages } from '../../../core/catalog/sources/mcp-connection.js';
import { findNamesake, isOfUsers, type McpServer, targetOf } from '../../../core/catalog/sources/mcp-server.js';
import { rawOfferSchema } from '../../../core/catalog/sources/mcp-transport.js';
import type { Tool } from '../../../core/catalog/tool.js';
import { WinnowError } from '../../../core/errors.js';
import type { UserTokens } from '../../connections/user-tokens.js';
import type { ContentBlock } from '../../contracts.js';
import type { AskPerson } from '../../hearing.js';
import { describeBlock } from '../cap-output.js';
import { type CallFailure, fail } from '../failure.js';
import { countParts } from '../json-value.js';
import { REMOTE_TIMEOUT_MS } from '../limits.js';
import { type Executed, type Executor, runnerOf } from './executor.js';
import { createMcpLifecycle, type McpLifecycle, type McpLifecycleOptions } from './mcp-lifecycle.js';
import type { McpContent } from './mcp-mask.js';
import { readOffer } from './mcp-offers.js';
import { readQuestion } from './mcp-questions.js';
import type { McpRefusal, McpSession } from './mcp-session.js';
import { createUserLifecycles } from './mcp-user-lifecycles.js';
import { type McpOffered, type McpOfferRequest, type McpOffers, OFFERS } from './offers.js';

export interface McpExecutorOptions {
  /** Time-out of a server's start and handshake, in milliseconds. Default: 30,000, since many start by `npx`. */
  readonly connectTimeoutMs?: number;
  /** Milliseconds without a call after which a server is stopped; the next call starts it. Default: 900,000. */
  readonly idleMs?: number | undefined;
  /** Called with the last stderr output of a process that failed to start; hidden from callers. Default: not called. */
  readonly onLastWords?: McpLifecycleOptions['onLastWords'];
  /** For servers that users authorize. Default: calls of these are refused. */
  readonly userTokens?: UserTokens | undefined;
  /** A clock in milliseconds. Default: `performance.now`. */
  readonly now?: (() => number) | undefined;
}

export interface McpExecutor extends Executor {
  readonly offers: McpOffers;
}

const DEFAULT_IDLE_MS = 900_000;

/**
 * Calls tools on their MCP servers.
 * Name of a server, as in `metadata.mcp.server` of its tools -> how it is started or reached.
 * @throws WinnowError `invalid_option` for two names with the same prefix
 * @example
 * const mcp = createMcpExecutor({ files: { command: 'node', args: ['server.mjs'] } });
 */
export function createMcpExecutor(
  servers: Readonly<Record<string, McpServer>>,
  { connectTimeoutMs = 30_000, idleMs = DEFAULT_IDLE_MS, onLastWords, userTokens, now }: McpExecutorOptions = {},
): McpExecutor {
  for (const name of Object.keys(servers)) {
    const namesake = findNamesake(name, Object.keys(servers));
    if (namesake !== undefined) throw onePrefix(name, namesake);
  }
  const options = { connectTimeoutMs, idleMs, onLastWords, now: now ?? (() => performance.now()) };
  const known = new Map(
    Object.entries(servers).map(([name, server]) => {
      const lifecycle = isOfUsers(server)
        ? createUserLifecycles(name, server, { ...options, userTokens })
        : createMcpLifecycle(name, server, options);
      return [name, { target: targetOf(server), lifecycle }];
    }),
  );

  /** Undefined if the server has moved since the tool was read: approvals for one target must not apply to another. */
  function lifecycleOf(tool: Tool): McpLifecycle | undefined {
    const { server = '', target } = readMcpTarget(tool) ?? {};
    const found = known.get(server);
    return found && (target === undefined || target === found.target) ? found.lifecycle : undefined;
  }

  async function ask(
    ...[server, request, { signal, user } = {}]: Parameters<McpOffers['ask']>
  ): Promise<McpOffered | CallFailure> {
    const lifecycle = known.get(server)?.lifecycle;
    if (!lifecycle) return fail('not_runnable', `There is no MCP server "${server}".`);
    const timeout = AbortSignal.timeout(REMOTE_TIMEOUT_MS);
    const deadline = signal ? AbortSignal.any([signal, timeout]) : timeout;
    const use = { signal: deadline, repeatable: true, user };
    const offered = await lifecycle.use(use, (session) => {
      session.noteUser(user);
      return askForOffer(session, request, deadline);
    });
    if (offered.ok || !timeout.aborted) return offered;
    return fail('timeout', `The MCP server "${server}" did not answer within ${REMOTE_TIMEOUT_MS} ms.`);
  }

  return {
    offers: { servers: () => [...known.keys()], ask },
    defaultTimeoutMs: () => REMOTE_TIMEOUT_MS,
    canRun: (tool) => runnerOf(tool) === 'mcp' && lifecycleOf(tool) !== undefined,
    whyDown: (tool) => lifecycleOf(tool)?.whyDown(),
    health: () => {
      const tried = [...known].filter(([, { lifecycle }]) => lifecycle.isTried());
      return new Map(tried.map(([name, { lifecycle }]) => [name, lifecycle.failure()]));
    },

    async run(call) {
      const target = readMcpTarget(call.tool);
      const lifecycle = lifecycleOf(call.tool);
      if (!target || !lifecycle) return fail('not_runnable', `${call.tool.name} belongs to no known MCP server.`);
      const unasked = new Set<string>();
      const onUnasked = (reason: string) => void unasked.add(reason);
      const onQuestion = askedBy(target.server, call.onQuestion, onUnasked);
      const asked = { ...call, name: target.tool, inputSchema: call.tool.inputSchema, onQuestion, onUnasked };
      const answer = await lifecycle.use(call, (session) => session.callTool(asked));
      const notes = [...unasked].map((why) => `The MCP server "${target.server}" asked, and was declined: ${why}.`);
      return withNotes(answer.ok ? readMcpContent(answer) : answer, notes);
    },

    async close() {
      await Promise.all([...known.values()].map(({ lifecycle }) => lifecycle.close()));
    },
  };
}

// Passes on what servers offer besides tools, for adapters.

async function askForOffer(
  { client, refusalOf }: McpSession,
  { method, params = {} }: McpOfferRequest,
  signal: AbortSignal,
): Promise<McpOffered | McpRefusal> {
  const offer: { capability: 'resources' | 'prompts' | 'completions'; items?: string } = OFFERS[method];
  const { capability, items } = offer;
  const isAble = client.getServerCapabilities()?.[capability] !== undefined;
  const ask = async (more: Readonly<Record<string, unknown>>) => {
    const request = { method, params: { ...more } };
    const { raw } = await client.request(request, rawOfferSchema, { signal, timeout: NO_TIMEOUT_MS });
    return readOffer(method, raw);
  };
  try {
    if (!isAble) return items === undefined ? refuse(capability) : { ok: true, result: { [items]: [] } };
    if (items === undefined) return { ok: true, result: await ask(params) };
    const all = await readPages(async (page) => {
      const { [items]: found, nextCursor } = Object(await ask(page));
      return { items: found, nextCursor };
    });
    return { ok: true, result: { [items]: all } };
  } catch (error) {
    return refusalOf(error);
  }
}

function refuse(capability: string): McpRefusal {
  return { ok: false, kind: 'refused', reason: `it offers no ${capability}` };
}

/** Declines what a person can't be asked, and reports why. Reads nothing where there is no person. */
function askedBy(server: string, ask: AskPerson | undefined, onUnasked: (reason: string) => void): AskedByServer {
  const decline = (reason: string): ElicitResult => {
    onUnasked(reason);
    return { action: 'decline' };
  };
  return async (asked, signal) => {
    if (!ask) return decline('no person can be asked on the way of this call');
    const read = readQuestion(server, asked);
    if (!read.ok) return decline(read.reason);
    const { action, content } = await ask(read.question, signal);
    return content && action === 'accept' ? { action, content: { ...content } } : { action };
  };
}

function withNotes(executed: Executed, notes: readonly string[]): Executed {
  if (notes.length === 0) return executed;
  if (executed.ok) return { ...executed, notes: [...(executed.notes ?? []), ...notes] };
  return { ...executed, reason: [executed.reason, ...notes].join('\n') };
}

function onePrefix(name: string, namesake: string): WinnowError {
  const problem = `The MCP servers "${name}" and "${namesake}" have one prefix, and one could answer for the other.`;
  return new WinnowError('invalid_option', `${problem} Rename one of them.`);
}

// The server of a tool, and its name there, as `catalog/sources/mcp.ts` writes them.

const targetSchema = z.object({
  server: z.string().min(1),
  tool: z.string().min(1),
  target: z.string().optional(),
});
type McpTarget = z.infer<typeof targetSchema>;

function readMcpTarget(tool: Tool): McpTarget | undefined {
  return targetSchema.safeParse(tool.metadata.mcp).data;
}

// The result of an MCP tool: its original blocks for display, and one value for models and plans.

const MOST_BLOCKS = 1_000;
/** Of one block without its `_meta`, which is not checked. */
const MOST_BLOCK_PARTS = 300;
/** Of all malformed blocks: the check lists the faults of each, which takes 20 µs a part. */
const MOST_MALFORMED_PARTS = 5_000;

/** The value: structured content, else the text (parsed if a JSON object or list), else the blocks without data. */
export function readMcpContent(answer: McpContent): Executed {
  const { length } = answer.content;
  if (length > MOST_BLOCKS)
    return fail('tool_failed', `The answer has ${length} blocks. At most ${MOST_BLOCKS} are read.`);
  const content = readBlocks(answer.content);
  if (!content) return fail('tool_failed', 'Too many blocks of the answer are not of the form of MCP.');
  const texts = content.flatMap((block) => (block.type === 'text' ? [String(block.text)] : []));
  const meta = answer._meta && { meta: answer._meta };
  if (answer.isError) {
    const failure = fail('tool_failed', texts.join('\n') || 'The tool reported an error without words.');
    return { ...failure, content, ...meta };
  }
  // Older servers write null for "none".
  const structuredContent = answer.structuredContent ?? undefined;
  if (structuredContent !== undefined)
    return { ok: true, output: structuredContent, content, isStructured: true, ...meta };
  return { ok: true, output: outputOf(content, texts), content, ...meta };
}

/** Undefined where too much of them is malformed. */
function readBlocks(blocks: readonly unknown[]): ContentBlock[] | undefined {
  let malformedParts = 0;
  const read: ContentBlock[] = [];
  for (const block of blocks) {
    const { _meta, ...checked } = objectOf(block);
    const parts = countParts(checked, MOST_BLOCK_PARTS);
    const isMeta = _meta === undefined || isObject(_meta);
    if (parts > MOST_BLOCK_PARTS || !isMeta) read.push(leftOut(checked));
    else if (isSpecType.ContentBlock(checked)) read.push({ ...checked, ...(_meta && { _meta }) });
    else {
      malformedParts += parts;
      if (malformedParts > MOST_MALFORMED_PARTS) return undefined;
      read.push(leftOut(checked));
    }
  }
  return read;
}

/** Clients would refuse the whole result for a malformed block. */
function leftOut(block: Readonly<Record<string, unknown>>): ContentBlock {
  const type = JSON.stringify(block.type)?.slice(0, 80);
  return { type: 'text', text: `(a block of type ${type} that is not of the form of MCP was left out)` };
}

function outputOf(content: readonly ContentBlock[], texts: readonly string[]): unknown {
  if (texts.length < content.length) return content.map(describeBlock);
  const [first] = texts;
  if (texts.length !== 1 || first === undefined) return texts.length === 0 ? null : texts.join('\n');
  return parseStructured(first) ?? first;
}

/** Older servers return objects as text, but a plan can only refer to fields of objects. */
function parseStructured(text: string): unknown {
  if (!/^\s*[[{]/u.test(text)) return undefined;
  try {
    const parsed: unknown = JSON.parse(text);
    return isObject(parsed) || Array.isArray(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}
