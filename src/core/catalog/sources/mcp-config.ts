/** Reads MCP configurations of Claude Desktop, Cursor and VS Code: servers that can be started, and why others can't. */
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { z } from 'zod';
import { messageOf, reasonOf } from '../../errors.js';
import { parse } from '../../parse.js';
import { isObject } from '../schema/json.js';
import { type EntryIssue, warning } from '../tool.js';
import { findNamesake, type McpServer, parseMcpServer } from './mcp-server.js';
import {
  describeSource,
  isUrl,
  parseJsonOrYaml,
  type ReadContext,
  readText,
  type SourceFailure,
  sourceFailed,
} from './source.js';

export interface McpConfig {
  readonly servers: Readonly<Record<string, McpServer>>;
  readonly failures: readonly SourceFailure[];
  readonly issues?: readonly EntryIssue[];
}

const serversSchema = z.record(z.string().min(1), z.unknown());

/** VS Code names the servers `servers`, and asks a person for its `inputs`. */
const configSchema = z.object({
  mcpServers: serversSchema.optional(),
  servers: serversSchema.optional(),
  inputs: z.array(z.looseObject({ id: z.string(), default: z.string().optional() })).optional(),
});

interface Surroundings extends Pick<ReadContext, 'variable'> {
  /** The folder of the configuration; for an editor's configuration, the workspace. */
  readonly folder: string;
  readonly workspace: string;
  /** The values that VS Code proposes for inputs. */
  readonly defaults: ReadonlyMap<string, string | undefined>;
}

/** @throws WinnowError `source_failed` when the file can't be read or has another form */
export async function loadMcpConfig(path: string, context: ReadContext): Promise<McpConfig> {
  if (isUrl(path)) throw sourceFailed(path, 'is a URL: a configuration that starts processes is read from files only');
  const content = Object(await parseJsonOrYaml(await readText(path, context), path));
  const key = 'servers' in content && !('mcpServers' in content) ? 'servers' : 'mcpServers';
  // The schema would leave it out without a word.
  if (Object.hasOwn(Object(content[key]), '__proto__'))
    throw sourceFailed(path, 'has a server of the name "__proto__". Rename it');
  const parsed = parse(configSchema, { [key]: content[key] ?? null, inputs: content.inputs }, { root: 'file' });
  if (!parsed.ok) {
    const form = '{"mcpServers": {"name": {"command", "args"} or {"url", "headers"}}}';
    throw sourceFailed(path, `is no MCP configuration (${parsed.issues.join('; ')}). Write it as ${form}`);
  }
  const folder = dirname(path);
  const defaults = new Map((parsed.value.inputs ?? []).map((input) => [input.id, input.default]));
  const surroundings = { folder, workspace: workspaceOf(path), defaults, variable: context.variable };
  const servers: Record<string, McpServer> = {};
  const failures: SourceFailure[] = [];
  const entries = Object.entries(parsed.value[key] ?? {});
  for (const [name, written] of entries) {
    if (isObject(written) && written.disabled === true) continue;
    try {
      const namesake = findNamesake(name, Object.keys(servers));
      if (namesake) throw new Error(`would have the prefix of the server "${namesake}": rename one of them`);
      servers[name] = await readServer(written, `${key}.${name}`, surroundings);
    } catch (error) {
      const source = `${describeSource(path)}#${name}`;
      failures.push({ source, error: sourceFailed(source, messageOf(error)), server: { name, reason: NOT_USABLE } });
    }
  }
  const issues = entries.length === 0 ? [warning(describeSource(path), `${key}: no server in it`)] : [];
  return { servers, failures, issues };
}

/** Shown to everyone; only operators see what is wrong with the configuration. */
const NOT_USABLE = 'has a configuration that is not usable';

/** @throws Error that says what is wrong, and what to do */
async function readServer(written: unknown, place: string, around: Surroundings): Promise<McpServer> {
  const { server, missing } = expandVariables(parseMcpServer(written, place), around);
  if (missing?.startsWith('input:')) {
    const advice = 'write a variable of the environment, such as ${MY_KEY}';
    throw new Error(`asks for the ${missing}, as only an editor does: ${advice}`);
  }
  if (missing !== undefined)
    throw new Error(`names the variable ${missing}, which is not set: set it, or write \${${missing}:-default}`);
  if ('url' in server) {
    const { url, oauth: { issuer = url } = {} } = server;
    const wrong = Object.entries({ url, 'url in oauth.issuer': issuer }).find(([, address]) => !isUrl(address));
    if (!wrong) return server;
    throw new Error(`has a ${wrong[0]} that is not an http(s) URL: correct it`);
  }
  const { envFile, ...rest } = server;
  const placed = 'cwd' in rest ? { ...rest, cwd: resolve(around.folder, rest.cwd ?? '') } : rest;
  if (envFile === undefined) return placed;
  try {
    const text = await readFile(resolve(around.workspace, envFile), 'utf8');
    const fromFile = z.record(z.string(), z.string()).parse({ ...parseEnv(text) });
    return { ...placed, env: { ...fromFile, ...rest.env } };
  } catch (error) {
    throw new Error(`has an envFile that can't be read (${reasonOf(error)}). Check its path`);
  }
}

function workspaceOf(path: string): string {
  const folder = dirname(resolve(path));
  return ['.vscode', '.cursor'].includes(basename(folder)) ? dirname(folder) : folder;
}

const VARIABLE = /\$\{(?:input:([\w-]+)|(?:env:)?(\w+)(?::-([^}]*))?)\}/gu;

function expandVariables(
  server: McpServer,
  { variable, workspace, defaults }: Surroundings,
): { server: McpServer; missing: string | undefined } {
  const ofEditors = new Map([
    ['workspaceFolder', workspace],
    ['workspaceFolderBasename', basename(workspace)],
    ['userHome', homedir()],
  ]);
  const missing: string[] = [];
  const expanded: McpServer = JSON.parse(JSON.stringify(server), (_, part: unknown) => {
    if (typeof part !== 'string') return part;
    return part.replace(VARIABLE, (text, input: string | undefined, name = '', fallback?: string) => {
      const found = input === undefined ? (ofEditors.get(name) ?? (variable?.(name) || fallback)) : defaults.get(input);
      if (found === undefined) missing.push(input === undefined ? name : `input:${input}`);
      return found ?? text;
    });
  });
  return { server: expanded, missing: missing[0] };
}
