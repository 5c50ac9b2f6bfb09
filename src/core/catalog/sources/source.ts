/** Types shared by all readers of sources, parsing of what they read, and reading of files and URLs. */
import { isUtf8 } from 'node:buffer';
import { readFile } from 'node:fs/promises';
import type { ParseError } from 'jsonc-parser';
import { reasonOf, throwIfCancelled, WinnowError } from '../../errors.js';
import { runWhole } from '../../in-slices.js';
import { parse } from '../../parse.js';
import { withoutUrlKeys } from '../../secret-forms.js';
import { patternOf, type Rule, ruleSchema } from '../rule.js';
import { findSizeProblem } from '../schema/bounds.js';
import { findJsonProblem, isObject, typesOf } from '../schema/json.js';
import {
  collectIssues,
  type EntryIssue,
  type JsonSchema,
  parseTool,
  type Tool,
  type ToolEntry,
  warning,
} from '../tool.js';
import { fetchDocument } from './bound-body.js';
import type { McpServer, ServerTokens, UserServer } from './mcp-server.js';
import { parseYaml } from './yaml.js';

/** `path` is a file or folder, or, for `json` and `openapi`, an http(s) URL. */
export type SourceSpec =
  | { readonly kind: SourceKind; readonly path: string }
  | { readonly kind: 'mcp'; readonly servers: Readonly<Record<string, McpServer>> }
  /** From code: entries in the format of a file, or tools of another catalogue. */
  | { readonly kind: 'tools'; readonly name: string; readonly tools: readonly (ToolEntry | Tool)[] };

export interface SourceFailure {
  /** The source, without keys, or `config#server` for one server of an MCP configuration. */
  readonly source: string;
  readonly error: WinnowError;
  /** For an MCP server: what it did, in words anyone may see. Its own words are only in the error, for operators. */
  readonly server?: { readonly name: string; readonly reason: string };
  /** An operator has to connect the server first, which a running Winnow is needed for. */
  readonly isUnconnected?: true;
}

/** Raw entries of one place: a file, or one MCP server. Each is parsed, or left out with an issue. */
export interface SourceReading {
  /** Precedes the index of an entry in messages; the origin of entries that name none. */
  readonly origin: string;
  readonly entries: readonly unknown[];
  readonly name?: string;
  readonly rules?: readonly unknown[];
  readonly issues?: readonly EntryIssue[];
  readonly server?: string;
}

export interface ReadContext {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Looks up a variable that a configuration names as `${NAME}`. */
  readonly variable?: ((name: string) => string | undefined) | undefined;
  /** The tokens with which a server that users authorize is read. Default: there are none. */
  readonly tokensOf?: ((name: string, server: UserServer) => Promise<ServerTokens | undefined>) | undefined;
}

/** In the order in which detection tries them. Each has a format in `FORMATS`. */
export const SOURCE_KINDS = ['openapi', 'mcp', 'skills', 'json'] as const;
export type SourceKind = (typeof SOURCE_KINDS)[number];
/** For messages. */
export const PREFIXES = SOURCE_KINDS.map((kind) => `${kind}:`).join(', ');

export interface SourceFormat {
  /** Matches file names of this format. Default: none. */
  readonly names?: RegExp;
  holds?(content: Readonly<Record<string, unknown>>): boolean;
  /**
   * Returns a failure for each server of an MCP configuration that failed.
   * @throws WinnowError `source_failed`, `cancelled`
   */
  read(path: string, context: ReadContext): Promise<readonly (SourceReading | SourceFailure)[]>;
}

export interface PlacedTool {
  readonly tool: Tool;
  readonly place: string;
}

export interface ParsedReading extends Omit<SourceReading, 'entries'> {
  readonly tools: readonly PlacedTool[];
  readonly rules: readonly Rule[];
  readonly issues: readonly EntryIssue[];
}

/** @param restrict has the last word on the fields of each entry, whose form is converted by then */
export function parseReading(reading: SourceReading, restrict?: (entry: unknown) => unknown): ParsedReading {
  return runWhole(parseInSteps(reading, restrict));
}

