/** Named JSON values of an owner, one collection for each kind. */
import type { Kysely } from 'kysely';
import type { DocumentRecord, Documents } from '../store.js';
import { parseJson, toJson } from './rows.js';
import type { Tables } from './tables.js';

export function createSqlDocuments(database: Kysely<Tables>, collection: string): Documents {
  const select = () =>
    database
      .selectFrom('documents')
      .select(['owner', 'name', 'content', 'updatedAt'])
      .where('collection', '=', collection);
  return {
    async put({ owner, name, content, updatedAt }) {
      const change = { content: toJson(content), updatedAt };
      await database
        .insertInto('documents')
        .values({ collection, owner, name, ...change })
        .onConflict((conflict) => conflict.columns(['collection', 'owner', 'name']).doUpdateSet(change))
        .execute();
    },

    async add({ owner, name, content, updatedAt }) {
      await database
        .insertInto('documents')
        .values({ collection, owner, name, content: toJson(content), updatedAt })
        .onConflict((conflict) => conflict.columns(['collection', 'owner', 'name']).doNothing())
        .execute();
    },

    async get(owner, name) {
      const row = await select().where('owner', '=', owner).where('name', '=', name).executeTakeFirst();
      return row && toDocument(row);
    },

    async list(owner) {
      const all = select().orderBy('owner').orderBy('name');
      const rows = await (owner === undefined ? all : all.where('owner', '=', owner)).execute();
      return rows.map(toDocument);
    },

    async remove(owner, name) {
      const removed = await database
        .deleteFrom('documents')
        .where('collection', '=', collection)
        .where('owner', '=', owner)
        .where('name', '=', name)
        .returning('name')
        .execute();
      return removed.length > 0;
    },
  };
}

function toDocument(row: { owner: string; name: string; content: string; updatedAt: string }): DocumentRecord {
  return { ...row, content: parseJson(row.content) };
}
