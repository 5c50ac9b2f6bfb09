/** Raw entries and rules -> tools and rules. What is wrong is left out with an issue; nothing throws. */
import { parse } from '../../parse.js';
import { type Rule, ruleSchema } from '../rule.js';
import { isObject } from '../schema/json.js';
import { type EntryIssue, parseTool, type Tool } from '../tool.js';
import { fromOtherForms } from './other-forms.js';
import { findJsonProblem, findSchemaProblems } from './schema-check.js';
import type { SourcePart, SourceReading } from './source.js';

/** A tool with the place it was read from, for messages about clashes. */
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

/** Of a place within a source, such as the one of a server: `mcp.json#notes` of `mcp.json#notes[3]`. */
export function originOf(place: string): string {
  return place.replace(/\[\d+\]$/u, '');
}

export function parseReading(reading: SourceReading): ParsedReading {
  const issues: EntryIssue[] = [...reading.issues];
  const tools = reading.parts.flatMap((part) => parsePart(part, issues));
  const origin = reading.parts[0]?.origin ?? 'source';
  const rules = reading.rules.flatMap((rule, index) => parseRule(rule, `${origin} rules[${index}]`, issues));
  return { tools, rules, issues };
}

function parsePart(part: SourcePart, issues: EntryIssue[]): PlacedTool[] {
  const { origin, server, isPrefixed = false } = part;
  return part.entries.flatMap((entry, index) => {
    const place = `${origin}[${index}]`;
    const tool = parseEntry(entry, { origin, index, place }, issues);
    return tool ? [{ tool, place, ...(server === undefined ? {} : { server, isPrefixed }) }] : [];
  });
}

type EntryPlace = { origin: string; index: number; place: string };

function parseEntry(entry: unknown, { origin, index, place }: EntryPlace, issues: EntryIssue[]): Tool | undefined {
  const parsed = parseTool(fromOtherForms(withoutNulls(entry)), { origin, index });
  if (!parsed.ok) {
    issues.push(...parsed.issues.map((issue) => ({ ...issue, isLeftOut: true as const })));
    return undefined;
  }
  issues.push(...parsed.issues);
  const { tool } = parsed;
  const problems = findProblems(tool);
  const about = { level: 'warning', entry: place, name: shorten(tool.name), isLeftOut: true } as const;
  issues.push(...problems.map((message) => ({ ...about, message })));
  return problems.length === 0 ? tool : undefined;
}

function findProblems(tool: Tool): string[] {
  const problem = findJsonProblem(tool);
  if (problem !== undefined) return [problem];
  return (['inputSchema', 'outputSchema'] as const).flatMap((key) =>
    tool[key] === undefined ? [] : findSchemaProblems(tool[key]).map((text) => `${key}: ${text}`),
  );
}

/** Many servers write `"outputSchema": null` for "none". */
function withoutNulls(entry: unknown): unknown {
  if (!isObject(entry)) return entry;
  const present = Object.entries(entry).filter(([, value]) => value !== null);
  return Object.fromEntries(
    present.map(([key, value]) => (key === 'annotations' ? [key, withoutNulls(value)] : [key, value])),
  );
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
