/** What was learnt from use; the store knows nothing of its meaning. */
import type { Kysely } from 'kysely';
import type { WeightQuery, Weights } from '../store.js';
import { matching } from './conditions.js';
import { parseJson, toJson } from './rows.js';
import type { Tables } from './tables.js';

export function createSqlWeights(database: Kysely<Tables>): Weights {
  return {
    async put(weights) {
      if (weights.length === 0) return;
      await database.transaction().execute(async (transaction) => {
        for (const { level, subject, kind, key, details, ...rest } of weights) {
          const change = { ...rest, details: toJson(details) };
          await transaction
            .insertInto('weights')
            .values({ level, subject, kind, key, ...change })
            .onConflict((conflict) => conflict.columns(['level', 'subject', 'kind', 'key']).doUpdateSet(change))
            .execute();
        }
      });
    },

    async list(query = {}) {
      const rows = await database
        .selectFrom('weights')
        .selectAll()
        .where(matching({ equal: columnsOf(query) }))
        .orderBy('level')
        .orderBy('subject')
        .orderBy('kind')
        .orderBy('key')
        .execute();
      return rows.map((row) => ({ ...row, details: parseJson(row.details) }));
    },

    async remove(query) {
      const removed = await database
        .deleteFrom('weights')
        .where(matching({ equal: columnsOf(query) }))
        .returning('key')
        .execute();
      return removed.length;
    },
  };
}

/** Only columns of the table, whatever else a caller's object holds. */
function columnsOf({ level, subject, kind, key, state }: WeightQuery): Record<string, string | undefined> {
  return { level, subject, kind, key, state };
}
