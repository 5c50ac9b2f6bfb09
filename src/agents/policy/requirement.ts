/** Requirements of a call: earlier calls, arguments that must be given, or hours. */
import { z } from 'zod';
import type { Tool } from '../../core/catalog/tool.js';
import { oncePer } from '../../core/kept.js';
import { isTimeZone } from '../../core/request.js';
import type { Digest } from '../approvals/canonical-json.js';
import type { GateCode } from '../contracts.js';
import type { CallRecord } from '../store/store.js';

const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
const DAY_NAMES: readonly string[] = DAYS;
const clock = z.string().regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/u, 'a time of day is written HH:MM, from 00:00 to 23:59');

const calledSchema = z.strictObject({
  called: z.string().min(1).describe('A tool that must have been called with success in this session.'),
  same: z.string().min(1).optional().describe('This argument has the same value in that call or its result.'),
  withinTurns: z.int().min(1).optional().describe('At most this many turns ago; 1: in this turn.'),
});
const argumentSchema = z.strictObject({
  argument: z.string().min(1).describe('An argument that must be given, and neither null nor an empty text.'),
});
const hoursSchema = z.strictObject({
  hours: z.strictObject({
    from: clock,
    to: clock.describe('Exclusive. Before `from`: on the next day.'),
    days: z.array(z.enum(DAYS)).min(1).optional().describe('Days on which the window begins. Default: every day.'),
    timeZone: z.string().refine(isTimeZone, 'not an IANA time zone such as Asia/Shanghai').default('UTC'),
  }),
});

export type CalledRequirement = z.output<typeof calledSchema>;
type Hours = z.output<typeof hoursSchema>['hours'];
export type Requirement =
  | CalledRequirement
  | z.output<typeof argumentSchema>
  | z.output<typeof hoursSchema>
  | { anyOf: Requirement[] };

const simpleSchema = z.union([
  z.string().transform((text, context): Requirement => {
    const parsed = parseRequirement(text);
    if (parsed) return parsed;
    context.addIssue({
      code: 'custom',
      message: 'is written "TOOL called in this session" or "TOOL called for the same ARGUMENT in this session"',
    });
    return z.NEVER;
  }),
  calledSchema,
  argumentSchema,
  hoursSchema,
]);
export const requirementSchema = z.union([
  simpleSchema,
  z.strictObject({ anyOf: z.array(simpleSchema).min(1).describe('One of them is enough.') }),
]);

const SENTENCE = /^([^\s,;]+) (?:was )?called(?: for the same ([^\s,;]+))?(?: in this session)?\.?$/u;

/** Parses the sentence as a requirement; undefined for other prose, which no program can check. */
export function parseRequirement(text: string): CalledRequirement | undefined {
  const [, called, same] = SENTENCE.exec(text.trim()) ?? [];
  if (called === undefined) return undefined;
  return { called, ...(same === undefined ? {} : { same }) };
}

/** Requirements of an earlier call. */
export function calledIn(requirements: readonly Requirement[]): CalledRequirement[] {
  return requirements.flatMap((one) => {
    if ('anyOf' in one) return calledIn(one.anyOf);
    return 'called' in one ? [one] : [];
  });
}

/** Whether the instant is within the window, by the clock of its time zone. */
export function isWithin(hours: Hours, instant: Date): boolean {
  const { from, to, days } = hours;
  const parts = formatOf(hours).formatToParts(instant);
  const part = (type: string) => parts.find((one) => one.type === type)?.value ?? '';
  const time = `${part('hour')}:${part('minute')}`;
  const today = DAY_NAMES.indexOf(part('weekday').toLowerCase());
  const begins = (day: number) => days?.some((one) => one === DAYS[(day + DAYS.length) % DAYS.length]) ?? true;
  if (from < to) return begins(today) && time >= from && time < to;
  return (begins(today) && time >= from) || (begins(today - 1) && time < to);
}

/** Cached for each window, since creating one takes longer than the rest of a decision. */
const formatOf = oncePer(({ timeZone }: Hours) => {
  const time = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
  return new Intl.DateTimeFormat('en-GB', { timeZone, weekday: 'short', ...time });
});

// The first unmet requirement of a call, with what to do about it.

interface CallFacts {
  readonly tool: Tool;
  readonly arguments?: Readonly<Record<string, unknown>>;
  readonly turn: number;
  readonly now: Date;
  /** Successful calls of this session, at least of the tools that requirements name. */
  readonly calls?: readonly CallRecord[];
  /** The digest that made the values of `calls`. */
  readonly digest?: Digest;
}

interface Unmet {
  readonly code: GateCode;
  readonly reason: string;
  readonly next: string;
}

export function findUnmet(requirement: Requirement, facts: CallFacts): Unmet | undefined {
  const { tool } = facts;
  if ('anyOf' in requirement) {
    const unmet = requirement.anyOf.map((one) => findUnmet(one, facts));
    return unmet.includes(undefined) ? undefined : unmet[0];
  }
  if ('argument' in requirement) {
    const { argument } = requirement;
    const value = ownValue(facts, argument);
    if (value !== undefined && value !== null && value !== '') return undefined;
    const next = `Call ${tool.name} again with "${argument}" filled in.`;
    return { code: 'missing_argument', reason: `${tool.name} needs the argument "${argument}".`, next };
  }
  if ('hours' in requirement) {
    const { from, to, days, timeZone } = requirement.hours;
    if (isWithin(requirement.hours, facts.now)) return undefined;
    const when = `from ${from} to ${to} (${timeZone})${days ? ` on ${days.join(', ')}` : ''}`;
    return { code: 'outside_hours', reason: `${tool.name} may be called ${when} only.`, next: `Try again ${when}.` };
  }
  return findUncalled(requirement, facts);
}

function findUncalled({ called, same, withinTurns }: CalledRequirement, facts: CallFacts): Unmet | undefined {
  const { tool, turn } = facts;
  const value = same === undefined ? undefined : ownValue(facts, same);
  const digest = value === undefined ? undefined : facts.digest?.(value);
  const isMet = facts.calls?.some(
    (call) =>
      call.tool === called &&
      (withinTurns === undefined || call.turn > turn - withinTurns) &&
      (same === undefined || (digest !== undefined && digestsOf(call, same).includes(digest))),
  );
  if (isMet) return undefined;
  const when = whenOf(withinTurns);
  const about = same === undefined ? '' : ` for the same "${same}"`;
  return {
    code: 'precondition_unmet',
    reason: `${tool.name} needs that ${called} was called${about} with success ${when}.`,
    next: `Call ${called}${about} first, then ${tool.name} again.`,
  };
}

function whenOf(withinTurns: number | undefined): string {
  if (withinTurns === undefined) return 'in this session';
  return withinTurns === 1 ? 'in this turn' : `within ${withinTurns} turns`;
}

/** Own properties only. */
function ownValue({ arguments: given = {} }: CallFacts, name: string): unknown {
  return Object.hasOwn(given, name) ? given[name] : undefined;
}

function digestsOf({ values }: CallRecord, name: string): readonly string[] {
  return (Object.hasOwn(values, name) ? values[name] : undefined) ?? [];
}
