/**
 * The list of source formats, their detection by name or content, and the two simple formats: JSON files and folders of
 * skills.
 */
import { readdir, realpath, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { reasonOf, WinnowError } from '../../errors.js';
import { isObject } from '../schema/json.js';
import { type EntryIssue, warning } from '../tool.js';
import { mcpFormat, readMcpServers } from './mcp.js';
import { openApiFormat } from './openapi.js';
import {
  describeSource,
  fromOtherForms,
  isUrl,
  PREFIXES,
  parseJson,
  parseJsonOrYaml,
  type ReadContext,
  readText,
  SOURCE_KINDS,
  type SourceFailure,
  type SourceFormat,
  type SourceKind,
  type SourceReading,
  type SourceSpec,
  sourceFailed,
} from './source.js';
import { parseYaml } from './yaml.js';

/** Default time-out of a URL, and of an MCP server from its start to its last page, in milliseconds. */
export const DEFAULT_SOURCE_TIMEOUT_MS = 30_000;

const YAML_NAME = /\.ya?ml$/i;

const JSON_LINES = /\.(?:jsonl|ndjson)$/i;

const FORMATS: Readonly<Record<SourceKind, SourceFormat>> = {
  openapi: openApiFormat,
  mcp: mcpFormat,
  /**
   * A folder in which each `SKILL.md` is one tool. Stage one sees the name and description of its front matter; the text
   * after it is shown only when the skill is chosen.
   */
  skills: { names: /(?:^|[\\/])SKILL\.md$/, read: readSkillsSource },
  /** Tool entries, a catalogue with rules, or a saved response of an MCP `tools/list`. */
  json: { names: JSON_LINES, read: readJsonSource },
};

/** @throws WinnowError `source_failed`, `cancelled` */
export async function readSource(
  spec: SourceSpec,
  context: ReadContext,
): Promise<readonly (SourceReading | SourceFailure)[]> {
  if (spec.kind === 'tools') return [{ origin: spec.name, entries: spec.tools }];
  if ('servers' in spec) return readMcpServers({ servers: spec.servers, failures: [] }, 'mcp', context);
  return FORMATS[spec.kind].read(spec.path, context);
}

/**
 * A prefix (`openapi:FILE`) names the format; else the file name, or the content of JSON and YAML, decides. A folder holds
 * skills. A URL that names no such file is an MCP server on streamable HTTP.
 * @throws WinnowError `source_failed` when a path does not exist, `invalid_option` when the kind is unknown
 */
export async function detectSource(
  spec: string,
  context: ReadContext = { timeoutMs: DEFAULT_SOURCE_TIMEOUT_MS },
): Promise<SourceSpec> {
  const named = SOURCE_KINDS.find((kind) => spec.startsWith(`${kind}:`) && spec.length > kind.length + 1);
  const rest = named ? spec.slice(named.length + 1) : '';
  if (named) return named === 'mcp' && isUrl(rest) ? mcpUrl(rest) : { kind: named, path: rest };
  const isRemote = isUrl(spec);
  if (!isRemote && (await isFolder(spec))) return { kind: 'skills', path: spec };
  const name = isRemote ? new URL(spec).pathname : spec;
  const content = await lookInto(spec, name, context);
  const kind = SOURCE_KINDS.find((one) => {
    const { names, holds } = FORMATS[one];
    return names?.test(name) || (isObject(content) && holds?.(content));
  });
  if (kind === 'skills') return { kind, path: dirname(spec) };
  if (kind || content !== undefined) return { kind: kind ?? 'json', path: spec };
  if (isRemote) return mcpUrl(spec);
  const advice = `Name it by a prefix: ${PREFIXES}`;
  throw new WinnowError('invalid_option', `The name of the source ${spec} does not show its kind. ${advice}.`);
}

/** The content of JSON and YAML files, else undefined. YAML parses slowly, so OpenAPI in YAML gives only its kind's key. */
async function lookInto(spec: string, name: string, context: ReadContext): Promise<unknown> {
  if (/\.json$/i.test(name)) return parseJson(await readText(spec, context), spec);
  if (!YAML_NAME.test(name)) return undefined;
  const text = await readText(spec, context);
  const [, key] = /^(openapi|swagger)\s*:/m.exec(text) ?? [];
  return key === undefined ? parseJsonOrYaml(text, spec) : { [key]: true };
}

/** Names the server by host and path, so that the origin of its tools shows where they come from. */
function mcpUrl(url: string): SourceSpec {
  const { host, pathname } = new URL(url);
  return { kind: 'mcp', servers: { [`${host}${pathname.replace(/\/$/, '')}`]: { url } } };
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch (error) {
    const advice = `Give an existing file or folder, an http(s) URL, or a prefix (${PREFIXES})`;
    throw sourceFailed(path, `can't be found (${reasonOf(error)}). ${advice}`, error);
  }
}

async function readJsonSource(path: string, context: ReadContext): Promise<SourceReading[]> {
  const text = await readText(path, context);
  const origin = describeSource(path);
  if (JSON_LINES.test(origin)) return [parseJsonLines(text, origin)];
  const content = YAML_NAME.test(origin) ? await parseJsonOrYaml(text, path) : await parseJson(text, path);
  return [readJsonContent(content, path)];
}

/** Reads the content of a JSON file in any of its forms. @throws WinnowError `source_failed` for any other form */
export function readJsonContent(content: unknown, path: string): SourceReading {
  const origin = describeSource(path);
  if (Array.isArray(content)) return { origin, entries: content };
  const { name, tools, rules, nextCursor } = Object(isObject(content) ? (content.result ?? content) : {});
  if (!Array.isArray(tools)) {
    const forms = 'an array of tool entries, {name, tools, rules?}, nor the answer of tools/list';
    throw sourceFailed(
      path,
      `is neither ${forms}. Write it in one of these forms; MCP servers stand in {"mcpServers": …}, OpenAPI has "openapi"`,
    );
  }
  // A catalogue file has a name or rules; a server's response has neither.
  if (name !== undefined || rules !== undefined) {
    const isList = Array.isArray(rules ?? []);
    const issues = isList ? [] : [warning(`${origin} rules`, 'rules: not an array, left out')];
    const named = typeof name === 'string' ? { name } : {};
    return { origin, ...named, entries: tools, rules: isList ? (rules ?? []) : [], issues };
  }
  const cut = warning(origin, 'nextCursor: this is one page; the tools of the others are missing');
  const entries = tools.map((tool) => (isObject(tool) ? { toolType: 'mcp', ...fromOtherForms(tool) } : tool));
  return { origin, entries, issues: nextCursor ? [cut] : [] };
}

function parseJsonLines(text: string, origin: string): SourceReading {
  const issues: EntryIssue[] = [];
  const entries = text.split(/\r?\n/).flatMap((line, index): unknown[] => {
    if (line.trim() === '') return [];
    try {
      return [JSON.parse(line)];
    } catch (error) {
      issues.push({ ...warning(`${origin}:${index + 1}`, `not JSON: ${reasonOf(error)}`), isLeftOut: true });
      return [];
    }
  });
  return { origin, entries, issues };
}

const SKILL_FILE = 'SKILL.md';
const FRONT_MATTER = /^---[ \t]*\r?\n(.*?)\r?\n---[ \t]*(?:\r?\n|$)(.*)$/s;
/** Deeper folders only hold files of a skill. */
const MAX_DEPTH = 6;

async function readSkillsSource(path: string, context: ReadContext): Promise<SourceReading[]> {
  const files = await findSkillFiles(path);
  if (files.length === 0) throw sourceFailed(path, `holds no ${SKILL_FILE}. Give the folder above the skills' folders`);
  const readings: SourceReading[] = [];
  for (const file of files) {
    const origin = join(path, file);
    const skill = await parseSkill(await readText(origin, context), file);
    const problem = typeof skill === 'string' ? [warning(origin, `front matter: ${skill}`)] : [];
    readings.push({ origin, entries: isObject(skill) ? [{ ...skill, origin: path }] : [], issues: problem });
  }
  return readings;
}

async function parseSkill(text: string, file: string): Promise<Record<string, unknown> | string> {
  const [, matter, instructions = ''] = FRONT_MATTER.exec(text) ?? [];
  if (matter === undefined) return 'the file must begin with "---", name, description, "---"';
  try {
    const parsed = await parseYaml(matter);
    if (!isObject(parsed)) return 'not a list of "key: value"';
    const metadata = { ...Object(parsed.metadata), skill: { file } };
    return { ...parsed, toolType: 'skill', instructions: instructions.trim(), metadata };
  } catch (error) {
    return `not YAML (a value with a colon needs quotes): ${reasonOf(error)}`;
  }
}

/**
 * Paths below the folder, sorted by name so that every run has the same order. Follows links, searches no folder twice, and
 * does not search inside a skill's folder.
 */
async function findSkillFiles(root: string): Promise<string[]> {
  const seen = new Set<string>();
  return find('', 0);

  async function find(folder: string, depth: number): Promise<string[]> {
    const path = join(root, folder);
    const [names, real] = await Promise.all([readdir(path), realpath(path)]).catch((error: unknown) => {
      throw sourceFailed(root, `can't be read (${reasonOf(error)}). Check that it is a folder`, error);
    });
    if (seen.has(real)) return [];
    seen.add(real);
    // A broken link leads to nothing.
    const about = async (name: string) => ({ name, is: await stat(join(path, name)).catch(() => undefined) });
    const entries = await Promise.all(names.sort().map(about));
    if (entries.some(({ name, is }) => is?.isFile() && name === SKILL_FILE)) return [join(folder, SKILL_FILE)];
    if (depth >= MAX_DEPTH) return [];
    const folders = entries.filter(({ name, is }) => is?.isDirectory() && !/^\.|^node_modules$/.test(name));
    const found: string[] = [];
    for (const { name } of folders) found.push(...(await find(join(folder, name), depth + 1)));
    return found;
  }
}
