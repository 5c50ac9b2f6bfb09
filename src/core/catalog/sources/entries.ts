/** Raw entries and rules -> tools and rules. What is wrong is left out with an issue; nothing throws. */
import { parse } from '../../parse.js';
import { type Rule, ruleSchema } from '../rule.js';
import { childrenOf, isObject } from '../schema/json.js';
import { type EntryIssue, type JsonSchema, parseTool, type Tool } from '../tool.js';
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
  const rules = reading.rules.flatMap((rule, index) => parseRule(rule, `${origin} rules[${index}]`, issues));
  return { tools, rules, issues };
}

function parsePart({ origin, server, isPrefixed = false, entries }: SourcePart, issues: EntryIssue[]): PlacedTool[] {
  return entries.flatMap((entry, index) => {
    const place = `${origin}[${index}]`;
    const parsed = parseTool(fromOtherForms(withoutNulls(entry)), { origin, index });
    issues.push(...parsed.issues.map((issue) => (parsed.ok ? issue : { ...issue, isLeftOut: true as const })));
    if (!parsed.ok) return [];
    const { tool } = parsed;
    const problems = findProblems(tool);
    const about = { level: 'warning', entry: place, name: shorten(tool.name), isLeftOut: true } as const;
    issues.push(...problems.map((message) => ({ ...about, message })));
    return problems.length > 0 ? [] : [{ tool, place, ...(server === undefined ? {} : { server, isPrefixed }) }];
  });
}

function parseRule(rule: unknown, place: string, issues: EntryIssue[]): Rule[] {
  const parsed = parse(ruleSchema, rule, { root: 'rule' });
  if (parsed.ok) return [parsed.value];
  const name = isObject(rule) && typeof rule.name === 'string' ? { name: shorten(rule.name) } : {};
  for (const message of parsed.issues) issues.push({ level: 'warning', entry: place, ...name, message });
  return [];
}

function shorten(name: string): string {
  return name.slice(0, 80);
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
  const key = ['parameters', 'input_schema'].find((name) => isSchemaOfArguments(entry[name]));
  if (key === undefined || entry.inputSchema !== undefined) return entry;
  const { [key]: inputSchema, ...rest } = entry;
  return { ...rest, inputSchema };
}

function isSchemaOfArguments(value: unknown): boolean {
  return isObject(value) && (value.type === 'object' || isObject(value.properties));
}

function findProblems(tool: Tool): string[] {
  const problem = findJsonProblem(tool);
  if (problem !== undefined) return [problem];
  return (['inputSchema', 'outputSchema'] as const).flatMap((key) =>
    tool[key] === undefined ? [] : findSchemaProblems(tool[key]).map((text) => `${key}: ${text}`),
  );
}

/** One problem a line, with its path. Schemas in the wild are messy: refused is only what nothing can be made of. */
export function findSchemaProblems(schema: unknown, path = ''): string[] {
  if (!isObject(schema)) return path === '' ? ['not a JSON Schema object'] : [];
  const { type, properties } = schema;
  const types = Array.isArray(type) ? type : [type];
  const isTyped = !('type' in schema) || types.every((name) => typeof name === 'string');
  const inner = childrenOf(schema).flatMap(({ keyword, step, value }) =>
    findSchemaProblems(isObject(value) ? value : {}, `${path}${keyword}.${step === undefined ? '' : `${step}.`}`),
  );
  return [
    ...(isTyped ? [] : [`${path}type: neither a name nor a list of names`]),
    ...('properties' in schema && !isObject(properties) ? [`${path}properties: not an object`] : []),
    ...inner,
  ];
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
