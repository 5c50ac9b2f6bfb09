/** Views of stored runs, without secrets: their owner, their state and what they wait for. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { z } from 'zod';
import { instantSchema } from '../contracts.js';
import { pageSchema } from '../records.js';
import type { PlanRuns } from '../store/sql/plan-runs.js';
import type { ListedRunRecord, PlanRunRecord } from '../store/store.js';
import { planDifferences } from './plan-differences.js';
import { type PlanSummary, planRunSchema, planSummarySchema, RUN_STATES, summaryOf } from './plan-run.js';
import { keptStepSchema, parseStored } from './run-record.js';

/** States of stored runs; dry runs are not stored. */
const keptState = z.enum(RUN_STATES).exclude(['planned']);

export const runQuerySchema = pageSchema.pick({ user: true, session: true, since: true }).extend({
  state: keptState.optional(),
  limit: z.int().min(1).max(200).default(50),
});
export type RunQuery = z.output<typeof runQuerySchema>;

const commonShape = {
  id: z.string(),
  state: keptState.describe(
    '`paused`: a step waits for an approval, or a new plan for review (see `added`). `failed`: resume retries.',
  ),
  user: z.string().optional(),
  session: z.string().optional(),
  createdAt: instantSchema,
  updatedAt: instantSchema.describe('Time of its last activity.'),
  isInterrupted: z.boolean().describe('Its state is `running`, but no process runs it any more: resume it.'),
};

export const listedRunSchema = z.object({ ...commonShape, ...planSummarySchema.shape });
export type ListedRun = z.output<typeof listedRunSchema>;

export const shownRunSchema = planRunSchema.omit({ notes: true }).extend({
  ...commonShape,
  steps: z
    .record(z.string(), keptStepSchema)
    .describe('Step id -> its state; absent for a step that waits for others. `s2[0]`: the first item of a loop.'),
  approval: z.string().optional().describe('Id of the approval of the whole plan, under which it runs.'),
  waitsFor: z
    .array(z.object({ step: z.string(), approval: z.string() }))
    .describe('Approvals that are still undecided.'),
  added: z
    .array(z.string())
    .describe('After a new plan for a failed run: how its steps differ from those of the first plan.'),
});
export type ShownRun = z.output<typeof shownRunSchema>;

/** Newest first. @param at now, by the system clock */
export async function listRuns(store: PlanRuns, query: RunQuery, at: string): Promise<ListedRun[]> {
  const listed: ListedRun[] = [];
  for (const record of await store.list(query))
    listed.push(listedRunSchema.parse({ ...commonOf(record, at), ...(await summaryFor(record, store)) }));
  return listed;
}

/** Read once from the plan itself where an earlier version of Winnow stored the run. */
async function summaryFor({ id, summary }: ListedRunRecord, store: PlanRuns): Promise<PlanSummary> {
  if (summary !== undefined) return planSummarySchema.parse(summary);
  const run = await store.get(id);
  if (!run) return { goal: '', tools: [] };
  const read = summaryOf(parseStored({ ...run, steps: {} }).plan);
  await store.summarize(id, read);
  await nextTurn();
  return read;
}

/** @param at now, by the system clock */
export function toShown({ plan: stored, steps: states, ...record }: PlanRunRecord, at: string): ShownRun {
  const { plan, earlier, approval, steps } = parseStored({ plan: stored, steps: states });
  const waitsFor = Object.values(steps).flatMap(({ id: step, status, approval }) =>
    status === 'needs_approval' && approval !== undefined ? [{ step, approval }] : [],
  );
  const added = earlier ? planDifferences(plan, earlier) : [];
  return shownRunSchema.parse({ ...commonOf(record, at), plan, steps, earlier, approval, waitsFor, added });
}

function commonOf({ leaseUntil, summary: _, ...record }: ListedRunRecord, at: string) {
  const isHeld = leaseUntil !== undefined && leaseUntil > at;
  return { ...record, isInterrupted: record.state === 'running' && !isHeld };
}
