/**
 * Raw entries and rules -> tools and rules with unique names. What is wrong is left out with an issue. Entries may also
 * be tools of LangChain, of which nothing is imported: whatever has these fields will do.
 */
import { z } from 'zod';
import { WinnowError } from '../../errors.js';
import { parse } from '../../parse.js';
import { type Rule, ruleSchema } from '../rule.js';
import { isObject } from '../schema/json.js';
import { type EntryIssue, type JsonSchema, parseTool, renderIssue, type Tool, warning } from '../tool.js';
import { createReading, type SourcePart, type SourceReading } from './source.js';

/** A tool with the place where it stood, for messages about clashes. */
export interface PlacedTool {
  readonly tool: Tool;
  readonly place: string;
  /** MCP only: the server of the configuration. */
  readonly server?: string;
  /** MCP only: its name is before that of the tool in any case. */
  readonly isPrefixed?: boolean;
}

export interface ParsedReading {
  readonly tools: readonly PlacedTool[];
  readonly rules: readonly Rule[];
  readonly issues: readonly EntryIssue[];
}

/** Of a place within a source, such as one of a server: `mcp.json#notes` of `mcp.json#notes[3]`. */
export function originOf(place: string): string {
  return place.replace(/\[\d+\]$/u, '');
}

/** Deeper nesting is a mistake or an attack: some later step would overflow the stack. */
const MAX_DEPTH = 200;

export function parseReading(reading: SourceReading): ParsedReading {
  const issues: EntryIssue[] = [...reading.issues];
  const tools = reading.parts.flatMap((part) => parsePart(part, issues));
  const origin = reading.parts[0]?.origin ?? 'source';
  const rules = reading.rules.flatMap((rule, index) => {
    const parsed = parse(ruleSchema, rule, { root: 'rule' });
    if (parsed.ok) return [parsed.value];
    issues.push(...parsed.issues.map((text) => warning(`${origin} rules[${index}]`, text, Object(rule).name)));
    return [];
  });
  return { tools, rules, issues };
}

function parsePart({ origin, server, isPrefixed = false, entries }: SourcePart, issues: EntryIssue[]): PlacedTool[] {
  return entries.flatMap((entry, index) => {
    const place = `${origin}[${index}]`;
    const parsed = parseTool(fromOtherForms(withoutNulls(entry)), { origin, index });
    issues.push(...parsed.issues.map((issue) => (parsed.ok ? issue : { ...issue, isLeftOut: true as const })));
    if (!parsed.ok) return [];
    const { tool } = parsed;
    const message = findJsonProblem(tool);
    if (message === undefined) return [{ tool, place, ...(server === undefined ? {} : { server, isPrefixed }) }];
    issues.push({ ...warning(place, message, tool.name), isLeftOut: true });
    return [];
  });
}

/** Many servers write `"outputSchema": null` for "none". */
function withoutNulls(entry: unknown): unknown {
  if (!isObject(entry)) return entry;
  const present = Object.entries(entry).filter(([, value]) => value !== null);
  return Object.fromEntries(
    present.map(([key, value]) => (key === 'annotations' ? [key, withoutNulls(value)] : [key, value])),
  );
}

/**
 * Tools as the interfaces of models write them: `{type: "function", function: {name, parameters}}`, `{name, parameters}`
 * and `{name, input_schema}`. All else stays as it is.
 */
function fromOtherForms(written: unknown): unknown {
  if (!isObject(written)) return written;
  const { type, function: inner, ...beside } = written;
  const entry: JsonSchema = type === 'function' && isObject(inner) ? { ...beside, ...inner } : written;
  const isSchema = (value: unknown) => isObject(value) && (value.type === 'object' || isObject(value.properties));
  const key = ['parameters', 'input_schema'].find((name) => isSchema(entry[name]));
  if (key === undefined || entry.inputSchema !== undefined) return entry;
  const { [key]: inputSchema, ...rest } = entry;
  return { ...rest, inputSchema };
}

/** Cycles (YAML aliases, objects from code) and big integers can't be written as JSON. */
export function findJsonProblem(value: unknown): string | undefined {
  const done = new Set<unknown>();
  const isJson = (part: unknown, depth: number): boolean => {
    if (typeof part !== 'object' || part === null || done.has(part)) return typeof part !== 'bigint';
    if (depth > MAX_DEPTH || !Object.values(part).every((child) => isJson(child, depth + 1))) return false;
    done.add(part);
    return true;
  };
  return isJson(value, 0) ? undefined : `not JSON: refers to itself, or is nested deeper than ${MAX_DEPTH}`;
}

