/** What is only ever added to: the audit trail, telemetry and the calls that succeeded. */
import type { Kysely } from 'kysely';
import type { AuditRecord, CallRecord, Journal, TelemetryRecord } from '../store.js';
import { matching } from './conditions.js';
import { orNull, parseJson, parseSources, present, toJson } from './rows.js';
import type { AuditTable, Tables, TelemetryTable } from './tables.js';

const MAX_CALLS_A_TOOL = 200;

export function createSqlJournal(database: Kysely<Tables>): Journal {
  return {
    async append({ audit = [], telemetry = [], calls = [] }) {
      if (audit.length + telemetry.length + calls.length === 0) return;
      await database.transaction().execute(async (transaction) => {
        if (audit.length > 0) await transaction.insertInto('audit').values(audit.map(toAuditRow)).execute();
        if (telemetry.length > 0)
          await transaction.insertInto('telemetry').values(telemetry.map(toTelemetryRow)).execute();
        if (calls.length > 0)
          await transaction
            .insertInto('calls')
            .values(calls.map((call) => ({ ...call, values: toJson(call.values) })))
            .execute();
      });
    },

    async audit({ session, user, tool, event, outcome, since, limit }) {
      const rows = await database
        .selectFrom('audit')
        .selectAll()
        .where(matching({ equal: { session, user, tool, event, outcome }, from: { at: since } }))
        .orderBy('place', 'desc')
        .limit(limit)
        .execute();
      return rows.map(({ place, sources, ...row }) => ({
        id: String(place),
        ...present(row),
        ...parseSources(sources),
      }));
    },

    async telemetry({ type, session, user, project, tool, since, until, after = 0, limit }) {
      const rows = await database
        .selectFrom('telemetry')
        .selectAll()
        .where(matching({ equal: { type, session, user, project, tool }, from: { at: since }, before: { at: until } }))
        .where('place', '>', after)
        .orderBy('place')
        .limit(limit)
        .execute();
      return rows.map((row) => ({ ...present(row), content: parseJson(row.content) }));
    },

    async calls(session, tools) {
      const ofTools = await Promise.all(
        tools.map((tool) =>
          database
            .selectFrom('calls')
            .select(['session', 'tool', 'turn', 'at', 'values'])
            .where('session', '=', session)
            .where('tool', '=', tool)
            .orderBy('place', 'desc')
            .limit(MAX_CALLS_A_TOOL)
            .execute(),
        ),
      );
      return ofTools.flat().map((row): CallRecord => ({ ...row, values: parseValues(row.values) }));
    },
  };
}

function toAuditRow(entry: AuditRecord): Omit<AuditTable, 'place'> {
  const { at, event, outcome } = entry;
  return {
    at,
    event,
    outcome,
    session: orNull(entry.session),
    user: orNull(entry.user),
    turn: orNull(entry.turn),
    tool: orNull(entry.tool),
    code: orNull(entry.code),
    reason: orNull(entry.reason),
    argumentsHash: orNull(entry.argumentsHash),
    sources: entry.sources ? toJson(entry.sources) : null,
    approval: orNull(entry.approval),
    policyVersion: orNull(entry.policyVersion),
  };
}

function toTelemetryRow(event: TelemetryRecord): Omit<TelemetryTable, 'place'> {
  const { at, type, session } = event;
  return {
    at,
    type,
    session,
    user: orNull(event.user),
    project: orNull(event.project),
    tool: orNull(event.tool),
    content: toJson(event.content),
  };
}

function parseValues(text: string): Record<string, readonly string[]> {
  const value = parseJson(text);
  const entries = Object.entries(typeof value === 'object' && value !== null ? value : {});
  return Object.fromEntries(
    entries.map(([name, digests]) => [
      name,
      Array.isArray(digests) ? digests.filter((digest) => typeof digest === 'string') : [],
    ]),
  );
}
