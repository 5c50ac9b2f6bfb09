/** Limits of calls: time, size, concurrency. Plain data, so a file can hold them; defaults are resolved once. */
import { z } from 'zod';
import { withoutUndefined } from '../../core/catalog/schema/json.js';
import type { Tool } from '../../core/catalog/tool.js';
import { nearHint } from '../../core/nearest-name.js';
import { parseOptions } from '../../core/parse.js';

/** The longest time-out. Longer work belongs in a background job that can be polled. */
const MAX_TIMEOUT_MS = 600_000;

const rateSchema = z.strictObject({
  calls: z.int().min(1).describe('Calls per period, which begins with the first.'),
  seconds: z.int().min(1).max(86_400).describe('Length of the period.'),
});
export type Rate = z.infer<typeof rateSchema>;

const toolLimits = {
  timeoutMs: z
    .int()
    .min(1)
    .max(MAX_TIMEOUT_MS)
    .describe('Milliseconds for the tool itself. Default: 3,000 for functions, 60,000 for MCP and HTTP tools.'),
  totalTimeoutMs: z
    .int()
    .min(1)
    .max(24 * MAX_TIMEOUT_MS)
    .describe('Each progress report gives a call timeoutMs again, up to this total. Default: 600,000.'),
  maxOutputBytes: z
    .int()
    .min(100)
    .max(64 * 1024 * 1024)
    .describe('Limit of the result as JSON; a larger one is shortened, with a note. Default: 262,144.'),
  maxMediaBytes: z
    .int()
    .min(0)
    .max(64 * 1024 * 1024)
    .describe('Limit of images, audio and files of an MCP tool, as base64; the rest is left out. Default: 5,242,880.'),
  outputCheck: z
    .enum(['warn', 'refuse', 'off'])
    .describe('A result that does not fit the outputSchema gets a note, or is a failure. Default: warn.'),
  mutexGroup: z.string().min(1).max(256).describe('Calls of one group run one after another. Default: none.'),
  rate: rateSchema.describe('Calls of one tool by one user. Default: 600 in 60 seconds.'),
  sharedRate: rateSchema.describe('Calls of one tool by all users. Default: no limit.'),
  idempotent: z
    .boolean()
    .describe('Calling twice does no more than calling once, so it may be repeated. Default: false.'),
};

const allLimitsSchema = z.strictObject(toolLimits);
const toolLimitsSchema = allLimitsSchema.partial();

export const sandboxLimitsSchema = toolLimitsSchema.extend({
  concurrency: z.int().min(1).max(1_000).default(8).describe('Calls that run at once.'),
  maxQueued: z.int().min(0).max(100_000).default(256).describe('Calls that wait; one more is refused.'),
  userShare: z
    .number()
    .positive()
    .max(1)
    .default(0.5)
    .describe('Share of `concurrency` and of `maxQueued` for one user; at least one place.'),
  maxWaitMs: z.int().min(1).default(30_000).describe('Longest wait for a place to run, in milliseconds.'),
  stopGraceMs: z
    .int()
    .min(0)
    .default(5_000)
    .describe('How long a stopped call that does not end keeps its place and its mutex, in milliseconds.'),
  userRate: rateSchema.optional().describe('Calls of one user, over all tools. Default: no limit.'),
  tools: z.record(z.string(), toolLimitsSchema).default({}).describe('Overrides by the name of the tool.'),
});
export type SandboxLimitsInput = z.input<typeof sandboxLimitsSchema>;

type AllLimits = z.output<typeof allLimitsSchema>;
type Optional = 'mutexGroup' | 'sharedRate';
export type ToolLimits = Readonly<Omit<AllLimits, Optional> & Partial<Pick<AllLimits, Optional>>>;

type OfAll = 'concurrency' | 'maxQueued' | 'userShare' | 'maxWaitMs' | 'stopGraceMs' | 'userRate';
export interface SandboxLimits extends Readonly<Pick<z.output<typeof sandboxLimitsSchema>, OfAll>> {
  /** Names of tools with limits of their own. */
  readonly named: readonly string[];
  /** @param ownTimeoutMs the executor's own time-out, used without a configured one. Default: that of functions */
  of(tool: Tool, ownTimeoutMs?: number): ToolLimits;
}

/** Milliseconds; short, since functions run locally. */
const FUNCTION_TIMEOUT_MS = 3_000;
export const REMOTE_TIMEOUT_MS = 60_000;

const DEFAULTS: Omit<ToolLimits, 'timeoutMs'> = {
  totalTimeoutMs: 600_000,
  maxOutputBytes: 262_144,
  maxMediaBytes: 5_242_880,
  outputCheck: 'warn',
  rate: { calls: 600, seconds: 60 },
  idempotent: false,
};

type Base = typeof DEFAULTS & { timeoutMs?: number };

/** @throws WinnowError `invalid_option` naming each limit that is wrong. */
export function resolveLimits(input: SandboxLimitsInput = {}): SandboxLimits {
  const limits = parseOptions(sandboxLimitsSchema, input, 'sandbox');
  const { concurrency, maxQueued, userShare, maxWaitMs, stopGraceMs, userRate, tools, ...common } = limits;
  const base: Base = { ...DEFAULTS, ...withoutUndefined(common) };
  const overrides = new Map<string, Base>(
    Object.entries(tools).map(([name, limits]) => [name, { ...base, ...withoutUndefined(limits) }]),
  );
  const named = [...overrides.keys()];
  const of = (tool: Tool, ownTimeoutMs = FUNCTION_TIMEOUT_MS) => ({
    timeoutMs: ownTimeoutMs,
    ...(overrides.get(tool.name) ?? base),
  });
  return { concurrency, maxQueued, userShare, maxWaitMs, stopGraceMs, userRate, named, of };
}

// Reports limits that have no effect on a catalogue: a misspelt name leaves a tool with the general limits.

/** Suggests only names of system tools, so that the names of users' own tools stay private. */
export function checkLimits({ named }: Pick<SandboxLimits, 'named'>, tools: readonly Tool[]): string[] {
  const known = new Set(tools.map(({ name }) => name));
  const suggested = tools.filter(({ scope }) => scope === 'system').map(({ name }) => name);
  return named
    .filter((name) => !known.has(name))
    .map((name) => `sandbox.tools: there is no tool "${name}"${nearHint(name, suggested)}`);
}
