/**
 * MCP servers of a configuration, asked side by side. One that fails does not take the others along.
 * What a server says of its tools neither lowers their risk nor gives them a name that another server's could have.
 */
import PQueue from 'p-queue';
import { messageOf, throwIfCancelled } from '../../errors.js';
import { riskOf } from '../risk.js';
import { isObject } from '../schema/json.js';
import { loadMcpConfig, type McpConfig } from './mcp-config.js';
import { briefOf, McpFailure, type McpServer, targetOf, toolNameOf } from './mcp-server.js';
import {
  describeSource,
  type ReadContext,
  type SourceFailure,
  type SourceFormat,
  type SourceReading,
  sourceFailed,
} from './source.js';

/** Servers are often started by `npx`; more at once make each too slow for its time-out. */
const MAX_SERVERS_AT_ONCE = 8;
/** What MCP says of a tool. Other keys go to `metadata`: a server must not set Winnow's own (scope, risk, alwaysLoad). */
const MCP_KEYS = new Set(['name', 'title', 'description', 'inputSchema', 'outputSchema', 'annotations']);

export const mcpFormat: SourceFormat = {
  holds: (content) => 'mcpServers' in content || isObject(content.servers),
  read: async (path, context) => readMcpServers(await loadMcpConfig(path, context), describeSource(path), context),
};

/** @throws WinnowError `cancelled` */
export async function readMcpServers(
  { servers, failures }: McpConfig,
  name: string,
  context: ReadContext,
): Promise<(SourceReading | SourceFailure)[]> {
  const queue = new PQueue({ concurrency: MAX_SERVERS_AT_ONCE });
  const answers = Object.entries(servers).map(([server, told]) =>
    queue.add(() => readServer(told, { server, origin: `${name}#${server}` }, context)),
  );
  const read = await Promise.all(answers);
  throwIfCancelled(context.signal);
  return [...failures, ...read];
}

async function readServer(
  told: McpServer,
  { server, origin }: { server: string; origin: string },
  context: ReadContext,
): Promise<SourceReading | SourceFailure> {
  try {
    // The protocol's library takes a quarter of a second to load, and most catalogues have no server.
    const { listServerTools } = await import('./mcp-connection.js');
    const entries = (await listServerTools(told, context)).map((tool) => toEntry(tool, server, told));
    const empty = { level: 'debug', entry: origin, message: 'offers no tools' } as const;
    const issues = entries.length === 0 ? [empty] : [];
    return { origin, server, entries, issues };
  } catch (error) {
    const what = error instanceof McpFailure ? error.forOperators : messageOf(error);
    const told = { name: server, reason: briefOf(error) };
    return { source: origin, error: sourceFailed(origin, what, error), server: told };
  }
}

function toEntry(tool: unknown, server: string, told: McpServer): unknown {
  if (!isObject(tool)) return tool;
  const known = Object.entries(tool).filter(([key]) => MCP_KEYS.has(key));
  const others = Object.entries(tool).filter(([key]) => !MCP_KEYS.has(key));
  const { title, ...hints } = Object(tool.annotations);
  const { name } = tool;
  return {
    ...(typeof title === 'string' ? { title } : {}),
    ...Object.fromEntries(known),
    ...(typeof name === 'string' && name !== '' ? { name: toolNameOf(name, server, told) } : {}),
    toolType: 'mcp',
    risk: told.trust === true ? riskOf(hints) : 'high',
    origin: server,
    metadata: {
      ...Object.fromEntries(others),
      mcp: { server, tool: name, target: targetOf(told), ...(told.trust === true ? { trust: true } : {}) },
    },
  };
}
