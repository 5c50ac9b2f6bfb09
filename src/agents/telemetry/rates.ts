/** Rates of how well discovery works, by tool, user, project or time. Nothing is sampled. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { z } from 'zod';
import { GATE_CODES, momentSchema } from '../contracts.js';
import { type TelemetryEvent, telemetryEventSchema } from '../records.js';
import type { TelemetryQuery } from '../store/store.js';
import { createSearchFollower, type SearchOutcome } from './follow-searches.js';

const RATE_GROUPS = ['tool', 'user', 'project', 'day', 'hour'] as const;
type RateGroup = (typeof RATE_GROUPS)[number];

const count = z.int().min(0);
const rate = z.number().min(0).max(1).nullable().describe('Null where there is nothing to divide by.');
const ratesSchema = z.object({
  searches: count,
  used: count.describe('Searches after which a tool was enabled, or one of those found was called.'),
  top1: rate.describe('Share of `used` whose tool was the first match.'),
  top3: rate.describe('Share of `used` whose tool was among the first three.'),
  searchAgain: rate.describe('Share of searches that another search followed, in the same or the next turn.'),
  calls: count.describe('Calls that the gate let through.'),
  errors: count,
  errorRate: rate.describe('Share of `calls` that failed.'),
  refused: count.describe('Calls that the gate did not let through, also for wrong arguments.'),
  enablements: count.describe('Enablements that have ended.'),
  unused: rate.describe('Share of `enablements` without a call.'),
});
export type Rates = z.infer<typeof ratesSchema>;

export const telemetryReportSchema = z.object({
  total: ratesSchema,
  rows: z.array(ratesSchema.extend({ key: z.string() })).describe('Sorted by key; empty without a group.'),
});
export type TelemetryReport = z.infer<typeof telemetryReportSchema>;

type Counts = Record<
  'searches' | 'used' | 'first' | 'firstThree' | 'again' | 'calls' | 'errors' | 'refused' | 'ended' | 'unused',
  number
>;

/** Codes of calls that never reached the tool; invalid arguments count, wherever they are detected. */
const REFUSALS: ReadonlySet<string> = new Set([...GATE_CODES, 'invalid_arguments']);

/** Whether the call was refused: the tool never ran, so it is no error of the tool. */
export function isRefused(event: TelemetryEvent & { type: 'call' }): boolean {
  return !event.ok && event.code !== undefined && REFUSALS.has(event.code);
}

/** Counts events, in the order of each session. */
function createRateCounter(group?: RateGroup) {
  const total = noCounts();
  const byKey = new Map<string, Counts>();
  const called = new Set<string>();

  function add(event: TelemetryEvent, fields: readonly (keyof Counts)[], tool?: string): void {
    const key = group && keyOf(event, group, tool);
    const row = key === undefined ? undefined : (byKey.get(key) ?? noCounts());
    if (key !== undefined && row) byKey.set(key, row);
    for (const field of fields) {
      total[field] += 1;
      if (row) row[field] += 1;
    }
  }

  const follower = createSearchFollower((search, outcome) =>
    add(search, searchFields(outcome), outcome.kind === 'used' ? outcome.tool : undefined),
  );

  return {
    observe(event: TelemetryEvent): void {
      follower.observe(event);
      if (event.type === 'search') return;
      const place = `${event.session}\n${event.tool}`;
      if (event.type === 'enable') called.delete(place);
      if (event.type === 'call' && isRefused(event)) add(event, ['refused'], event.tool);
      else if (event.type === 'call') {
        called.add(place);
        add(event, event.ok ? ['calls'] : ['calls', 'errors'], event.tool);
      }
      const wasCalled = event.type === 'expire' ? event.calls > 0 : called.has(place);
      if (event.type === 'expire' || event.type === 'disable') {
        add(event, wasCalled ? ['ended'] : ['ended', 'unused'], event.tool);
        called.delete(place);
      }
    },
    /** Ends the count: searches that are still open count as abandoned. */
    report(): TelemetryReport {
      follower.end();
      const rows = [...byKey].sort(([one], [other]) => (one < other ? -1 : 1));
      return { total: toRates(total), rows: rows.map(([key, counts]) => ({ key, ...toRates(counts) })) };
    },
  };
}

