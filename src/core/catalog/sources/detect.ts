/** A path or URL decides the kind of a source; a prefix (`openapi:FILE`) says it where that is not enough. */
import { stat } from 'node:fs/promises';
import { basename, dirname, extname } from 'node:path';
import { WinnowError } from '../../errors.js';
import { isObject } from '../schema/json.js';
import { parseJson, readText, reasonOf, sourceFailed } from './read.js';
import { isUrl, type ReadContext, type SourceSpec } from './source.js';

const PREFIXED = /^(json|openapi|mcp|skills):(.+)$/s;

/** Default time-out of a URL, and of an MCP server from its start to its last page, in milliseconds. */
export const DEFAULT_SOURCE_TIMEOUT_MS = 30_000;

/**
 * A folder holds skills; `.jsonl` holds tool entries; `.yaml` an OpenAPI document; a `.json` file is looked
 * into. A URL that names such a file is fetched, any other is an MCP server on streamable HTTP.
 * @throws WinnowError `source_failed` when a path does not exist, `invalid_option` when the kind is unknown
 */
export async function detectSource(
  spec: string,
  context: ReadContext = { timeoutMs: DEFAULT_SOURCE_TIMEOUT_MS },
): Promise<SourceSpec> {
  const [, kind, rest = ''] = PREFIXED.exec(spec) ?? [];
  if (kind === 'mcp') return isUrl(rest) ? mcpUrl(rest) : { kind, path: rest };
  if (kind === 'json' || kind === 'openapi' || kind === 'skills') return { kind, path: rest };
  if (isUrl(spec)) return detectByName(new URL(spec).pathname, spec, context);
  const isDirectory = await isFolder(spec);
  if (isDirectory) return { kind: 'skills', path: spec };
  return detectByName(spec, spec, context);
}

async function detectByName(name: string, location: string, context: ReadContext): Promise<SourceSpec> {
  const extension = extname(name).toLowerCase();
  if (extension === '.jsonl' || extension === '.ndjson') return { kind: 'json', path: location };
  if (extension === '.yaml' || extension === '.yml') return { kind: 'openapi', path: location };
  if (extension === '.json') return detectByContent(location, context);
  if (isUrl(location)) return mcpUrl(location);
  if (basename(name) === 'SKILL.md') return { kind: 'skills', path: dirname(location) };
  const advice = 'Tell it by a prefix: json:, openapi:, mcp: or skills:';
  throw new WinnowError('invalid_option', `The kind of the source ${location} can't be told from its name. ${advice}.`);
}

async function detectByContent(location: string, context: ReadContext): Promise<SourceSpec> {
  const content = parseJson(await readText(location, context), location);
  if (isObject(content) && ('openapi' in content || 'swagger' in content)) return { kind: 'openapi', path: location };
  if (isObject(content) && 'mcpServers' in content) return { kind: 'mcp', path: location };
  return { kind: 'json', path: location };
}

/** The server is named after its place, so that its tools' origin says where they come from. */
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
