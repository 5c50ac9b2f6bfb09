/**
 * Reads the MCP servers of a configuration in parallel. A failing server does not affect the others. A server can neither
 * lower the risk of its tools, unless it is trusted, nor name one like a tool of another server.
 */
import PQueue from 'p-queue';
import { messageOf, throwIfCancelled } from '../../errors.js';
import { riskOf } from '../risk.js';
import { childrenOf, isObject } from '../schema/json.js';
import { type EntryIssue, warning } from '../tool.js';
import { loadMcpConfig, type McpConfig } from './mcp-config.js';
import {
  briefOf,
  connectionPathOf,
  isOfUsers,
  McpFailure,
  type McpServer,
  targetOf,
  toolNameOf,
} from './mcp-server.js';
import {
  describeSource,
  type ReadContext,
  type SourceFailure,
  type SourceFormat,
  type SourceReading,
  sourceFailed,
} from './source.js';

/** Servers are often started by `npx`; starting more at once makes each too slow for its time-out. */
const MAX_SERVERS_AT_ONCE = 8;
/** MCP's own keys of a tool. Others go to `metadata`: a server must not set Winnow's keys (scope, risk, alwaysLoad). */
const MCP_KEYS = new Set(['name', 'title', 'description', 'inputSchema', 'outputSchema', 'annotations']);

export const mcpFormat: SourceFormat = {
  holds: (content) => 'mcpServers' in content || isObject(content.servers),
  read: async (path, context) => readMcpServers(await loadMcpConfig(path, context), describeSource(path), context),
};

/** @throws WinnowError `cancelled` */
export async function readMcpServers(
  { servers, failures, issues = [] }: McpConfig,
  name: string,
  context: ReadContext,
): Promise<(SourceReading | SourceFailure)[]> {
  const queue = new PQueue({ concurrency: MAX_SERVERS_AT_ONCE });
  const answers = Object.entries(servers).map(([server, config]) =>
    queue.add(() => readServer(config, { server, origin: `${name}#${server}` }, context)),
  );
  const read = await Promise.all(answers);
  throwIfCancelled(context.signal);
  return [...failures, ...(issues.length > 0 ? [{ origin: name, entries: [], issues }] : []), ...read];
}

async function readServer(
  config: McpServer,
  { server, origin }: { server: string; origin: string },
  context: ReadContext,
): Promise<SourceReading | SourceFailure> {
  try {
    // Loaded on demand: the library takes 0.25 s to load, and most catalogues have no MCP server.
    const { listServerTools } = await import('./mcp-connection.js');
    const tokens = isOfUsers(config) ? await context.tokensOf?.(server, config) : undefined;
    if (isOfUsers(config) && !tokens) return unconnected(origin, server);
    const { tools, way } = await listServerTools(config, { ...context, tokens });
    const empty: EntryIssue = { level: 'debug', entry: origin, message: 'offers no tools' };
    const issues = tools.length === 0 ? [empty] : [];
    const sendsHeaders = way.wire === 'http' && way.era === 'modern';
    const entries = tools.flatMap((tool, index) => {
      const problem = sendsHeaders ? findHeaderProblem(Object(tool).inputSchema) : undefined;
      if (problem === undefined) return [toEntry(tool, server, config)];
      const what = `left out: ${HEADER_MARK} ${problem}`;
      issues.push({ ...warning(`${origin}[${index}]`, what, Object(tool).name), isLeftOut: true });
      return [];
    });
    return { origin, server, entries, issues };
  } catch (error) {
    const what = error instanceof McpFailure ? error.forOperators : messageOf(error);
    const failed = { name: server, reason: briefOf(error) };
    return { source: origin, error: sourceFailed(origin, what, error), server: failed };
  }
}

function unconnected(origin: string, server: string): SourceFailure {
  const path = connectionPathOf(server);
  const reason = `is not connected: an operator connects it first, on the page Connections or by POST ${path}`;
  const error = sourceFailed(origin, reason);
  return { source: origin, error, server: { name: server, reason }, isUnconnected: true };
}

export const HEADER_MARK = 'x-mcp-header';
const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/u;
const HEADER_TYPES: readonly unknown[] = ['string', 'integer', 'boolean'];

/** MCP 2026-07-28 makes clients leave out tools with an argument that can't be sent as the header it asks for. */
function findHeaderProblem(inputSchema: unknown): string | undefined {
  const names = new Set<string>();
  const open: { node: unknown; isArgument: boolean }[] = [{ node: inputSchema, isArgument: false }];
  for (const { node, isArgument } of open) {
    if (!isObject(node)) continue;
    if (HEADER_MARK in node) {
      const name = node[HEADER_MARK];
      if (!isArgument) return 'marks a place that is no argument of its own';
      if (typeof name !== 'string' || !HEADER_NAME.test(name)) return 'is not a valid header name';
      if (!HEADER_TYPES.includes(node.type)) return `"${name}" is neither text nor an integer nor a boolean`;
      if (names.has(name.toLowerCase())) return `"${name}" is the header of two arguments`;
      names.add(name.toLowerCase());
    }
    const isReached = isArgument || node === inputSchema;
    for (const { keyword, value } of childrenOf(node))
      open.push({ node: value, isArgument: isReached && keyword === 'properties' });
  }
  return undefined;
}

function toEntry(tool: unknown, server: string, config: McpServer): unknown {
  if (!isObject(tool)) return tool;
  const known = Object.entries(tool).filter(([key]) => MCP_KEYS.has(key));
  const others = Object.entries(tool).filter(([key]) => !MCP_KEYS.has(key));
  const { title, ...hints } = Object(tool.annotations);
  const { name } = tool;
  return {
    ...(typeof title === 'string' ? { title } : {}),
    ...Object.fromEntries(known),
    ...(typeof name === 'string' && name !== '' ? { name: toolNameOf(name, server, config) } : {}),
    toolType: 'mcp',
    risk: config.trust === true ? riskOf(hints) : 'high',
    origin: server,
    metadata: {
      ...Object.fromEntries(others),
      mcp: { server, tool: name, target: targetOf(config), ...(config.trust === true ? { trust: true } : {}) },
    },
  };
}
