/** Runs of plans, with a row for each step, so that concurrent steps don't overwrite each other. */
import type { Kysely, UpdateQueryBuilder, UpdateResult } from 'kysely';
import type { PlanRunQuery, PlanRunRecord } from '../store.js';
import { matching, type Tables, toJson, toRecord, toRow } from './tables.js';

export type PlanRuns = ReturnType<typeof createSqlPlanRuns>;

export interface StateWrite {
  readonly state: string;
  readonly plan?: unknown;
  readonly at: string;
  /** Who has leased the run. */
  readonly owner: string;
}

export interface StepWrite extends Pick<StateWrite, 'at' | 'owner'> {
  readonly id: string;
  readonly state: unknown;
}

export function createSqlPlanRuns(database: Kysely<Tables>) {
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

    /** False where another process has leased the run: then nothing is written. */
    setStep: (run: string, { id: step, state, at, owner }: StepWrite): Promise<boolean> =>
      database.transaction().execute(async (transaction) => {
        const change = { state: toJson(state), updatedAt: at };
        // Locks the run first, like the removal of old runs, which avoids deadlocks.
        const locked = transaction.updateTable('planRuns').set({ updatedAt: at }).where('id', '=', run);
        if (!(await isChanged(locked.where('leaseOwner', '=', owner)))) return false;
        await transaction
          .insertInto('planSteps')
          .values({ run, step, ...change })
          .onConflict((conflict) => conflict.columns(['run', 'step']).doUpdateSet(change))
          .execute();
        return true;
      }),

    /** Includes the plan where it was rewritten. False where another process has leased the run. */
    setState(id: string, { state, plan, at, owner }: StateWrite): Promise<boolean> {
      const change = { state, updatedAt: at, ...(plan === undefined ? {} : { plan: toJson(plan) }) };
      return isChanged(
        database.updateTable('planRuns').set(change).where('id', '=', id).where('leaseOwner', '=', owner),
      );
    },

    /** Leases the run to one process until an instant; false while another one has it. */
    async claim(id: string, { owner, at, until }: { owner: string; at: string; until: string }): Promise<boolean> {
      return isChanged(
        database
          .updateTable('planRuns')
          .set({ leaseOwner: owner, leaseUntil: until })
          .where('id', '=', id)
          .where((where) =>
            where.or([where('leaseOwner', 'is', null), where('leaseOwner', '=', owner), where('leaseUntil', '<=', at)]),
          ),
      );
    },
  };
}

function toRun({ leaseOwner: _, ...row }: Tables['planRuns']): Omit<PlanRunRecord, 'steps'> {
  return toRecord(row);
}

/** Whether the run was there, and free for the change. */
async function isChanged(change: UpdateQueryBuilder<Tables, 'planRuns', 'planRuns', UpdateResult>): Promise<boolean> {
  return (await change.returning('id').execute()).length === 1;
}
