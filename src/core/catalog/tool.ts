/**
 * A tool as the rest of Winnow sees it. Entries are parsed here once, and all other code trusts a `Tool`.
 * `inputSchema` is the schema as its author wrote it; `schema/normalise.ts` makes the form that a model is shown.
 */
import { z } from 'zod';
import { findSlips } from '../nearest-name.js';
import { parse } from '../parse.js';
import { hidesText, oneLine, visibleText } from '../visible-text.js';
import { RISKS, type Risk, riskOf } from './risk.js';
import { childrenOf, isObject, type JsonSchema, mapChildren, objectOf } from './schema/json.js';

export type { JsonSchema };
export { RISKS, type Risk };

export const TOOL_TYPES = ['mcp', 'builtin', 'skill'] as const;
export type ToolType = (typeof TOOL_TYPES)[number];

/** A longer description or list of words (counted together) is refused: it is a mistake or an attack. */
export const MAX_DESCRIPTION_CHARACTERS = 20_000;
const MAX_TITLE_CHARACTERS = 1_000;
/** Of all companions of a tool, or all its preconditions. */
const MAX_NAMES_CHARACTERS = 200_000;
const MOST_HINTS = 100;
/** As JSON. A larger schema is refused as soon as its entry is parsed, and its texts are not read before. */
export const MAX_SCHEMA_BYTES = 262_144;
const FORBIDDEN_NAMES = new Set(['__proto__', 'constructor', 'prototype']);

/** A text without hidden characters, which only models would read. */
const text = z.string().overwrite(visibleText);
/** Measured first, since cleaning a text of megabytes takes seconds. */
const textUpTo = (most: number) => z.string().max(most, { abort: true }).overwrite(visibleText);
const MAX_LISTED = 10_000;
/** @param most characters of all texts together, counted before they are cleaned */
function textsUpTo(most: number, advice = '') {
  const error = `has more than ${most} characters together${advice}`;
  const isShort = (all: readonly string[]) => all.reduce((sum, { length }) => sum + length, 0) <= most;
  const given = z.array(z.string()).max(MAX_LISTED).refine(isShort, { error });
  return given
    .pipe(z.array(text.min(1)))
    .readonly()
    .default([]);
}
const names = textsUpTo(MAX_NAMES_CHARACTERS);
const words = textsUpTo(MAX_DESCRIPTION_CHARACTERS, ': keep what people say who look for the tool');
const record = z.record(z.string(), z.unknown());
/** Real schemas are often flawed: only unusable ones are refused. */
const schema = record
  .refine(({ type = 'object' }) => [type].flat().every((name) => typeof name === 'string'), {
    path: ['type'],
    error: 'neither a name nor a list of names',
  })
  .refine(({ properties = {} }) => record.safeParse(properties).success, {
    path: ['properties'],
    error: 'not an object',
  })
  .overwrite((node) => (isReadable(node) ? withVisibleTexts(node) : node));

function isReadable(node: JsonSchema): boolean {
  return JSON.stringify(node).length <= MAX_SCHEMA_BYTES;
}

/** Cleans only texts for readers: an enum's values, a pattern or a default are what the tool accepts. */
function withVisibleTexts(node: JsonSchema): Record<string, unknown> {
  const { title, description } = node;
  const texts = {
    ...(typeof title === 'string' ? { title: visibleText(title) } : {}),
    ...(typeof description === 'string' ? { description: visibleText(description) } : {}),
  };
  return mapChildren({ ...node, ...texts }, ({ value }) => (isObject(value) ? withVisibleTexts(value) : value));
}

const hints = z.looseObject({ readOnlyHint: z.boolean().optional(), destructiveHint: z.boolean().optional() });