/** One entry per step, so that callers can pause between entries. */
export function* parseInSteps(
  { entries, ...reading }: SourceReading,
  restrict = isUrl(reading.origin) ? asStrangers : (entry: unknown) => entry,
): Generator<void, ParsedReading, void> {
  const { origin } = reading;
  const isStranger = isUrl(origin);
  const { add, all } = collectIssues(origin);
  add(reading.issues ?? []);
  const parseEntry = (entry: unknown, index: number): PlacedTool[] => {
    const place = `${origin}[${index}]`;
    const leaveOut = (message: string) => {
      add([{ ...warning(place, message, Object(entry).name), isLeftOut: true }]);
      return [];
    };
    const broken = findJsonProblem(entry);
    if (broken !== undefined) return leaveOut(broken);
    const converted = isObject(entry) ? fromOtherForms(withoutNulls(entry)) : entry;
    const parsed = parseTool(restrict(converted), { origin, index });
    add(parsed.issues.map((issue) => (parsed.ok ? issue : { ...issue, isLeftOut: true as const })));
    if (!parsed.ok) return [];
    const { outputSchema, ...tool } = parsed.tool;
    const size = tooLarge('inputSchema', tool.inputSchema);
    if (size !== undefined) return leaveOut(size);
    // A tool works without it, and result schemas of APIs often include most of the API's types.
    const problem = outputSchema && tooLarge('outputSchema', outputSchema);
    if (problem === undefined) return [{ tool: parsed.tool, place }];
    add([warning(place, `${problem}; the tool is taken without it`, tool.name)]);
    return [{ tool, place }];
  };
  const tools: PlacedTool[] = [];
  for (const [index, entry] of entries.entries()) {
    tools.push(...parseEntry(entry, index));
    yield;
  }
  if (isStranger && reading.rules?.length)
    add([warning(`${origin} rules`, 'left out: rules count in files of your own alone')]);
  const rules: Rule[] = [];
  for (const [index, rule] of (isStranger ? [] : (reading.rules ?? [])).entries()) {
    const parsed = parse(ruleSchema, rule, { root: 'rule' });
    if (parsed.ok) {
      rules.push(parsed.value);
      // Here, where others get a turn after each rule.
      patternOf(parsed.value.when);
    } else add(parsed.issues.map((text) => warning(`${origin} rules[${index}]`, text, Object(rule).name)));
    yield;
  }
  return { ...reading, tools, rules, issues: all() };
}

/**
 * An entry of a remote document, which may change at any time: it has high risk, as tools of MCP servers do, and can set
 * neither its origin, nor its scope, nor the server that runs it, nor bring other tools along.
 */
function asStrangers(entry: unknown): unknown {
  if (!isObject(entry)) return entry;
  const { origin: _, server, scope, alwaysLoad, relatedTools, mcp, metadata, ...rest } = entry;
  const { mcp: alsoMcp, ...others } = isObject(metadata) ? metadata : {};
  return { ...rest, risk: 'high', metadata: others };
}

function tooLarge(name: string, schema: JsonSchema): string | undefined {
  const problem = findSizeProblem(schema);
  return problem && `${name}: ${problem}`;
}

/** Many servers write `"outputSchema": null` for "none". */
function withoutNulls(entry: JsonSchema): JsonSchema {
  const present = Object.entries(entry).filter(([, value]) => value !== null);
  return Object.fromEntries(
    present.map(([key, value]) =>
      key === 'annotations' && isObject(value) ? [key, withoutNulls(value)] : [key, value],
    ),
  );
}

/**
 * Converts tools in the formats of model APIs: `{type: "function", function: {name, parameters}}`, `{name, parameters}` and
 * `{name, input_schema}`. The caller runs these functions, so they are `builtin`. Other entries stay unchanged. What
 * stands beside a function counts before its own fields, since a reader may have set it.
 */
export function fromOtherForms(written: JsonSchema): JsonSchema {
  const { type, function: inner, ...beside } = written;
  const isFunction = type === 'function' && isObject(inner);
  const entry: JsonSchema = isFunction ? { toolType: 'builtin', ...inner, ...beside } : written;
  const isSchema = (value: unknown) =>
    isObject(value) && (typesOf(value).includes('object') || SCHEMA_KEYS.some((key) => key in value));
  // Elsewhere `parameters` may mean anything. Those of a function are its schema, so that a wrong one is refused.
  const isGiven = isFunction && (inner.parameters ?? undefined) !== undefined;
  const key = isGiven ? 'parameters' : ['parameters', 'input_schema'].find((name) => isSchema(entry[name]));
  if (key === undefined || entry.inputSchema !== undefined) return entry;
  const { [key]: inputSchema, ...rest } = entry;
  return { toolType: 'builtin', ...rest, inputSchema };
}

const SCHEMA_KEYS = ['properties', '$ref', 'anyOf', 'oneOf', 'allOf'];
/** Prefix of the names of tools that users have added; no other tools have it. */
export const OWN_PREFIX = 'my__';

/**
 * All tools except those whose name is reserved or taken. Duplicates of an operator are kept for `createCatalog` to refuse;
 * duplicates of a server or of a document of the network, which may offer any name, are left out.
 */
