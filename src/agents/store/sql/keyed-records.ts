/** Records with names: documents, one collection per kind, learnt weights, and answers under idempotency keys. */
import { type Kysely, sql, type Transaction } from 'kysely';
import type { AnswerRecord, AuditRecord, DocumentRecord, WeightQuery, WeightRecord } from '../store.js';
import { insertAudit, matching, type Tables, toJson, toRecord, toRow, type WaitForUser } from './tables.js';

export type Documents = ReturnType<typeof createSqlDocuments>;

/** Each change can bring its audit entry, which is written in the same transaction, and only where something changed. */
export function createSqlDocuments(database: Kysely<Tables>, collection: string) {
  const select = (owner?: string, name?: string) =>
    database
      .selectFrom('documents')
      .select(['owner', 'name', 'content', 'updatedAt'])
      .where(matching({ equal: { collection, owner, name } }));
  const change = (entry: AuditRecord | undefined, work: (on: Transaction<Tables>) => Promise<readonly unknown[]>) =>
    database.transaction().execute(async (transaction) => {
      const isChanged = (await work(transaction)).length > 0;
      if (isChanged && entry) await insertAudit(transaction, [entry]);
      return isChanged;
    });
  return {
    async put(document: DocumentRecord, entry?: AuditRecord): Promise<void> {
      const { content, updatedAt } = toRow(document);
      await change(entry, (on) =>
        on
          .insertInto('documents')
          .values({ collection, ...toRow(document) })
          .onConflict((conflict) =>
            conflict.columns(['collection', 'owner', 'name']).doUpdateSet({ content, updatedAt }),
          )
          .returning('name')
          .execute(),
      );
    },

    /** Compare and set: false where the stored one is not `before`. `before` undefined: none may exist. */
    replace(document: DocumentRecord, before: DocumentRecord | undefined, entry?: AuditRecord): Promise<boolean> {
      const { content, updatedAt } = toRow(document);
      return change(entry, (on) =>
        (before
          ? on
              .updateTable('documents')
              .set({ content, updatedAt })
              .where(matching({ equal: { collection, ...toRow(before) } }))
              .returning('name')
          : on
              .insertInto('documents')
              .values({ collection, ...toRow(document) })
              .onConflict((conflict) => conflict.columns(['collection', 'owner', 'name']).doNothing())
              .returning('name')
        ).execute(),
      );
    },

    async get(owner: string, name: string): Promise<DocumentRecord | undefined> {
      const row = await select(owner, name).executeTakeFirst();
      return row && toRecord<DocumentRecord>(row);
    },

    /** Sorted by owner and name. Default: of all owners. */
    async list(owner?: string): Promise<DocumentRecord[]> {
      const rows = await select(owner).orderBy('owner').orderBy('name').execute();
      return rows.map((row) => toRecord<DocumentRecord>(row));
    },

    /** False when there was none. */
    remove(owner: string, name: string, entry?: AuditRecord): Promise<boolean> {
      return change(entry, (on) =>
        on
          .deleteFrom('documents')
          .where(matching({ equal: { collection, owner, name } }))
          .returning('name')
          .execute(),
      );
    },
  };
}

export type Weights = ReturnType<typeof createSqlWeights>;

/** Unique per level, subject, kind and key. */
export function createSqlWeights(database: Kysely<Tables>) {
  return {
    /** Atomic; replaces existing ones. */
    async put(weights: readonly WeightRecord[]): Promise<void> {
      await database.transaction().execute(async (transaction) => {
        for (const row of weights.map(toRow))
          await transaction
            .insertInto('weights')
            .values(row)
            .onConflict((conflict) => conflict.columns(['level', 'subject', 'kind', 'key']).doUpdateSet(row))
            .execute();
      });
    },

    /** Sorted by level, subject, kind and key. */
    async list(query: WeightQuery = {}): Promise<WeightRecord[]> {
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

    /** Returns how many were removed. */
    async remove(query: WeightQuery): Promise<number> {
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

/** Overhead of a row, in bytes. */
const ROW_BYTES = 512;

type Place = Pick<AnswerRecord, 'owner' | 'key'>;

/** Claims of one owner are serialized, so that one server gets each. */
export function createSqlAnswers(database: Kysely<Tables>, waitForUser: WaitForUser) {
  const update = ({ owner, key }: Place, change: Partial<Tables['answers']>) =>
    database
      .updateTable('answers')
      .set(change)
      .where(matching({ equal: { owner, key } }))
      .execute();
  return {
    /**
     * Claims the key for one server. Returns `taken` on success, `full` where the owner's answers have `mostBytes`
     * already, else the existing record.
     */
    claim: (answer: AnswerRecord, mostBytes: number): Promise<'taken' | 'full' | AnswerRecord> =>
      database.transaction().execute(async (transaction) => {
        const { owner, key } = answer;
        await waitForUser(transaction, owner);
        const own = transaction.selectFrom('answers').where('owner', '=', owner);
        const there = await own.selectAll().where('key', '=', key).executeTakeFirst();
        if (there) {
          const { bytes: _, ...row } = there;
          return toRecord<AnswerRecord>(row);
        }
        const { bytes } = await own.select(sql<number>`coalesce(sum(bytes), 0)`.as('bytes')).executeTakeFirstOrThrow();
        if (bytes + ROW_BYTES > mostBytes) return 'full';
        await transaction
          .insertInto('answers')
          .values({ ...toRow(answer), bytes: ROW_BYTES })
          .execute();
        return 'taken';
      }),

    /** Renews or ends the server's lease. */
    async setUntil(place: Place, until: string): Promise<void> {
      await update(place, { until });
    },

    async keep(place: Place, value: unknown): Promise<void> {
      const content = toJson(value);
      await update(place, { content, bytes: ROW_BYTES + Buffer.byteLength(content) });
    },

    /** Releases the key of a request that had no effect. */
    async forget({ owner, key }: Place): Promise<void> {
      await database
        .deleteFrom('answers')
        .where(matching({ equal: { owner, key } }))
        .execute();
    },
  };
}
