/** What must have happened before a call, must be given with it, or at which hours it may be. */
import { z } from 'zod';
import { isTimeZone } from '../../core/request.js';

const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
const DAY_NAMES: readonly string[] = DAYS;
const clock = z.string().regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/u, 'a time of day is written HH:MM, from 00:00 to 23:59');

const calledSchema = z.strictObject({
  called: z.string().min(1).describe('A tool that must have been called with success in this session.'),
  same: z.string().min(1).optional().describe('With this argument, or with it in its result, as this call has it.'),
  withinTurns: z.int().min(1).optional().describe('Not longer ago than so many turns; 1: in this turn.'),
});
const argumentSchema = z.strictObject({
  argument: z.string().min(1).describe('An argument that must be there, not null and not an empty text.'),
});
const hoursSchema = z.strictObject({
  hours: z.strictObject({
    from: clock,
    to: clock.describe('Not included. Before `from`: of the next day.'),
    days: z.array(z.enum(DAYS)).min(1).optional().describe('On which the window begins. Default: every day.'),
    timeZone: z.string().refine(isTimeZone, 'not an IANA time zone such as Asia/Shanghai').default('UTC'),
  }),
});

export type CalledRequirement = z.output<typeof calledSchema>;
export type Hours = z.output<typeof hoursSchema>['hours'];
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

/** The sentence as a requirement; undefined for any other prose, which people can read but no program can check. */
export function parseRequirement(text: string): CalledRequirement | undefined {
  const [, called, same] = SENTENCE.exec(text.trim()) ?? [];
  if (called === undefined) return undefined;
  return { called, ...(same === undefined ? {} : { same }) };
}

/** The tools whose calls must be known to judge. */
export function calledTools(requirements: readonly Requirement[]): string[] {
  return requirements.flatMap((one) => {
    if ('anyOf' in one) return calledTools(one.anyOf);
    return 'called' in one ? [one.called] : [];
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

const formats = new WeakMap<Hours, Intl.DateTimeFormat>();

/** Made once for each window: making one takes longer than all the rest of a decision. */
function formatOf(hours: Hours): Intl.DateTimeFormat {
  const format =
    formats.get(hours) ??
    new Intl.DateTimeFormat('en-GB', {
      timeZone: hours.timeZone,
      weekday: 'short',
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
    });
  formats.set(hours, format);
  return format;
}
