/** The usual `mcpServers` configuration, parsed. */
import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { parseJson, readText, sourceFailed } from './read.js';
import { isUrl, type McpServer, type ReadContext } from './source.js';

const strings = z.record(z.string(), z.string());

const processSchema = z.object({
  command: z.string().min(1),
  args: z.array(z.string()).optional(),
  env: strings.optional(),
  cwd: z.string().min(1).optional().describe('Relative to the folder of the configuration.'),
});
const urlSchema = z.object({
  url: z.string().refine((url) => isUrl(url) || VARIABLE.test(url), 'not an http(s) URL'),
  headers: strings.optional(),
});
const switches = { disabled: z.boolean().optional() };

const configSchema = z.object({
  mcpServers: z.record(z.string().min(1), z.union([processSchema.extend(switches), urlSchema.extend(switches)])),
});

/** Servers marked `disabled` are left out, as other readers of this format do. */
export async function loadMcpConfig(path: string, context: ReadContext): Promise<Record<string, McpServer>> {
  if (isUrl(path)) throw sourceFailed(path, 'is a URL: a configuration that starts processes is read from files only');
  const parsed = configSchema.safeParse(parseJson(await readText(path, context), path));
  if (!parsed.success) {
    const problems = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; ');
    const form = '{"mcpServers": {"name": {"command", "args"} or {"url", "headers"}}}';
    throw sourceFailed(path, `is no MCP configuration (${problems}). Write it as ${form}`);
  }
  const servers = Object.entries(parsed.data.mcpServers).filter(([, server]) => server.disabled !== true);
  return Object.fromEntries(
    servers.map(([name, server]) => {
      const expand = (text: string) => withVariables(text, context, { path, name });
      return [name, withFolder(expandAll(server, expand), path)];
    }),
  );
}

/** `${NAME}` and `${NAME:-default}`, as other readers of this format take them. */
const VARIABLE = /\$\{(\w+)(?::-([^}]*))?\}/gu;

function withVariables(
  text: string,
  { variable }: ReadContext,
  { path, name }: { path: string; name: string },
): string {
  return text.replace(VARIABLE, (_, key: string, fallback: string | undefined) => {
    const value = variable?.(key) ?? fallback;
    if (value !== undefined) return value;
    throw sourceFailed(
      path,
      `names the variable ${key} for the server "${name}", which is not set: set it, or write \${${key}:-default}`,
    );
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
  if ('url' in server) return { url: server.url, ...(server.headers ? { headers: server.headers } : {}) };
  const { command, args, env, cwd } = server;
  return {
    command,
    ...(args ? { args } : {}),
    ...(env ? { env } : {}),
    ...(cwd ? { cwd: resolve(dirname(path), cwd) } : {}),
  };
}
