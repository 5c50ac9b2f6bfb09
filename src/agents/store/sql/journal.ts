/** Append-only records: the audit trail, telemetry and successful calls. */
import type { Kysely } from 'kysely';
import type { AuditQuery, AuditRecord, CallRecord, TelemetryQuery, TelemetryRecord } from '../store.js';
import { insertAudit, matching, readInTurns, type Tables, toRecord, toRow } from './tables.js';

const MAX_CALLS_A_TOOL = 10_000;

export interface Entries {
  audit?: readonly AuditRecord[];
  telemetry?: readonly TelemetryRecord[];
  calls?: readonly CallRecord[];
}

export type Journal = ReturnType<typeof createSqlJournal>;

export function createSqlJournal(database: Kysely<Tables>) {
  return {
    /** Atomic. */
    async append({ audit = [], telemetry = [], calls = [] }: Entries): Promise<void> {
      if (audit.length + telemetry.length + calls.length === 0) return;
      await database.transaction().execute(async (transaction) => {
        await insertAudit(transaction, audit);
        if (telemetry.length > 0) await transaction.insertInto('telemetry').values(telemetry.map(toRow)).execute();
        for (const row of calls.map(toRow)) {
          const { session, tool, values } = row;
          await transaction
            .deleteFrom('calls')
            .where(matching({ equal: { session, tool, values } }))
            .execute();
          await transaction.insertInto('calls').values(row).execute();
        }
      });
    },

    /** Newest first. Others get a turn after each entry. */
    async audit({ session, user, tool, event, outcome, since, limit }: AuditQuery) {
      const found = await database
        .selectFrom('audit')
        .select('place')
        .where(matching({ equal: { session, user, tool, event, outcome }, from: { at: since } }))
        .orderBy('place', 'desc')
        .limit(limit)
        .execute();
      const read = (some: readonly number[]) =>
        database.selectFrom('audit').selectAll().where('place', 'in', some).orderBy('place', 'desc').execute();
      const entries: (AuditRecord & { id: string })[] = [];
      const places = found.map(({ place }) => place);
      for await (const { place, ...row } of readInTurns(places, read))
        entries.push({ id: String(place), ...toRecord<AuditRecord>(row) });
      return entries;
    },

    /** Oldest first, with the place to continue from. */
    async telemetry({ type, session, user, project, tool, since, until, after = 0, limit }: TelemetryQuery) {
      const rows = await database
        .selectFrom('telemetry')
        .selectAll()
        .where(matching({ equal: { type, session, user, project, tool }, from: { at: since }, before: { at: until } }))
        .where('place', '>', after)
        .orderBy('place')
        .limit(limit)
        .execute();
      return rows.map((row) => toRecord<TelemetryRecord & { place: number }>(row));
    },

    /** Newest first, at most 10,000 a tool. */
    async calls(session: string, tools: readonly string[]): Promise<CallRecord[]> {
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
      return ofTools.flat().map((row) => toRecord<CallRecord>(row));
    },
  };
}