/** One entry of a catalogue, as a source gives it. Unknown keys go to `metadata`. */
const toolEntrySchema = z.object({
  name: z
    .string()
    .min(1, 'a tool needs a name')
    .max(256, { abort: true })
    .refine((name) => !FORBIDDEN_NAMES.has(name), 'this name is not allowed')
    .refine(
      (name) => name === oneLine(name) && !/["\\]/u.test(name),
      'no hidden or control character, quote, backslash, outer or double space',
    ),
  title: textUpTo(MAX_TITLE_CHARACTERS).optional(),
  description: textUpTo(MAX_DESCRIPTION_CHARACTERS).default(''),
  category: textUpTo(MAX_TITLE_CHARACTERS).optional(),
  toolType: z.string().optional(),
  inputSchema: schema.default({ type: 'object' }).describe("The author's schema."),
  outputSchema: schema.optional(),
  risk: z.enum(RISKS).optional(),
  annotations: z
    .custom<z.input<typeof hints>>((given) => Object.keys(objectOf(given)).length <= MOST_HINTS, {
      error: `has more than ${MOST_HINTS} keys`,
    })
    .pipe(hints)
    .optional(),
  keywords: words,
  aliases: words,
  examples: words.describe(
    'Requests in the words of people who need the tool; a few help a search more than many keywords. Models do not see them.',
  ),
  alwaysLoad: z.boolean().default(false).describe('Part of every selection.'),
  relatedTools: names.describe('Companions: chosen whenever this tool is.'),
  preconditions: names,
  origin: z.string().optional().describe('Where the tool comes from: a file, a server, a folder.'),
  server: z.string().optional(),
  scope: z
    .union([
      z.literal('system'),
      z.strictObject({ user: z.string().min(1).describe('The only user who sees the tool.') }).readonly(),
    ])
    .default('system'),
  available: z.boolean().default(true),
  instructions: textUpTo(1_000_000)
    .optional()
    .describe('The whole text of a skill; shown only when the tool is chosen.'),
  metadata: record.optional(),
});
export type ToolEntry = z.input<typeof toolEntrySchema>;
type Entry = z.output<typeof toolEntrySchema>;

export interface Tool extends Readonly<Omit<Entry, 'annotations' | 'server'>> {
  readonly hidden?: readonly string[];
  readonly toolType: ToolType;
  readonly risk: Risk;
  readonly origin: string;
  readonly metadata: Readonly<Record<string, unknown>>;
}

export interface EntryIssue {
  readonly level: 'warning' | 'debug';
  /** File, server or folder, and the position in it, for example `tools.json[3]`. */
  readonly entry: string;
  readonly name?: string;
  readonly message: string;
  readonly isLeftOut?: true;
}

export function warning(entry: string, message: string, name?: unknown): EntryIssue {
  return { level: 'warning', entry, message, ...(typeof name === 'string' ? { name: name.slice(0, 80) } : {}) };
}

/** Of one source, which may have any number of broken entries. */
const MOST_ISSUES = 10_000;

/** Keeps the first issues of a source, and counts further warnings. */
export function collectIssues(origin: string) {
  const issues: EntryIssue[] = [];
  let more = 0;
  return {
    add(found: readonly EntryIssue[]): void {
      const room = MOST_ISSUES - issues.length;
      issues.push(...found.slice(0, room));
      more += found.slice(room).filter(({ level }) => level === 'warning').length;
    },
    all: (): readonly EntryIssue[] =>
      more === 0 ? issues : [...issues, warning(origin, `${more} further problems are not listed`)],
  };
}

export function renderIssue({ entry, name, message }: EntryIssue): string {
  return `${entry}${name === undefined ? '' : ` ${name}`}: ${message}`;
}

type ParsedEntry = { ok: true; tool: Tool; issues: EntryIssue[] } | { ok: false; issues: EntryIssue[] };

/**
 * Parses an entry into a tool. An invalid entry gives its issues, never an exception: the source decides
 * whether it is left out (the default) or fatal (`strict`).
 */
export function parseTool(entry: unknown, place: { origin: string; index: number }): ParsedEntry {
  const parsed = parse(toolEntrySchema, entry, { root: 'entry' });
  const warn = (message: string) => warning(`${place.origin}[${place.index}]`, message, Object(entry).name);
  const issues = describeSlips(entry).map(warn);
  if (!parsed.ok) return { ok: false, issues: [...parsed.issues.map(warn), ...issues] };
  const { annotations, server, toolType: type = 'skill', ...rest } = parsed.value;
  const toolType = TOOL_TYPES.find((one) => one === type);
  if (!toolType)
    return { ok: false, issues: [warn(`toolType: "${type}" is none of ${TOOL_TYPES.join(', ')}`), ...issues] };
  if (parsed.value.toolType === undefined)
    issues.push({ ...warn('toolType is missing: taken as "skill"'), level: 'debug' });
  const unknown = Object.entries(Object(entry)).filter(([key]) => !KEYS.includes(key));
  const hidden = hiddenFieldsOf(Object(entry));
  const tool = {
    ...rest,
    ...(hidden.length > 0 ? { hidden } : {}),
    toolType,
    risk: rest.risk ?? (annotations ? riskOf(annotations) : 'medium'),
    origin: rest.origin ?? server ?? place.origin,
    metadata: { ...Object.fromEntries(unknown), ...(annotations ? { annotations } : {}), ...rest.metadata },
  };
  return { ok: true, tool, issues };
}

/** Fields with hidden characters somewhere in their texts. Values in a schema may have them and are not cleaned. */
function hiddenFieldsOf(entry: Readonly<Record<string, unknown>>): string[] {
  const cleaned = toolEntrySchema.shape;
  return Object.entries(entry).flatMap(([field, value]) => {
    const isText = (part: unknown): boolean => typeof part === 'string' && hidesText(part);
    if (field === 'inputSchema' || field === 'outputSchema')
      return isObject(value) && isReadable(value) && hidesInSchema(value) ? [field] : [];
    return field in cleaned && [value].flat().some(isText) ? [field] : [];
  });
}

function hidesInSchema(node: JsonSchema): boolean {
  const isHidden = [node.title, node.description].some((text) => typeof text === 'string' && hidesText(text));
  return isHidden || childrenOf(node).some(({ value }) => isObject(value) && hidesInSchema(value));
}

const KEYS = Object.keys(toolEntrySchema.shape);
/** Hints of the Model Context Protocol; two of them give a tool's risk. */
const HINTS = ['title', 'readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'];
/** Share of the letters: a short word with one letter changed is another word (`scopes`, `disk`). */
const MAX_KEY_SLIPS = 0.14;

/** Warns of probably misspelt keys. Other unknown keys are their author's business. */
function describeSlips(entry: unknown): string[] {
  const { annotations } = objectOf(entry);
  const ofHints = findSlips(objectOf(annotations), HINTS, MAX_KEY_SLIPS);
  const slips = [
    ...findSlips(objectOf(entry), KEYS, MAX_KEY_SLIPS),
    ...ofHints.map(([key, meant]) => [`annotations.${key}`, meant]),
  ];
  return slips.map(([key, meant]) => `${key}: an unknown key, without effect; "${meant}" may be meant`);
}
