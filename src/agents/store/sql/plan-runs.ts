/**
 * Runs of plans, with a row for each step, so that concurrent steps don't overwrite each other. Only the process that
 * took the lease last changes a run: what an earlier one writes changes nothing, and gives false.
 */
import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { LeasedRun, ListedRunRecord, PlanRunQuery, PlanRunRecord } from '../store.js';
import { matching, ROW_BYTES, readInTurns, type Tables, toJson, toRecord, toRow, type WaitForUser } from './tables.js';

export type PlanRuns = ReturnType<typeof createSqlPlanRuns>;

export function createSqlPlanRuns(database: Kysely<Tables>, waitForUser: WaitForUser) {
  async function setOwned(
    { id, owner }: LeasedRun,
    change: Partial<Omit<Tables['planRuns'], 'bytes'>> & { bytes?: RawBuilder<number> },
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

  const listed = (ids: readonly string[]) =>
    database
      .selectFrom('planRuns')
      .select(['id', 'session', 'user', 'summary', 'state', 'createdAt', 'updatedAt', 'leaseUntil'])
      .where('id', 'in', ids)
      .orderBy('createdAt', 'desc')
      .orderBy('id')
      .execute();

  async function held(user: string, on = database): Promise<number> {
    const total = sql<number>`coalesce(sum("bytes"), 0)`.as('total');
    return (await on.selectFrom('planRuns').select(total).where('user', '=', user).executeTakeFirstOrThrow()).total;
  }

  return {
    /** False: nothing was stored, since the runs of its user would have more than `mostBytes`. Default: no limit. */
    create: (run: PlanRunRecord, mostBytes?: number): Promise<boolean> =>
      database.transaction().execute(async (transaction) => {
        const { steps, ...given } = run;
        const { id, user, updatedAt } = run;
        const row = toRow(given);
        const states = Object.entries(steps).map(([step, value]) => ({
          run: id,
          step,
          state: toJson(value),
          updatedAt,
        }));
        const bytes = [row.plan, ...states.map(({ state }) => state)].reduce(
          (sum, text) => sum + bytesOf(text),
          ROW_BYTES,
        );
        if (mostBytes !== undefined && user !== undefined) {
          await waitForUser(transaction, user);
          if ((await held(user, transaction)) + bytes > mostBytes) return false;
        }
        await transaction
          .insertInto('planRuns')
          .values({ ...row, bytes })
          .execute();
        for (const state of states) await transaction.insertInto('planSteps').values(state).execute();
        return true;
      }),

    /** What all runs of a user take, in bytes. */
    bytesOf: (user: string): Promise<number> => held(user),

    async get(id: string): Promise<PlanRunRecord | undefined> {
      const row = await database.selectFrom('planRuns').selectAll().where('id', '=', id).executeTakeFirst();
      if (!row) return undefined;
      const states = await database.selectFrom('planSteps').selectAll().where('run', '=', id).execute();
      return { ...toRun(row), steps: Object.fromEntries(states.map(({ step, state }) => [step, JSON.parse(state)])) };
    },

    /** Newest first. Arguments and results may be large, so neither plan nor steps are read. */
    async list({ state, user, session, since, limit }: PlanRunQuery): Promise<ListedRunRecord[]> {
      const found = await database
        .selectFrom('planRuns')
        .select('id')
        .where(matching({ equal: { state, user, session }, from: { createdAt: since } }))
        .orderBy('createdAt', 'desc')
        .orderBy('id')
        .limit(limit)
        .execute();
      const ids = found.map(({ id }) => id);
      const runs: ListedRunRecord[] = [];
      for await (const row of readInTurns(ids, listed)) runs.push(toRecord(row));
      return runs;
    },

    /** Of a run that an earlier version of Winnow stored. */
    async summarize(id: string, summary: unknown): Promise<void> {
      await database
        .updateTable('planRuns')
        .set({ summary: toJson(summary) })
        .where('id', '=', id)
        .execute();
    },

    setStep: (run: LeasedRun, { id: step, state, at }: { id: string; state: unknown; at: string }): Promise<boolean> =>
      database.transaction().execute(async (transaction) => {
        // Locks the run first, like the removal of old runs, which avoids deadlocks; nobody takes it until the end.
        const change = { state: toJson(state), updatedAt: at };
        const before = transaction
          .selectFrom('planSteps')
          .select(sql`octet_length("state")`.as('bytes'))
          .where('run', '=', run.id)
          .where('step', '=', step);
        const bytes = sql<number>`"bytes" + ${bytesOf(change.state)} - coalesce(${before}, 0)`;
        if (!(await setOwned(run, { updatedAt: at, bytes }, transaction))) return false;
        await transaction
          .insertInto('planSteps')
          .values({ run: run.id, step, ...change })
          .onConflict((conflict) => conflict.columns(['run', 'step']).doUpdateSet(change))
          .execute();
        return true;
      }),

    /** Includes the plan and its summary where it was rewritten. */
    setState(run: LeasedRun, { state, at, plan, summary }: RunChange): Promise<boolean> {
      if (plan === undefined) return setOwned(run, { state, updatedAt: at });
      const text = toJson(plan);
      const bytes = sql<number>`"bytes" + ${bytesOf(text)} - octet_length("plan")`;
      return setOwned(run, { state, updatedAt: at, plan: text, summary: toJson(summary), bytes });
    },

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

export interface RunChange extends Pick<PlanRunRecord, 'state' | 'summary'> {
  readonly at: string;
  readonly plan?: unknown;
}

const bytesOf = (text: string) => Buffer.byteLength(text);

function toRun({ leaseOwner: _, bytes: __, ...row }: Tables['planRuns']): Omit<PlanRunRecord, 'steps'> {
  return toRecord(row);
}
