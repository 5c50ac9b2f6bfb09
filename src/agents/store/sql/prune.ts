/** Takes away what is older than an instant, so many rows at a time, each in one short transaction. */
import type { Kysely } from 'kysely';
import type { PrunedKind } from '../store.js';
import type { Tables } from './tables.js';

const MAX_REMOVED = 500;

type Prune = (database: Kysely<Tables>, before: string) => Promise<number>;

const PRUNE: Readonly<Record<PrunedKind, Prune>> = {
  audit: (database, before) => pruneJournal(database, 'audit', before),
  telemetry: (database, before) => pruneJournal(database, 'telemetry', before),

  async approvals(database, before) {
    const removed = await database
      .deleteFrom('approvals')
      .where('id', 'in', (from) =>
        from
          .selectFrom('approvals')
          .select('id')
          .where('requestedAt', '<', before)
          .where('expiresAt', '<', before)
          .limit(MAX_REMOVED),
      )
      .returning('id')
      .execute();
    return removed.length;
  },

  runs: (database, before) =>
    database.transaction().execute(async (transaction) => {
      const removed = await transaction
        .deleteFrom('planRuns')
        .where('id', 'in', (from) =>
          from.selectFrom('planRuns').select('id').where('updatedAt', '<', before).limit(MAX_REMOVED),
        )
        .returning('id')
        .execute();
      const ids = removed.map(({ id }) => id);
      if (ids.length > 0) await transaction.deleteFrom('planSteps').where('run', 'in', ids).execute();
      return ids.length;
    }),
};

/** @returns how many were removed; 0: none is left */
export function pruneSql(database: Kysely<Tables>, kind: PrunedKind, before: string): Promise<number> {
  return PRUNE[kind](database, before);
}

/** From the front, since the order of places is that of time: only as far as it is old, and no whole table is read. */
async function pruneJournal(database: Kysely<Tables>, table: 'audit' | 'telemetry', before: string): Promise<number> {
  const oldest = await database.selectFrom(table).select(['place', 'at']).orderBy('place').limit(MAX_REMOVED).execute();
  const places = oldest.filter(({ at }) => at < before).map(({ place }) => place);
  if (places.length > 0) await database.deleteFrom(table).where('place', 'in', places).execute();
  return places.length;
}
