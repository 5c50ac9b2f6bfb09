/** Approvals. Races are decided by one conditional UPDATE, whose row count says who won. */
import type { Kysely, Transaction } from 'kysely';
import type { ApprovalRecord, Approvals, ToAudit } from '../store.js';
import { matching, type Tables, toApproval, toRow, type WaitForUser } from './tables.js';

export function createSqlApprovals(database: Kysely<Tables>, waitForUser: WaitForUser): Approvals {
  return {
    request: (approval, mostPending, toAudit) =>
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
        await audit(transaction, approval, toAudit);
        return approval;
      }),

    async get(id) {
      const row = await database.selectFrom('approvals').selectAll().where('id', '=', id).executeTakeFirst();
      return row && toApproval(row);
    },

    async list({ session, user, tool, since, state, limit }) {
      const rows = await database
        .selectFrom('approvals')
        .selectAll()
        .where(matching({ equal: { session, user, tool, state }, from: { requestedAt: since } }))
        .orderBy('requestedAt', 'desc')
        .orderBy('id')
        .limit(limit)
        .execute();
      return rows.map(toApproval);
    },

    async lastGranted({ tool, user }) {
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

    decide: (id, decision, toAudit) =>
      database.transaction().execute(async (transaction) => {
        const changed = await transaction
          .updateTable('approvals')
          .set({ ...toRow(decision), grantedHash: decision.granted?.argumentsHash ?? null })
          .where('id', '=', id)
          .where('state', '=', 'pending')
          .where('expiresAt', '>', decision.decidedAt)
          .returningAll()
          .executeTakeFirst();
        if (changed) await audit(transaction, toApproval(changed), toAudit);
        return changed !== undefined;
      }),

    async use(id, at) {
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

    async giveBack(id) {
      await database
        .updateTable('approvals')
        .set({ state: 'granted', usedAt: null })
        .where('id', '=', id)
        .where('state', '=', 'used')
        .execute();
    },

    expire: (at, toAudit) =>
      database.transaction().execute(async (transaction) => {
        const rows = await transaction
          .updateTable('approvals')
          .set({ state: 'expired' })
          .where('state', 'in', ['pending', 'granted'])
          .where('expiresAt', '<=', at)
          .returningAll()
          .execute();
        const expired = rows.map(toApproval);
        for (const approval of expired) await audit(transaction, approval, toAudit);
        return expired;
      }),
  };
}

async function audit(transaction: Transaction<Tables>, approval: ApprovalRecord, toAudit?: ToAudit): Promise<void> {
  const rows = toAudit?.(approval).map(toRow) ?? [];
  if (rows.length > 0) await transaction.insertInto('audit').values(rows).execute();
}

/** Calls with the granted arguments find their approval by this hash, too. */
function rowOf(approval: ApprovalRecord): Tables['approvals'] {
  return { ...toRow(approval), grantedHash: approval.granted?.argumentsHash ?? null };
}
