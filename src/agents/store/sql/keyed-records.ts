/** Records with names: documents, one collection per kind, learnt weights, and answers under idempotency keys. */
import { randomUUID } from 'node:crypto';
import { type Kysely, sql, type Transaction } from 'kysely';
import type { AnswerRecord, AuditRecord, DocumentRecord, WeightQuery, WeightRecord } from '../store.js';
import {
  insertAudit,
  matching,
  ROW_BYTES,
  readInTurns,
  type Tables,
  toJson,
  toRecord,
  toRow,
  type WaitForUser,
} from './tables.js';

export type Documents = ReturnType<typeof createSqlDocuments>;

/** Gets what an owner has, with the bytes of each content as JSON. What it throws undoes the change. */
type CheckRoom = (own: readonly { readonly name: string; readonly bytes: number }[]) => void;

/**
 * Each change can bring its audit entry, which is written in the same transaction, and only where something changed. A
 * change with a check of its owner's room waits for others of this owner that have one.
 */
export function createSqlDocuments(database: Kysely<Tables>, collection: string, waitForUser: WaitForUser) {
  const select = (owner?: string, name?: string) =>
    database
      .selectFrom('documents')
      .select(['owner', 'name', 'content', 'updatedAt'])
      .where(matching({ equal: { collection, owner, name } }));
  /** Of the documents that this process has listed. */
  const versionOf = new WeakMap<DocumentRecord, string>();
  const change = (entry: AuditRecord | undefined, work: (on: Transaction<Tables>) => Promise<readonly unknown[]>) =>
    database.transaction().execute(async (transaction) => {
      const isChanged = (await work(transaction)).length > 0;
      if (isChanged && entry) await insertAudit(transaction, [entry]);
      return isChanged;
    });
  const checkOwn = async (on: Transaction<Tables>, owner: string, checkRoom: CheckRoom | undefined) => {
    if (!checkRoom) return;
    await waitForUser(on, owner);
    const own = on.selectFrom('documents').where(matching({ equal: { collection, owner } }));
    checkRoom(await own.select(['name', sql<number>`octet_length("content")`.as('bytes')]).execute());
  };
  /** The places of documents, sorted, without a look at the contents. */
  const placesOf = (owner?: string) =>
    database
      .selectFrom('documents')
      .select(['owner', 'name', 'updatedAt', 'version'])
      .where(matching({ equal: { collection, owner } }))
      .orderBy('owner')
      .orderBy('name')
      .execute();
  const at = (places: readonly Version[]) =>
    database
      .selectFrom('documents')
      .where((where) => where.or(places.map(({ owner, name }) => where.and({ collection, owner, name }))))
      .orderBy('owner')
      .orderBy('name');
  return {
    async put(document: DocumentRecord, entry?: AuditRecord, checkRoom?: CheckRoom): Promise<void> {
      const { owner, name, ...changed } = toStored(document);
      await change(entry, async (on) => {
        await checkOwn(on, owner, checkRoom);
        return on
          .insertInto('documents')
          .values({ collection, owner, name, ...changed })
          .onConflict((conflict) => conflict.columns(['collection', 'owner', 'name']).doUpdateSet(changed))
          .returning('name')
          .execute();
      });
    },

    /** Compare and set: false where the stored one is not `before`. `before` undefined: none may exist. */
    replace(
      document: DocumentRecord,
      before: DocumentRecord | undefined,
      entry?: AuditRecord,
      checkRoom?: CheckRoom,
    ): Promise<boolean> {
      const { owner, name, ...changed } = toStored(document);
      const { content, updatedAt } = toRow(before ?? document);
      return change(entry, async (on) => {
        await checkOwn(on, owner, checkRoom);
        return (
          before
            ? on
                .updateTable('documents')
                .set(changed)
                .where(matching({ equal: { collection, owner, name, content, updatedAt } }))
                .returning('name')
            : on
                .insertInto('documents')
                .values({ collection, owner, name, ...changed })
                .onConflict((conflict) => conflict.columns(['collection', 'owner', 'name']).doNothing())
                .returning('name')
        ).execute();
      });
    },

    async get(owner: string, name: string): Promise<DocumentRecord | undefined> {
      const row = await select(owner, name).executeTakeFirst();
      return row && toRecord<DocumentRecord>(row);
    },

    /**
     * Sorted by owner and name; parsed one by one, with a turn for others after each.
     * @param owner default: all owners
     * @param before an earlier answer. What has not changed since is not read: these documents are the same objects, and
     *   so is the answer if nothing has changed
     */
    async list(owner?: string, before: readonly DocumentRecord[] = []): Promise<readonly DocumentRecord[]> {
      const places = await placesOf(owner);
      const known = new Map(before.map((document) => [keyOf(document), document]));
      const isKnown = (place: Version) => {
        const document = known.get(keyOf(place));
        return document !== undefined && versionOf.get(document) === nameOf(place);
      };
      const changed = places.filter((place) => !isKnown(place));
      for (const place of changed) known.delete(keyOf(place));
      const columns = ['owner', 'name', 'content', 'updatedAt', 'version'] as const;
      for await (const row of readInTurns(changed, (some) => at(some).select(columns).execute())) {
        const { version, ...stored } = row;
        const document = toRecord<DocumentRecord>(stored);
        versionOf.set(document, nameOf(row));
        known.set(keyOf(row), document);
      }
      const found = places.flatMap((place) => known.get(keyOf(place)) ?? []);
      const isSame = found.length === before.length && found.every((document, at) => document === before[at]);
      return isSame ? before : found;
    },

    /** All but the contents, sorted by name. */
    async summaries(owner: string): Promise<Omit<DocumentRecord, 'content'>[]> {
      const columns = ['owner', 'name', 'summary', 'updatedAt'] as const;
      const found: Omit<DocumentRecord, 'content'>[] = [];
      for await (const row of readInTurns(await placesOf(owner), (some) => at(some).select(columns).execute()))
        found.push(toRecord(row));
      return found;
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

type Version = Pick<Tables['documents'], 'owner' | 'name' | 'updatedAt' | 'version'>;

const keyOf = ({ owner, name }: Pick<DocumentRecord, 'owner' | 'name'>) => JSON.stringify([owner, name]);
const nameOf = ({ updatedAt, version }: Pick<Version, 'updatedAt' | 'version'>) => `${updatedAt} ${version}`;

function toStored(document: DocumentRecord) {
  return { ...toRow({ summary: undefined, ...document }), version: randomUUID() };
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
