/**
 * MCP servers of the usual `mcpServers` configuration, asked side by side. One that fails does not take the others along.
 * What a server says of its tools neither lowers their risk nor gives them a name that another server's could have.
 */
import { createHash } from 'node:crypto';
import { basename, dirname, resolve } from 'node:path';
import PQueue from 'p-queue';
import { z } from 'zod';
import { messageOf, throwIfCancelled } from '../../errors.js';
import { parse } from '../../parse.js';
import { riskOf } from '../risk.js';
import { isObject } from '../schema/json.js';
import {
  describeSource,
  isUrl,
  type McpServer,
  mcpServerSchema,
  parseJsonOrYaml,
  type ReadContext,
  readText,
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
  // VS Code calls them `servers`.
  holds: (content) => 'mcpServers' in content || isObject(content.servers),
  read: async (path, context) => readMcpServers(await loadMcpConfig(path, context), describeSource(path), context),
};

const configSchema = z.object({ mcpServers: z.record(z.string().min(1), mcpServerSchema) });

export interface McpConfig {
  readonly servers: Readonly<Record<string, McpServer>>;
  readonly failures: readonly SourceFailure[];
}

/** @throws WinnowError `source_failed` when the file can't be read or has another form */
export async function loadMcpConfig(path: string, context: ReadContext): Promise<McpConfig> {
  if (isUrl(path)) throw sourceFailed(path, 'is a URL: a configuration that starts processes is read from files only');
  const { servers: ofEditor, ...content } = Object(await parseJsonOrYaml(await readText(path, context), path));
  const parsed = parse(configSchema, { mcpServers: ofEditor, ...content }, { root: 'file' });
  if (!parsed.ok) {
    const form = '{"mcpServers": {"name": {"command", "args"} or {"url", "headers"}}}';
    throw sourceFailed(path, `is no MCP configuration (${parsed.issues.join('; ')}). Write it as ${form}`);
  }
  const servers: Record<string, McpServer> = {};
  const failures: SourceFailure[] = [];
  for (const [name, written] of Object.entries(parsed.value.mcpServers)) {
    if (written.disabled === true) continue;
    const missing = new Set<string>();
    const server = expandVariables(written, { ...context, missing, folder: workspaceOf(path) });
    const source = `${describeSource(path)}#${name}`;
    const fail = (problem: string) => failures.push({ source, error: sourceFailed(source, problem) });
    const [variable] = missing;
    if (variable?.startsWith('input:'))
      fail(`asks for the ${variable}, as only an editor does: write a variable of the environment, such as \${MY_KEY}`);
    else if (variable !== undefined)
      fail(`names the variable ${variable}, which is not set: set it, or write \${${variable}:-default}`);
    else if ('url' in server && !isUrl(server.url)) fail('has a url that is not an http(s) URL: correct it');
    else servers[name] = 'cwd' in server ? { ...server, cwd: resolve(dirname(path), server.cwd ?? '') } : server;
  }
  return { servers, failures };
}

function workspaceOf(path: string): string {
  const folder = dirname(resolve(path));
  return basename(folder) === '.vscode' ? dirname(folder) : folder;
}

const VARIABLE = /\$\{(?:(input:[\w-]+)|(?:env:)?(\w+)(?::-([^}]*))?)\}/gu;

/** @param missing takes the names without a value */
function expandVariables(
  server: McpServer,
  { variable, missing, folder }: Pick<ReadContext, 'variable'> & { missing: Set<string>; folder: string },
): McpServer {
  return JSON.parse(JSON.stringify(server), (_, part: unknown) => {
    if (typeof part !== 'string') return part;
    return part.replace(VARIABLE, (written, input: string | undefined, key = '', fallback?: string) => {
      const found = key === 'workspaceFolder' ? folder : (key && variable?.(key)) || fallback;
      if (found === undefined) missing.add(input ?? key);
      return found ?? written;
    });
  });
}

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
    return { source: origin, error: sourceFailed(origin, messageOf(error), error) };
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
    ...(typeof name === 'string' && name !== '' ? { name: nameOf(name, server, told) } : {}),
    toolType: 'mcp',
    risk: told.trust === true ? riskOf(hints) : 'high',
    origin: server,
    metadata: {
      ...Object.fromEntries(others),
      mcp: { server, tool: name, target: targetOf(told), ...(told.trust === true ? { trust: true } : {}) },
    },
  };
}

/** A name tells its server: what stands before the first `__` is always the server's own, and holds none. */
function nameOf(tool: string, server: string, { prefix }: McpServer): string {
  if (prefix === false && !tool.includes('__')) return tool;
  const plain = server.replace(/[^\p{L}\p{N}-]+/gu, '_').replace(/^_|_$/gu, '');
  return `${plain || 'server'}__${tool}`;
}

/** Another one, where calls of the server would go elsewhere. No key of a header is in it. */
export function targetOf(told: McpServer): string {
  const { command, args, env, cwd, url }: Record<string, unknown> = { ...told };
  const target = JSON.stringify([command, args, env, cwd, url]);
  return createHash('sha256').update(target).digest('hex').slice(0, 16);
}
