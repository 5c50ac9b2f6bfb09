/** Runs of plans, a row for each step, so that steps that end at once do not overwrite each other. */
import type { Kysely } from 'kysely';
import type { PlanRunRecord, PlanRuns } from '../store.js';
import { matching, type Tables, toJson, toRecord, toRow } from './tables.js';

export function createSqlPlanRuns(database: Kysely<Tables>): PlanRuns {
  const stepsOf = (ids: string[]) =>
    ids.length === 0 ? [] : database.selectFrom('planSteps').selectAll().where('run', 'in', ids).execute();
  return {
    create: (run) =>
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

    async get(id) {
      const row = await database.selectFrom('planRuns').selectAll().where('id', '=', id).executeTakeFirst();
      return row && toRun(row, await stepsOf([id]));
    },

    async list({ state, user, limit }) {
      const rows = await database
        .selectFrom('planRuns')
        .selectAll()
        .where(matching({ equal: { state, user } }))
        .orderBy('createdAt', 'desc')
        .orderBy('id')
        .limit(limit)
        .execute();
      const steps = await stepsOf(rows.map(({ id }) => id));
      return rows.map((row) => toRun(row, steps));
    },

    setStep: (run, { id: step, state, at }) =>
      database.transaction().execute(async (transaction) => {
        const change = { state: toJson(state), updatedAt: at };
        // First its run, as whoever removes old runs does.
        await transaction.updateTable('planRuns').set({ updatedAt: at }).where('id', '=', run).execute();
        await transaction
          .insertInto('planSteps')
          .values({ run, step, ...change })
          .onConflict((conflict) => conflict.columns(['run', 'step']).doUpdateSet(change))
          .execute();
      }),

    async setState(id, { state, plan, at }) {
      const change = { state, updatedAt: at, ...(plan === undefined ? {} : { plan: toJson(plan) }) };
      await database.updateTable('planRuns').set(change).where('id', '=', id).execute();
    },

    async claim(id, { owner, at, until }) {
      const claimed = await database
        .updateTable('planRuns')
        .set({ leaseOwner: owner, leaseUntil: until })
        .where('id', '=', id)
        .where((where) =>
          where.or([where('leaseOwner', 'is', null), where('leaseOwner', '=', owner), where('leaseUntil', '<=', at)]),
        )
        .returning('id')
        .execute();
      return claimed.length === 1;
    },
  };
}

function toRun(
  { leaseOwner: _, leaseUntil: __, ...row }: Tables['planRuns'],
  steps: readonly Tables['planSteps'][],
): PlanRunRecord {
  const own = steps.filter(({ run }) => run === row.id).map(({ step, state }) => [step, JSON.parse(state)]);
  return { ...toRecord<Omit<PlanRunRecord, 'steps'>>(row), steps: Object.fromEntries(own) };
}
