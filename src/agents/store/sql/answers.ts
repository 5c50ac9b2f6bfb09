/** Answers under idempotency keys. Claims of one owner are serialized, so that one server gets each. */
import { type Kysely, sql } from 'kysely';
import type { AnswerRecord, Answers } from '../answers.js';
import { matching, type Tables, toJson, toRecord, toRow, type WaitForUser } from './tables.js';

/** Overhead of a row, in bytes. */
const ROW_BYTES = 512;

export function createSqlAnswers(database: Kysely<Tables>, waitForUser: WaitForUser): Answers {
  return {
    claim: (answer, mostBytes) =>
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

    async setUntil({ owner, key }, until) {
      await database
        .updateTable('answers')
        .set({ until })
        .where(matching({ equal: { owner, key } }))
        .execute();
    },

    async keep({ owner, key }, value) {
      const content = toJson(value);
      await database
        .updateTable('answers')
        .set({ content, bytes: ROW_BYTES + Buffer.byteLength(content) })
        .where(matching({ equal: { owner, key } }))
        .execute();
    },

    async forget({ owner, key }) {
      await database
        .deleteFrom('answers')
        .where(matching({ equal: { owner, key } }))
        .execute();
    },
  };
}
