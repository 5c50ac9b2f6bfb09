/** The call behind `GET /v1/telemetry` and the command line: rates of a stretch of time, in groups. */
import { z } from 'zod';
import { createRateCounter, RATE_GROUPS, type TelemetryReport } from './rates.js';
import { type EventStore, readEvents } from './read-events.js';

export const telemetryQuerySchema = z.strictObject({
  by: z.enum(RATE_GROUPS).optional().describe('One row each. Default: the total alone.'),
  user: z.string().min(1).optional(),
  project: z.string().min(1).optional(),
  since: z.iso.datetime().optional().describe('UTC, inclusive. Default: from the first event.'),
  until: z.iso.datetime().optional().describe('UTC. Default: to the last event.'),
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
