/** MCP servers, asked side by side. One that fails does not take the others with it. */
import PQueue from 'p-queue';
import { messageOf, throwIfCancelled, WinnowError } from '../../errors.js';
import { isObject } from '../schema/json.js';
import type { EntryIssue } from '../tool.js';
import { loadMcpConfig } from './mcp-config.js';
import { listServerTools } from './mcp-server.js';
import { sourceFailed } from './read.js';
import {
  createReading,
  describeSource,
  type McpServer,
  type ReadContext,
  type SourceFailure,
  type SourcePart,
  type SourceReading,
  type SourceSpec,
} from './source.js';

/** Servers are often started by `npx`; more at once make each too slow for its time-out. */
const MAX_SERVERS_AT_ONCE = 8;

/** What MCP says of a tool. Other keys go to `metadata`: a server must not set Winnow's own (scope, risk, alwaysLoad). */
const MCP_KEYS = new Set(['name', 'title', 'description', 'inputSchema', 'outputSchema', 'annotations']);

type McpSpec = Extract<SourceSpec, { kind: 'mcp' }>;
type Answer = { part: SourcePart; issues: readonly EntryIssue[] } | { failure: SourceFailure };

/** @throws WinnowError `source_failed` when the configuration, or every server of it, fails; `cancelled` */
export async function readMcpSource(spec: McpSpec, context: ReadContext): Promise<SourceReading> {
  const { servers, failures: unusable } =
    'servers' in spec ? { servers: spec.servers, failures: [] } : await loadMcpConfig(spec.path, context);
  const config = 'servers' in spec ? 'mcp' : describeSource(spec.path);
  const queue = new PQueue({ concurrency: MAX_SERVERS_AT_ONCE });
  const answers = await Promise.all(
    Object.entries(servers).map(([name, server]) => queue.add(() => askServer({ name, server, config }, context))),
  );
  throwIfCancelled(context.signal);
  const failures = [...unusable, ...answers.flatMap((answer) => ('failure' in answer ? [answer.failure] : []))];
  const good = answers.flatMap((answer) => ('part' in answer ? [answer] : []));
  const first = failures[0];
  if (good.length === 0 && first) {
    if (failures.length === 1) throw first.error;
    const issues = failures.map(({ error }) => error.message);
    throw new WinnowError('source_failed', `All ${failures.length} servers of ${config} failed.`, { issues });
  }
  return createReading(
    good.map(({ part }) => part),
    { failures, issues: good.flatMap(({ issues }) => issues) },
  );
}

type NamedServer = { name: string; server: McpServer; config: string };

async function askServer({ name, server, config }: NamedServer, context: ReadContext): Promise<Answer> {
  const source = `${config}#${name}`;
  const isPrefixed = server.prefix === true;
  try {
    const tools = await listServerTools(server, context);
    const message = 'offers no tools';
    return {
      part: { origin: source, server: name, isPrefixed, entries: tools.map((tool) => toEntry(tool, name)) },
      issues: tools.length === 0 ? [{ level: 'debug', entry: source, message }] : [],
    };
  } catch (error) {
    const reason = messageOf(error);
    return { failure: { source, error: sourceFailed(source, reason, error), isNaming: !isPrefixed } };
  }
}

function toEntry(tool: unknown, server: string): unknown {
  if (!isObject(tool)) return tool;
  const known = Object.entries(tool).filter(([key]) => MCP_KEYS.has(key));
  const others = Object.entries(tool).filter(([key]) => !MCP_KEYS.has(key));
  const annotations = isObject(tool.annotations) ? tool.annotations : {};
  return {
    ...(typeof annotations.title === 'string' ? { title: annotations.title } : {}),
    ...Object.fromEntries(known),
    toolType: 'mcp',
    origin: server,
    metadata: { ...Object.fromEntries(others), mcp: { server, tool: tool.name } },
  };
}
