/** Raw entries and rules -> tools and rules with unique names. What is wrong is left out with an issue. */
import { parse } from '../../parse.js';
import { type Rule, ruleSchema } from '../rule.js';
import { isObject } from '../schema/json.js';
import { type EntryIssue, type JsonSchema, parseTool, type Tool, warning } from '../tool.js';
import type { SourcePart, SourceReading } from './source.js';

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
