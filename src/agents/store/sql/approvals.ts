/** Approvals. Races are decided by one conditional UPDATE, whose row count says who won. */
import type { Kysely, Transaction } from 'kysely';
import type { ApprovalDecision, ApprovalQuery, ApprovalRecord, ToAudit } from '../store.js';
import { insertAudit, matching, type Tables, toApproval, toRow, type WaitForUser } from './tables.js';

export type Approvals = ReturnType<typeof createSqlApprovals>;

export function createSqlApprovals(database: Kysely<Tables>, waitForUser: WaitForUser) {
  return {
    /**
     * Keeps the new approval, or returns the open one (pending, granted or refused, not expired at `requestedAt`) of the
     * same session, tool, arguments and policy version: granted with these arguments first, granted with others last.
     * Undefined: none is open, and `mostPending` of the user's wait already. Default: no limit.
     */
    request: (approval: ApprovalRecord, mostPending?: number, toAudit?: ToAudit): Promise<ApprovalRecord | undefined> =>
      database.transaction().execute(async (transaction) => {
        // Concurrent requests wait for the lock on the session's row.
        await transaction
          .updateTable('sessions')
          .set({ activeAt: approval.requestedAt })
          .where('id', '=', approval.session)
          .execute();
        const open = await transaction
          .selectFrom('approvals')
          .selectAll()
          .where('session', '=', approval.session)
          .where('tool', '=', approval.tool)
          .where((where) =>
            where.or([
              where('argumentsHash', '=', approval.argumentsHash),
              where('grantedHash', '=', approval.argumentsHash),
            ]),
          )
          .where('policyVersion', '=', approval.policyVersion)
          .where('state', 'in', ['pending', 'granted', 'refused'])
          .where('expiresAt', '>', approval.requestedAt)
          .orderBy(({ fn, case: when, eb }) =>
            when()
              .when(eb(fn.coalesce('grantedHash', 'argumentsHash'), '!=', approval.argumentsHash))
              .then(2)
              .when('state', '=', 'granted')
              .then(0)
              .else(1)
              .end(),
          )
          .orderBy('requestedAt', 'desc')
          .orderBy('id')
          .executeTakeFirst();
        if (open) return toApproval(open);
        if (mostPending !== undefined) {
          await waitForUser(transaction, approval.user);
          const { pending } = await transaction
            .selectFrom('approvals')
            .select((select) => select.fn.countAll<number>().as('pending'))
            .where('state', '=', 'pending')
            .where('expiresAt', '>', approval.requestedAt)
            .where('user', '=', approval.user)
            .executeTakeFirstOrThrow();
          if (pending >= mostPending) return undefined;
        }
        await transaction.insertInto('approvals').values(rowOf(approval)).execute();
        if (approval.user !== undefined) await removeUnused(transaction, approval.user);
        await insertAudit(transaction, toAudit?.(approval) ?? []);
        return approval;
      }),

    async get(id: string): Promise<ApprovalRecord | undefined> {
      const row = await database.selectFrom('approvals').selectAll().where('id', '=', id).executeTakeFirst();
      return row && toApproval(row);
    },

    /** Newest first. Ids alone, since arguments may be large. */
    async ids({ session, user, tool, since, state, after, limit }: ApprovalQuery): Promise<string[]> {
      const last = database
        .selectFrom('approvals')
        .select('requestedAt')
        .where('id', '=', after ?? '');
      const rows = await database
        .selectFrom('approvals')
        .select('id')
        .where(matching({ equal: { session, user, tool, state }, from: { requestedAt: since } }))
        .$if(after !== undefined, (select) =>
          select.where(({ eb, or, and }) =>
            or([eb('requestedAt', '<', last), and([eb('requestedAt', '=', last), eb('id', '>', after ?? '')])]),
          ),
        )
        .orderBy('requestedAt', 'desc')
        .orderBy('id')
        .limit(limit)
        .execute();
      return rows.map(({ id }) => id);
    },

    /** The most recently granted one of a tool and user, even if used or expired since. */
    async lastGranted({ tool, user }: Pick<ApprovalRecord, 'tool' | 'user'>): Promise<ApprovalRecord | undefined> {
      const row = await database
        .selectFrom('approvals')
        .selectAll()
        .where(matching({ equal: { tool, user } }))
        .where('state', 'in', ['granted', 'used', 'expired'])
        .where('decidedAt', 'is not', null)
        .orderBy('decidedAt', 'desc')
        .orderBy('id')
        .executeTakeFirst();
      return row && toApproval(row);
    },

    /** False when it is no longer pending, or expired. */
    decide: (id: string, decision: ApprovalDecision, toAudit?: ToAudit): Promise<boolean> =>
      database.transaction().execute(async (transaction) => {
        const changed = await transaction
          .updateTable('approvals')
          .set({ ...toRow(decision), grantedHash: decision.granted?.argumentsHash ?? null })
          .where('id', '=', id)
          .where('state', '=', 'pending')
          .where('expiresAt', '>', decision.decidedAt)
          .returningAll()
          .executeTakeFirst();
        if (changed) await insertAudit(transaction, toAudit?.(toApproval(changed)) ?? []);
        return changed !== undefined;
      }),

    /** Uses a grant, and uses up a single-call one. False when another call was faster, or it expired. */
    async use(id: string, at: string): Promise<boolean> {
      const changed = await database
        .updateTable('approvals')
        .set((set) => ({
          usedAt: at,
          state: set
            .case()
            .when('grant', '=', 'once')
            .then('used' as const)
            .else('granted' as const)
            .end(),
        }))
        .where('id', '=', id)
        .where('state', '=', 'granted')
        .where('expiresAt', '>', at)
        .returning('id')
        .execute();
      return changed.length === 1;
    },

    /** Undoes a use whose call was not made; it stays usable until it expires. */
    async giveBack(id: string): Promise<void> {
      await database
        .updateTable('approvals')
        .set({ state: 'granted', usedAt: null })
        .where('id', '=', id)
        .where('state', '=', 'used')
        .execute();
    },

    /** Marks expired approvals and returns them. */
    expire: (at: string, toAudit?: ToAudit): Promise<ApprovalRecord[]> =>
      database.transaction().execute(async (transaction) => {
        const rows = await transaction
          .updateTable('approvals')
          .set({ state: 'expired' })
          .where('state', 'in', ['pending', 'granted'])
          .where('expiresAt', '<=', at)
          .returningAll()
          .execute();
        const expired = rows.map(toApproval);
        for (const approval of expired) await insertAudit(transaction, toAudit?.(approval) ?? []);
        return expired;
      }),
  };
}

/** Most approvals of a user that ended without a call; of those that are older the audit knows. */
export const MOST_UNUSED = 1_000;

async function removeUnused(transaction: Transaction<Tables>, user: string): Promise<void> {
  const older = transaction
    .selectFrom('approvals')
    .select('id')
    .where('user', '=', user)
    .where('state', 'in', ['expired', 'refused'])
    .orderBy('requestedAt', 'desc')
    .orderBy('id')
    .offset(MOST_UNUSED)
    .limit(MOST_UNUSED);
  await transaction.deleteFrom('approvals').where('id', 'in', older).execute();
}

/** Calls with the granted arguments find their approval by this hash, too. */
function rowOf(approval: ApprovalRecord): Tables['approvals'] {
  return { ...toRow(approval), grantedHash: approval.granted?.argumentsHash ?? null };
}
