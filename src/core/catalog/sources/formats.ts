/** The formats of sources, in one list, and how the form or content of a path tells its format. */
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { WinnowError } from '../../errors.js';
import { isObject } from '../schema/json.js';
import { jsonFormat } from './json.js';
import { mcpFormat, readMcpServers } from './mcp.js';
import { openApiFormat } from './openapi.js';
import { parseJson, readText, reasonOf, sourceFailed } from './read.js';
import { skillsFormat } from './skills.js';
import {
  createReading,
  isUrl,
  type ReadContext,
  type SourceFormat,
  type SourceReading,
  type SourceSpec,
} from './source.js';

/** The first that recognises a file reads it; entries are what remains. */
const FORMATS: readonly SourceFormat[] = [openApiFormat, mcpFormat, skillsFormat, jsonFormat];

/** Default time-out of a URL, and of an MCP server from its start to its last page, in milliseconds. */
export const DEFAULT_SOURCE_TIMEOUT_MS = 30_000;

/** @throws WinnowError `source_failed`, `cancelled` */
export async function readSource(spec: SourceSpec, context: ReadContext): Promise<SourceReading> {
  if (spec.kind === 'tools') return createReading([{ origin: spec.name, entries: spec.tools }]);
  if ('servers' in spec) return readMcpServers({ servers: spec.servers, failures: [] }, 'mcp', context);
  const format = FORMATS.find(({ kind }) => kind === spec.kind) ?? jsonFormat;
  return format.read(spec.path, context);
}

/**
 * A prefix (`openapi:FILE`) names the format; else the end of the name does, and a `.json` file is looked into. A folder
 * holds skills. A URL that names no such file is an MCP server on streamable HTTP.
 * @throws WinnowError `source_failed` when a path does not exist, `invalid_option` when the kind is unknown
 */
export async function detectSource(
  spec: string,
  context: ReadContext = { timeoutMs: DEFAULT_SOURCE_TIMEOUT_MS },
): Promise<SourceSpec> {
  const [, prefix, rest = ''] = /^(json|openapi|mcp|skills):(.+)$/s.exec(spec) ?? [];
  const named = FORMATS.find(({ kind }) => kind === prefix);
  if (named) return named.kind === 'mcp' && isUrl(rest) ? mcpUrl(rest) : { kind: named.kind, path: rest };
  const isRemote = isUrl(spec);
  if (!isRemote && (await isFolder(spec))) return { kind: 'skills', path: spec };
  const name = isRemote ? new URL(spec).pathname : spec;
  const content = /\.json$/i.test(name) ? parseJson(await readText(spec, context), spec) : undefined;
  const format = FORMATS.find(({ names, holds }) => names.test(name) || (isObject(content) && holds?.(content)));
  if (format?.kind === 'skills') return { kind: 'skills', path: dirname(spec) };
  if (format || content !== undefined) return { kind: format?.kind ?? 'json', path: spec };
  if (isRemote) return mcpUrl(spec);
  const advice = 'Tell it by a prefix: json:, openapi:, mcp: or skills:';
  throw new WinnowError('invalid_option', `The kind of the source ${spec} can't be told from its name. ${advice}.`);
}

/** The name of the server is its place, so that the origin of its tools says where they come from. */
function mcpUrl(url: string): SourceSpec {
  const { host, pathname } = new URL(url);
  return { kind: 'mcp', servers: { [`${host}${pathname.replace(/\/$/, '')}`]: { url } } };
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch (error) {
    const advice = 'Give an existing file or folder, an http(s) URL, or a prefix (json:, openapi:, mcp:, skills:)';
    throw sourceFailed(path, `can't be found (${reasonOf(error)}). ${advice}`, error);
  }
}
