/** Records with names: documents, one collection per kind, and learnt weights. */
import type { Kysely } from 'kysely';
import type { DocumentRecord, Documents } from '../documents.js';
import type { WeightQuery, WeightRecord, Weights } from '../store.js';
import { matching, type Tables, toRecord, toRow } from './tables.js';

export function createSqlDocuments(database: Kysely<Tables>, collection: string): Documents {
  const select = (owner?: string, name?: string) =>
    database
      .selectFrom('documents')
      .select(['owner', 'name', 'content', 'updatedAt'])
      .where(matching({ equal: { collection, owner, name } }));
  const insert = (document: DocumentRecord) =>
    database.insertInto('documents').values({ collection, ...toRow(document) });
  return {
    async put(document) {
      const { content, updatedAt } = toRow(document);
      await insert(document)
        .onConflict((conflict) => conflict.columns(['collection', 'owner', 'name']).doUpdateSet({ content, updatedAt }))
        .execute();
    },

    async replace(document, before) {
      const { content, updatedAt } = toRow(document);
      const written = await (before
        ? database
            .updateTable('documents')
            .set({ content, updatedAt })
            .where(matching({ equal: { collection, ...toRow(before) } }))
            .returning('name')
        : insert(document)
            .onConflict((conflict) => conflict.columns(['collection', 'owner', 'name']).doNothing())
            .returning('name')
      ).execute();
      return written.length > 0;
    },

    async get(owner, name) {
      const row = await select(owner, name).executeTakeFirst();
      return row && toRecord<DocumentRecord>(row);
    },

    async list(owner) {
      const rows = await select(owner).orderBy('owner').orderBy('name').execute();
      return rows.map((row) => toRecord<DocumentRecord>(row));
    },

    async remove(owner, name) {
      const removed = await database
        .deleteFrom('documents')
        .where(matching({ equal: { collection, owner, name } }))
        .returning('name')
        .execute();
      return removed.length > 0;
    },
  };
}

export function createSqlWeights(database: Kysely<Tables>): Weights {
  return {
    async put(weights) {
      await database.transaction().execute(async (transaction) => {
        for (const row of weights.map(toRow))
          await transaction
            .insertInto('weights')
            .values(row)
            .onConflict((conflict) => conflict.columns(['level', 'subject', 'kind', 'key']).doUpdateSet(row))
            .execute();
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
      return rows.map((row) => toRecord<WeightRecord>(row));
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

/** Picks the columns of the table; callers' objects may hold more. */
function columnsOf({ level, subject, kind, key, state }: WeightQuery): Record<string, string | undefined> {
  return { level, subject, kind, key, state };
}
