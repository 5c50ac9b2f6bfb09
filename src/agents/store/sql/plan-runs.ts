/**
 * Runs of plans, with a row for each step, so that concurrent steps don't overwrite each other. Only the process that
 * took the lease last changes a run: what an earlier one writes changes nothing, and gives false.
 */
import type { Kysely } from 'kysely';
import type { LeasedRun, PlanRunQuery, PlanRunRecord } from '../store.js';
import { matching, type Tables, toJson, toRecord, toRow } from './tables.js';

export type PlanRuns = ReturnType<typeof createSqlPlanRuns>;

export function createSqlPlanRuns(database: Kysely<Tables>) {
  async function setOwned(
    { id, owner }: LeasedRun,
    change: Partial<Tables['planRuns']>,
    on = database,
  ): Promise<boolean> {
    const changed = await on
      .updateTable('planRuns')
      .set(change)
      .where('id', '=', id)
      .where('leaseOwner', '=', owner)
      .returning('id')
      .execute();
    return changed.length === 1;
  }

  return {
    create: (run: PlanRunRecord): Promise<void> =>
      database.transaction().execute(async (transaction) => {
        const { steps, ...row } = run;
        const { id, updatedAt } = run;
        await transaction.insertInto('planRuns').values(toRow(row)).execute();
        for (const [step, value] of Object.entries(steps))
          await transaction
            .insertInto('planSteps')
            .values({ run: id, step, state: toJson(value), updatedAt })
            .execute();
      }),

    async get(id: string): Promise<PlanRunRecord | undefined> {
      const row = await database.selectFrom('planRuns').selectAll().where('id', '=', id).executeTakeFirst();
      if (!row) return undefined;
      const states = await database.selectFrom('planSteps').selectAll().where('run', '=', id).execute();
      return { ...toRun(row), steps: Object.fromEntries(states.map(({ step, state }) => [step, JSON.parse(state)])) };
    },

    /** Newest first. Results may be large, so the steps are not read. */
    async list({ state, user, session, since, limit }: PlanRunQuery): Promise<Omit<PlanRunRecord, 'steps'>[]> {
      const rows = await database
        .selectFrom('planRuns')
        .selectAll()
        .where(matching({ equal: { state, user, session }, from: { createdAt: since } }))
        .orderBy('createdAt', 'desc')
        .orderBy('id')
        .limit(limit)
        .execute();
      return rows.map(toRun);
    },

    setStep: (run: LeasedRun, { id: step, state, at }: { id: string; state: unknown; at: string }): Promise<boolean> =>
      database.transaction().execute(async (transaction) => {
        // Locks the run first, like the removal of old runs, which avoids deadlocks; nobody takes it until the end.
        if (!(await setOwned(run, { updatedAt: at }, transaction))) return false;
        const change = { state: toJson(state), updatedAt: at };
        await transaction
          .insertInto('planSteps')
          .values({ run: run.id, step, ...change })
          .onConflict((conflict) => conflict.columns(['run', 'step']).doUpdateSet(change))
          .execute();
        return true;
      }),

    /** Includes the plan where it was rewritten. */
    setState: (run: LeasedRun, { state, plan, at }: { state: string; plan?: unknown; at: string }): Promise<boolean> =>
      setOwned(run, { state, updatedAt: at, ...(plan === undefined ? {} : { plan: toJson(plan) }) }),

    /** Sets the end of the lease; one that is over lives again, as long as nobody else has taken the run. */
    renew: (run: LeasedRun, until: string): Promise<boolean> => setOwned(run, { leaseUntil: until }),

    /** Leases the run to one process until an instant; false while another one has it. */
    async claim({ id, owner }: LeasedRun, { at, until }: { at: string; until: string }): Promise<boolean> {
      const claimed = await database
        .updateTable('planRuns')
        .set({ leaseOwner: owner, leaseUntil: until })
        .where('id', '=', id)
        .where((where) => where.or([where('leaseOwner', 'is', null), where('leaseUntil', '<=', at)]))
        .returning('id')
        .execute();
      return claimed.length === 1;
    },
  };
}

function toRun({ leaseOwner: _, ...row }: Tables['planRuns']): Omit<PlanRunRecord, 'steps'> {
  return toRecord(row);
}
