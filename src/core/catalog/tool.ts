/**
 * A tool as the rest of Winnow sees it. Entries are parsed here once; inside, a `Tool` is trusted.
 * `inputSchema` is the schema as its author wrote it; `schema/normalise.ts` makes what a model is shown.
 */
import { z } from 'zod';
import { nearestName } from '../nearest-name.js';
import { parse } from '../parse.js';
import { RISKS, type Risk, riskOf } from './risk.js';

export { RISKS, type Risk };

export type JsonSchema = { readonly [key: string]: unknown };

export const TOOL_TYPES = ['mcp', 'builtin', 'skill'] as const;
export type ToolType = (typeof TOOL_TYPES)[number];

/** Longer descriptions are refused: they are a mistake or an attack, not a description. */
export const MAX_DESCRIPTION_CHARACTERS = 20_000;
const FORBIDDEN_NAMES = new Set(['__proto__', 'constructor', 'prototype']);

const words = z.array(z.string().min(1)).optional();

const scopeSchema = z.union([
  z.literal('system'),
  z.strictObject({ user: z.string().min(1).describe('The only user who sees the tool.') }),
]);

/** One entry of a catalogue, as a source hands it over. Unknown keys go to `metadata`. */
export const toolEntrySchema = z.object({
  name: z
    .string()
    .min(1, 'a tool needs a name')
    .max(256)
    .refine((name) => !FORBIDDEN_NAMES.has(name), 'this name is not allowed')
    .refine(
      (name) => name === name.trim() && !/[\p{Cc}"\\]/u.test(name),
      'no control character, quote, backslash or outer space',
    ),
  title: z.string().optional(),
  description: z.string().max(MAX_DESCRIPTION_CHARACTERS).default(''),
  category: z.string().optional(),
  toolType: z.string().optional(),
  inputSchema: z.record(z.string(), z.unknown()).optional(),
  outputSchema: z.record(z.string(), z.unknown()).optional(),
  risk: z.enum(RISKS).optional(),
  annotations: z
    .looseObject({ readOnlyHint: z.boolean().optional(), destructiveHint: z.boolean().optional() })
    .optional(),
  keywords: words,
  aliases: words,
  examples: words.describe(
    'What people say who look for the tool, in their words; a few help a search more than many keywords.',
  ),
  alwaysLoad: z.boolean().optional(),
  relatedTools: words,
  preconditions: words,
  origin: z.string().optional(),
  server: z.string().optional(),
  scope: scopeSchema.optional(),
  available: z.boolean().optional(),
  instructions: z.string().optional().describe('The whole text of a skill; shown only when the tool is chosen.'),
  metadata: z.record(z.string(), z.unknown()).optional(),
});
export type ToolEntry = z.input<typeof toolEntrySchema>;

export type Scope = 'system' | { readonly user: string };

export interface Tool {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly category?: string;
  readonly toolType: ToolType;
  /** The author's schema, or `{type: "object"}` where the entry had none. */
  readonly inputSchema: JsonSchema;
  readonly outputSchema?: JsonSchema;
  readonly risk: Risk;
  readonly keywords: readonly string[];
  readonly aliases: readonly string[];
  /** What people say who look for it. For searches; no model is shown them. */
  readonly examples: readonly string[];
  /** Handed on with every selection. */
  readonly alwaysLoad: boolean;
  /** Companions: chosen whenever this tool is. */
  readonly relatedTools: readonly string[];
  readonly preconditions: readonly string[];
  /** Where the tool comes from: a file, a server, a folder. */
  readonly origin: string;
  readonly scope: Scope;
  readonly available: boolean;
  readonly instructions?: string;
  readonly metadata: Readonly<Record<string, unknown>>;
}

export interface EntryIssue {
  readonly level: 'warning' | 'debug';
  /** File, server or folder, and the position in it, for example `tools.json[3]`. */
  readonly entry: string;
  readonly name?: string;
  readonly message: string;
  /** For this the entry is no tool of the catalogue. */
  readonly isLeftOut?: true;
}

export type ParsedEntry = { ok: true; tool: Tool; issues: EntryIssue[] } | { ok: false; issues: EntryIssue[] };

/**
 * Unknown -> Tool. A wrong entry is a value with its issues, never an exception: the source decides
 * whether it is left out (the default) or fatal (`--strict`).
 */
export function parseTool(entry: unknown, place: { origin: string; index: number }): ParsedEntry {
  const where = `${place.origin}[${place.index}]`;
  const parsed = parse(toolEntrySchema, entry, { root: 'entry' });
  const name = nameOf(entry);
  const warn = (message: string): EntryIssue => {
    return { level: 'warning', entry: where, ...(name === undefined ? {} : { name }), message };
  };
  const issues = describeSlips(entry).map(warn);
  if (!parsed.ok) return { ok: false, issues: [...parsed.issues.map(warn), ...issues] };
  const { toolType, ...rest } = parsed.value;
  if (toolType === undefined) {
    issues.push({ level: 'debug', entry: where, name: rest.name, message: 'toolType is missing: taken as "skill"' });
  } else if (!isToolType(toolType)) {
    return { ok: false, issues: [warn(`toolType: "${toolType}" is none of ${TOOL_TYPES.join(', ')}`), ...issues] };
  }
  return {
    ok: true,
    tool: buildTool({ ...rest, toolType: toolType ?? 'skill' }, place.origin, unknownKeys(entry)),
    issues,
  };
}

type Entry = Omit<z.output<typeof toolEntrySchema>, 'toolType'> & { toolType: ToolType };

function buildTool(entry: Entry, origin: string, extra: Record<string, unknown>): Tool {
  const { annotations, server, title, category, outputSchema, instructions } = entry;
  return {
    name: entry.name,
    ...(title === undefined ? {} : { title }),
    description: entry.description,
    ...(category === undefined ? {} : { category }),
    toolType: entry.toolType,
    inputSchema: entry.inputSchema ?? { type: 'object' },
    ...(outputSchema === undefined ? {} : { outputSchema }),
    risk: entry.risk ?? riskOf(annotations ?? {}),
    keywords: entry.keywords ?? [],
    aliases: entry.aliases ?? [],
    examples: entry.examples ?? [],
    alwaysLoad: entry.alwaysLoad ?? false,
    relatedTools: entry.relatedTools ?? [],
    preconditions: entry.preconditions ?? [],
    origin: entry.origin ?? server ?? origin,
    scope: entry.scope ?? 'system',
    available: entry.available ?? true,
    ...(instructions === undefined ? {} : { instructions }),
    metadata: { ...extra, ...(annotations === undefined ? {} : { annotations }), ...entry.metadata },
  };
}

const KEYS = Object.keys(toolEntrySchema.shape);
/** Of the Model Context Protocol; two of them say what risk a tool has. */
const HINTS = ['title', 'readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'];

function describeSlips(entry: unknown): string[] {
  const { annotations } = Object(entry);
  const slips = [
    ...findKeySlips(entry, KEYS),
    ...findKeySlips(annotations, HINTS).map(([key, meant]) => [`annotations.${key}`, meant]),
  ];
  return slips.map(([key, meant]) => `${key}: an unknown key, without effect; "${meant}" may be meant`);
}

/** A shorter word with one letter more or changed is another word: `scopes`, `disk`. */
const SHORTEST_SLIP_CHARACTERS = 7;
/** Of the letters. */
const MAX_KEY_SLIPS = 0.2;

/** Keys that are a slip of a known one: what stands under them is without effect. All others are their author's business. */
export function findKeySlips(value: unknown, known: readonly string[]): [key: string, meant: string][] {
  if (!isRecord(value)) return [];
  const missing = new Map(known.filter((name) => !Object.hasOwn(value, name)).map((name) => [toWord(name), name]));
  const long = [...missing.keys()].filter((word) => word.length >= SHORTEST_SLIP_CHARACTERS);
  return Object.keys(value).flatMap((key): [string, string][] => {
    if (known.includes(key)) return [];
    const word = toWord(key);
    const beginsAlike = long.filter((one) => one[0] === word[0]);
    const meant = missing.get(word) ?? missing.get(nearestName(word, beginsAlike, { maxSlips: MAX_KEY_SLIPS }) ?? '');
    return meant === undefined ? [] : [[key, meant]];
  });
}

function isRecord(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** As one word, however its parts are joined: `input_schema`. A leading underscore marks a key of one's own, and stays. */
function toWord(key: string): string {
  return key.replace(/(?<=[a-z\d])[-_ ]+(?=[a-z\d])/giu, '').toLowerCase();
}

function unknownKeys(entry: unknown): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(Object(entry)).filter(([key]) => !Object.hasOwn(toolEntrySchema.shape, key)),
  );
}

function isToolType(value: string): value is ToolType {
  return (TOOL_TYPES as readonly string[]).includes(value);
}

function nameOf(entry: unknown): string | undefined {
  if (typeof entry !== 'object' || entry === null || !('name' in entry)) return undefined;
  return typeof entry.name === 'string' ? entry.name.slice(0, 80) : undefined;
}