export function withoutTaken(readings: readonly ParsedReading[]): { placed: PlacedTool[]; issues: EntryIssue[] } {
  const issues: EntryIssue[] = [];
  const leaveOut = ({ tool, place }: PlacedTool, why: string) => {
    issues.push({ ...warning(place, `left out: ${why}`, tool.name), isLeftOut: true });
    return [];
  };
  const isSystem = ({ tool }: PlacedTool) => tool.scope === 'system';
  const isOperators = ({ server, origin }: ParsedReading) => server === undefined && !isUrl(origin);
  const written = readings.filter(isOperators).flatMap(({ tools }) => tools);
  const taken = new Map(written.map(({ tool, place }) => [tool.name, place]));
  const placed = readings.flatMap((reading) =>
    reading.tools.flatMap((one) => {
      const { name } = one.tool;
      if (isSystem(one) && name.startsWith(OWN_PREFIX))
        return leaveOut(one, `names of users' own tools begin with ${OWN_PREFIX}; rename the tool, or its server`);
      if (isOperators(reading)) return [one];
      const other = taken.get(name);
      if (other !== undefined) return leaveOut(one, `${other} has a tool of this name`);
      taken.set(name, one.place);
      return [one];
    }),
  );
  return { placed, issues };
}

/** Describes a source, without possible keys in a URL. */
export function describeSource(spec: string | SourceSpec): string {
  if (typeof spec === 'string') return withoutUrlKeys(spec);
  if (spec.kind === 'tools') return spec.name;
  return 'servers' in spec ? `mcp:${Object.keys(spec.servers).join(',')}` : describeSource(spec.path);
}

export function isUrl(text: string): boolean {
  return /^https?:\/\//i.test(text) && URL.canParse(text);
}

/** Whether only this machine reaches the host. @param host a name or an address, an IPv6 one also in brackets */
export function isLoopback(host: string): boolean {
  return /^(localhost|127(\.\d+){3}|::1|\[::1\])$/.test(host);
}

/** The operator's own files are trusted; servers and URLs are not, unless the configuration trusts the server. */
export function isVouchedFor({ metadata: { mcp }, origin }: Pick<Tool, 'metadata' | 'origin'>): boolean {
  return mcp === undefined ? !isUrl(origin) : Object(mcp).trust === true;
}

/** @param what follows the source's name in the message, and ends with what to do */
export function sourceFailed(location: string, what: string, cause?: unknown): WinnowError {
  const source = describeSource(location);
  return new WinnowError('source_failed', `The source ${source} ${what}.`, { cause, details: { source } });
}

/** @throws WinnowError `source_failed`, `cancelled` */
export async function readText(location: string, { timeoutMs, signal }: ReadContext): Promise<string> {
  throwIfCancelled(signal);
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    const read = isUrl(location)
      ? await fetchDocument(location, AbortSignal.any(signal ? [timeout, signal] : [timeout]))
      : await readFile(location, { signal });
    if (typeof read !== 'string' && !isUtf8(read)) throw sourceFailed(location, 'is not UTF-8 text. Save it as UTF-8');
    return read.toString().replace(/^\uFEFF/, '');
  } catch (error) {
    throwIfCancelled(signal);
    if (error instanceof WinnowError) throw error;
    if (!isUrl(location))
      throw sourceFailed(location, `can't be read (${reasonOf(error)}). Check the path and its permissions`, error);
    const what = timeout.aborted ? `did not answer within ${timeoutMs} ms` : `can't be fetched (${reasonOf(error)})`;
    throw sourceFailed(location, `${what}. Check the URL and that its server runs`, error);
  }
}

/**
 * Parses JSON, also with comments and trailing commas.
 * @throws WinnowError `source_failed` with line, column and the parser's own words
 */
export async function parseJson(text: string, location: string): Promise<unknown> {
  try {
    return JSON.parse(text);
  } catch (error) {
    const { parse: parseLoosely, printParseErrorCode } = await import('jsonc-parser');
    const problems: ParseError[] = [];
    const value: unknown = parseLoosely(text, problems, { allowTrailingComma: true });
    const [first] = problems;
    if (!first) return value;
    const before = text.slice(0, first.offset).split(/\r\n|[\r\n]/u);
    const place = `line ${before.length}, column ${(before.at(-1) ?? '').length + 1}`;
    const what = printParseErrorCode(first.error).replace(/\B[A-Z]/gu, (letter) => ` ${letter.toLowerCase()}`);
    const advice = `Correct it, or name its kind by a prefix: ${PREFIXES}`;
    throw sourceFailed(location, `is not JSON (${place}: ${what}). ${advice}`, error);
  }
}

/** Parses as JSON if it looks like JSON, which is many times faster, else as YAML. Errors as for `parseJson`. */
export async function parseJsonOrYaml(text: string, location: string): Promise<unknown> {
  if (text.trimStart().startsWith('{')) return parseJson(text, location);
  try {
    return await parseYaml(text);
  } catch (error) {
    throw sourceFailed(location, `is not YAML (${reasonOf(error)}). Correct it`, error);
  }
}
