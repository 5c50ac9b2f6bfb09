/** The usual `mcpServers` configuration, parsed. */
import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { parse } from '../../parse.js';
import { parseJson, readText, sourceFailed } from './read.js';
import { describeSource, isUrl, type McpServer, type ReadContext, type SourceFailure } from './source.js';

const strings = z.record(z.string(), z.string());

const processSchema = z.object({
  command: z.string().min(1),
  args: z.array(z.string()).optional(),
  env: strings.optional(),
  cwd: z.string().min(1).optional().describe('Relative to the folder of the configuration.'),
});
const urlSchema = z.object({
  // Told to be a URL or not once its variables are in their places.
  url: z.string().min(1),
  headers: strings.optional(),
});
const switches = {
  disabled: z.boolean().optional(),
  prefix: z.boolean().optional().describe('See `McpServer`.'),
};

const configSchema = z.object({
  mcpServers: z.record(z.string().min(1), z.union([processSchema.extend(switches), urlSchema.extend(switches)])),
});

export interface McpConfig {
  readonly servers: Readonly<Record<string, McpServer>>;
  /** Servers that can't be reached as they are written. */
  readonly failures: readonly SourceFailure[];
}

/**
 * Servers marked `disabled` are left out, as other readers of this format do.
 * @throws WinnowError `source_failed` when the file can't be read or has another form
 */
export async function loadMcpConfig(path: string, context: ReadContext): Promise<McpConfig> {
  if (isUrl(path)) throw sourceFailed(path, 'is a URL: a configuration that starts processes is read from files only');
  const parsed = parse(configSchema, parseJson(await readText(path, context), path), { root: 'file' });
  if (!parsed.ok) {
    const form = '{"mcpServers": {"name": {"command", "args"} or {"url", "headers"}}}';
    throw sourceFailed(path, `is no MCP configuration (${parsed.issues.join('; ')}). Write it as ${form}`);
  }
  const servers: Record<string, McpServer> = {};
  const failures: SourceFailure[] = [];
  for (const [name, written] of Object.entries(parsed.value.mcpServers)) {
    if (written.disabled === true) continue;
    const source = `${describeSource(path)}#${name}`;
    const missing = new Set<string>();
    const server = withFolder(
      expandAll(written, (text) => expandVariables(text, context, missing)),
      path,
    );
    const problem = problemOf(server, missing);
    if (problem === undefined) servers[name] = server;
    else failures.push({ source, error: sourceFailed(source, problem), isNaming: server.prefix !== true });
  }
  return { servers, failures };
}

function problemOf(server: McpServer, missing: ReadonlySet<string>): string | undefined {
  const [variable] = missing;
  if (variable !== undefined)
    return `names the variable ${variable}, which is not set: set it, or write \${${variable}:-default}`;
  return 'url' in server && !isUrl(server.url) ? 'has a url that is not an http(s) URL: correct it' : undefined;
}

/** `${NAME}` and `${NAME:-default}`, as other readers of this format take them. */
const VARIABLE = /\$\{(\w+)(?::-([^}]*))?\}/gu;

/** @param missing takes the names that are not set and have no default. */
function expandVariables(text: string, { variable }: ReadContext, missing: Set<string>): string {
  return text.replace(VARIABLE, (written, key: string, fallback: string | undefined) => {
    const value = variable?.(key) ?? fallback;
    if (value === undefined) missing.add(key);
    return value ?? written;
  });
}

function expandAll(server: ParsedServer, expand: (text: string) => string): ParsedServer {
  const each = (values: Record<string, string> | undefined) =>
    values && Object.fromEntries(Object.entries(values).map(([key, value]) => [key, expand(value)]));
  if ('url' in server) return { ...server, url: expand(server.url), headers: each(server.headers) };
  const { command, args, env, cwd } = server;
  return { ...server, command: expand(command), args: args?.map(expand), env: each(env), cwd: cwd && expand(cwd) };
}

type ParsedServer = z.output<typeof configSchema>['mcpServers'][string];

function withFolder(server: ParsedServer, path: string): McpServer {
  const prefix = server.prefix === undefined ? {} : { prefix: server.prefix };
  if ('url' in server) return { ...prefix, url: server.url, ...(server.headers ? { headers: server.headers } : {}) };
  const { command, args, env, cwd } = server;
  return {
    ...prefix,
    command,
    ...(args ? { args } : {}),
    ...(env ? { env } : {}),
    ...(cwd ? { cwd: resolve(dirname(path), cwd) } : {}),
  };
}
