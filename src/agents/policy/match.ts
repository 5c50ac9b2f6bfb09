/** Which tools, callers and arguments a part of the policy matches. All given fields must hold; none matches all. */
import { z } from 'zod';
import {
  createSafePattern,
  createStepBudget,
  isPattern,
  NO_PATTERN,
  type StepBudget,
} from '../../core/catalog/schema/safe-pattern.js';
import { isVouchedFor } from '../../core/catalog/sources/source.js';
import { type JsonSchema, RISKS, TOOL_TYPES, type Tool } from '../../core/catalog/tool.js';
import { oncePer } from '../../core/kept.js';

const list = <Item extends z.ZodType>(item: Item) =>
  z.union([item.transform((one) => [one]), z.array(item).min(1, 'name at least one, or leave it out')]).optional();
const globs = list(z.string().min(1));

const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()]);
const argumentConditionSchema = z.union([
  scalar.transform((value) => ({ anyOf: [value] })),
  z
    .array(scalar)
    .min(1)
    .transform((anyOf) => ({ anyOf })),
  z.strictObject({
    pattern: z
      .string()
      .refine(isPattern, NO_PATTERN)
      .describe('Regular expression of RE2 for texts; anchor it with ^ and $ to match the whole.'),
  }),
  z.strictObject({ present: z.boolean() }),
]);
type ArgumentCondition = z.output<typeof argumentConditionSchema>;

export const matchSchema = z.strictObject({
  tool: globs.describe(
    "Names; * stands for any characters, ? for one. Restrictions also match the name that a tool's own server gives it.",
  ),
  category: globs.describe('To allow a tool of a document of the network, or to lower its risk, name its origin, too.'),
  origin: globs.describe('File, server or folder that the tool comes from.'),
  toolType: list(z.enum(TOOL_TYPES)),
  risk: list(z.enum(RISKS)).describe('The risk of the call with its arguments.'),
  user: list(z.string().min(1)).describe('Exact names.'),
  role: list(z.string().min(1)).describe('The caller has at least one of them.'),
  arguments: z
    .record(z.string().min(1), argumentConditionSchema)
    .optional()
    .describe(
      'Argument -> a value, one of several, {pattern} or {present}. Matches calls only. Restrictions match a list by its items, too.',
    ),
});
export type Match = z.output<typeof matchSchema>;

export interface MatchCaller {
  readonly user?: string | undefined;
  readonly roles: readonly string[];
}

/**
 * The part of a match that depends on the tool alone, evaluated once per tool. Servers choose their own names for tools, and
 * documents of the network the category. These match only where they can restrict (`byServersWord`), or where the match
 * names their origin: a stranger could pick a name or category that is allowed.
 */
export function compileToolMatch(match: Match, { byServersWord = false } = {}): (tool: Tool) => boolean {
  const name = compileGlobs(match.tool);
  const category = compileGlobs(match.category);
  const origin = compileGlobs(match.origin);
  const isCategoryOf = (tool: Tool) => byServersWord || match.origin !== undefined || isVouchedFor(tool);
  return (tool) =>
    (name(tool.name) || (byServersWord && name(serversName(tool) ?? tool.name))) &&
    category((isCategoryOf(tool) && tool.category) || '') &&
    origin(tool.origin) &&
    (match.toolType?.includes(tool.toolType) ?? true);
}

/** The name that its MCP server gives it. */
export function serversName(tool: Tool): string | undefined {
  const name = Object(tool.metadata.mcp).tool;
  return typeof name === 'string' ? name : undefined;
}

export function matchesCaller({ user, role }: Match, caller: MatchCaller): boolean {
  const isUser = user === undefined || (caller.user !== undefined && user.includes(caller.user));
  return isUser && (role?.some((one) => caller.roles.includes(one)) ?? true);
}

/** Whether the arguments match, or the first argument whose pattern takes too long. */
type ArgumentsMatch = boolean | { readonly undecided: string };

/**
 * A list matches where one of its items does, which only restricts: what opens has to ask `matchesWhole`, too. Only own
 * properties count, never inherited ones.
 */
export function matchesArguments(
  match: Match,
  given: Readonly<Record<string, unknown>>,
  budget: StepBudget = createStepBudget('operator'),
): ArgumentsMatch {
  let undecided: string | undefined;
  for (const [name, condition] of Object.entries(match.arguments ?? {})) {
    const isMet = meets(condition, ownValue(given, name), budget);
    if (isMet === false) return false;
    if (isMet === undefined) undecided ??= name;
  }
  return undecided === undefined || { undecided };
}

/** Whether arguments that match do so as a whole, and not by items of a list: only then may the part open or lower. */
export function matchesWhole(match: Match, given: Readonly<Record<string, unknown>> = {}): boolean {
  const conditions = Object.entries(match.arguments ?? {});
  return conditions.every(([name, condition]) => 'present' in condition || !Array.isArray(ownValue(given, name)));
}

function ownValue(given: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(given, name) ? given[name] : undefined;
}

function meets(condition: ArgumentCondition, value: unknown, budget: StepBudget): boolean | undefined {
  if ('present' in condition) return (value !== undefined) === condition.present;
  if (Array.isArray(value)) return meetsByItem(condition, value, budget);
  if ('anyOf' in condition) return condition.anyOf.some((one) => one === value);
  return typeof value === 'string' && patternOf(condition).matches(value, budget);
}

function meetsByItem(condition: ArgumentCondition, items: readonly unknown[], budget: StepBudget): boolean | undefined {
  let isMet: boolean | undefined = false;
  for (const item of items) {
    const one = meets(condition, item, budget);
    if (one) return true;
    if (one === undefined) isMet = undefined;
  }
  return isMet;
}

/** The values that can meet a condition, as a schema. Undefined: any. */
export function valuesMeeting(condition: ArgumentCondition, { byItems = false } = {}): JsonSchema | undefined {
  if ('present' in condition) return undefined;
  const one = 'pattern' in condition ? { type: 'string' } : { enum: condition.anyOf };
  return byItems ? { anyOf: [one, { type: 'array', items: { $ref: '#' } }] } : one;
}

type PatternCondition = Extract<ArgumentCondition, { pattern: string }>;

/** Compiled once for each condition of a policy. */
const patternOf = oncePer(({ pattern }: PatternCondition) => createSafePattern(pattern));

/** `*` for any characters, `?` for one; all other characters stand for themselves. */
export function compileGlobs(globs: readonly string[] | undefined): (text: string) => boolean {
  if (globs === undefined) return () => true;
  const exact = new Set(globs.filter((glob) => !/[*?]/u.test(glob)));
  const patterns = globs.filter((glob) => !exact.has(glob)).map(toPattern);
  return (text) => exact.has(text) || patterns.some((pattern) => pattern.matches(text) === true);
}

function toPattern(glob: string) {
  const escaped = glob.replaceAll(/[.+^${}()|[\]\\/]/gu, '\\$&');
  return createSafePattern(`^${escaped.replaceAll(/\*+/gu, '[\\s\\S]*').replaceAll('?', '[\\s\\S]')}$`);
}