function searchFields(outcome: SearchOutcome): (keyof Counts)[] {
  if (outcome.kind === 'again') return ['searches', 'again'];
  if (outcome.kind === 'left') return ['searches'];
  const isFirst = outcome.place === 0;
  const isAmongThree = outcome.place >= 0 && outcome.place < 3;
  return ['searches', 'used', ...(isFirst ? ['first' as const] : []), ...(isAmongThree ? ['firstThree' as const] : [])];
}

/** A search belongs to the tool that was used after it, if any. */
function keyOf(event: TelemetryEvent, group: RateGroup, tool: string | undefined): string | undefined {
  if (group === 'tool') return tool;
  if (group === 'day') return event.at.slice(0, 'YYYY-MM-DD'.length);
  if (group === 'hour') return event.at.slice(0, 'YYYY-MM-DDTHH'.length);
  return event[group];
}

function noCounts(): Counts {
  const zero = { searches: 0, used: 0, first: 0, firstThree: 0, again: 0 };
  return { ...zero, calls: 0, errors: 0, refused: 0, ended: 0, unused: 0 };
}

function toRates(counts: Counts): Rates {
  const share = (part: number, whole: number) => (whole === 0 ? null : Math.round((part / whole) * 10_000) / 10_000);
  return {
    searches: counts.searches,
    used: counts.used,
    top1: share(counts.first, counts.used),
    top3: share(counts.firstThree, counts.used),
    searchAgain: share(counts.again, counts.searches),
    calls: counts.calls,
    errors: counts.errors,
    errorRate: share(counts.errors, counts.calls),
    refused: counts.refused,
    enablements: counts.ended,
    unused: share(counts.unused, counts.ended),
  };
}

// Reads the stored events, oldest first, one page at a time, so that long reports need little memory.

/** The part of the store that is read here; see `Journal`. */
export interface EventStore {
  telemetry(query: TelemetryQuery): Promise<readonly { readonly place: number; readonly content: unknown }[]>;
}

const PAGE = 250;

/** Skips events of an older form, which can no longer be parsed. */
export async function* readEvents(
  store: EventStore,
  query: Omit<TelemetryQuery, 'after' | 'limit'> = {},
): AsyncGenerator<TelemetryEvent, void, void> {
  for (let after: number | undefined; ; ) {
    const page = await store.telemetry({ ...query, after, limit: PAGE });
    for (const { content } of page) {
      const parsed = telemetryEventSchema.safeParse(content);
      if (parsed.success) yield parsed.data;
    }
    const last = page.at(-1);
    if (!last || page.length < PAGE) return;
    after = last.place;
    // SQLite answers at once: without this, no other request would come in between.
    await nextTurn();
  }
}

// Rates of a period, in groups, for `GET /v1/telemetry` and the command line.

export const telemetryQuerySchema = z.strictObject({
  by: z.enum(RATE_GROUPS).optional().describe('Adds a row per value. Default: only the total.'),
  user: z.string().min(1).optional(),
  project: z.string().min(1).optional(),
  since: momentSchema.optional().describe('UTC, inclusive. Default: from the first event.'),
  until: momentSchema.optional().describe('UTC. Default: to the last event.'),
});
export type TelemetryReportQuery = z.infer<typeof telemetryQuerySchema>;

/**
 * How well search works: rates by tool, user, project, day or hour.
 * @param query parsed by `telemetryQuerySchema`. @throws WinnowError `store_failed`
 * @example
 * const report = await reportTelemetry(store.journal, { by: 'tool' });
 */
export async function reportTelemetry(store: EventStore, query: TelemetryReportQuery = {}): Promise<TelemetryReport> {
  const { by, ...which } = query;
  const counter = createRateCounter(by);
  for await (const event of readEvents(store, which)) counter.observe(event);
  return counter.report();
}