/**
 * Where two MCP servers have a tool of one name, each gets its server's name as a prefix (`github__search`); the server's
 * own name of the tool stays in `metadata.mcp`.
 */
export function prefixTools(placed: readonly PlacedTool[]): { placed: PlacedTool[]; issues: EntryIssue[] } {
  const servers = new Map<string, Set<string>>();
  // Tools that have a prefix in any case share no name.
  for (const { tool, place, server, isPrefixed } of placed)
    if (server !== undefined && !isPrefixed)
      servers.set(tool.name, (servers.get(tool.name) ?? new Set()).add(originOf(place)));
  const issues: EntryIssue[] = [];
  const named = placed.map((item) => {
    const { server, tool, place, isPrefixed } = item;
    if (server === undefined || (!isPrefixed && servers.get(tool.name)?.size === 1)) return item;
    const name = `${server.replace(/[^\p{L}\p{N}_-]+/gu, '_')}__${tool.name}`;
    const reason = isPrefixed ? 'its server has a prefix' : 'another server has a tool of this name';
    issues.push({ level: 'debug', entry: place, name: tool.name, message: `renamed to "${name}": ${reason}` });
    return { ...item, tool: { ...tool, name } };
  });
  return { placed: named, issues };
}

export interface LangChainToolsOptions {
  /** Origin of the tools. Default: "langchain". */
  origin?: string;
}

/** What is read of LangChain's `StructuredToolInterface`; the schema is one of zod 4, or JSON Schema. */
export interface LangChainTool {
  readonly name: string;
  readonly description: string;
  readonly schema: unknown;
  readonly metadata?: unknown;
}

/**
 * `StructuredTool` instances, such as `tool()` makes, as tools of a catalogue (toolType `builtin`).
 * `metadata` may hold `risk`, `category`, `keywords` and `aliases`; the rest of it stays in `metadata`.
 * @throws WinnowError `invalid_catalog`, naming the tool that can't be used
 */
export function toolsFromLangChain(tools: readonly LangChainTool[], options: LangChainToolsOptions = {}): Tool[] {
  const origin = options.origin ?? 'langchain';
  const parsed = parseReading(createReading([{ origin, entries: tools.map((tool) => toEntry(tool)) }]));
  const problems = parsed.issues.filter(({ level }) => level === 'warning');
  if (problems.length > 0) {
    const issues = problems.map(renderIssue);
    throw new WinnowError('invalid_catalog', `LangChain tools are not usable: ${issues[0]}.`, { issues });
  }
  return parsed.tools.map(({ tool }) => tool);
}

const OWN_KEYS = ['risk', 'category', 'keywords', 'aliases'];

function toEntry({ name, description, schema, metadata }: LangChainTool) {
  const facts = Object.entries(isObject(metadata) ? metadata : {});
  return {
    ...Object.fromEntries(facts.filter(([key]) => OWN_KEYS.includes(key))),
    name,
    description,
    toolType: 'builtin',
    inputSchema: toInputSchema(schema, name),
    metadata: Object.fromEntries(facts.filter(([key]) => !OWN_KEYS.includes(key))),
  };
}

/** Zod is known by its form, since `instanceof` knows nothing of another copy of it. */
function toInputSchema(schema: unknown, name: string): JsonSchema {
  const { _zod, _def, safeParse } = Object(schema);
  if (isObject(_zod)) {
    const options = { io: 'input', unrepresentable: 'any' } as const;
    const { $schema: _, '~standard': __, ...plain } = z.toJSONSchema(schema as z.core.$ZodType, options);
    return plain;
  }
  // The one zod 3 schema that LangChain itself makes, for tools that take a string.
  if (_def?.typeName === 'ZodEffects' && Object.keys(Object(_def.schema?.shape)).join() === 'input')
    return { type: 'object', properties: { input: { type: 'string' } } };
  if (isObject(schema) && typeof safeParse !== 'function') return schema;
  const advice = 'give a zod 4 schema, or JSON Schema (toJsonSchema of @langchain/core/utils/json_schema makes it)';
  throw new WinnowError('invalid_catalog', `The schema of the LangChain tool "${name}" is of another kind: ${advice}.`);
}
