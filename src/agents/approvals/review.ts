/** What differs from the last call of the tool that was approved, for whoever decides on this one. */
import { differencesOf } from '../argument-sources.js';
import { type Approval, approvalSchema } from '../records.js';
import type { ApprovalRecord, Approvals } from '../store/store.js';

const MOST_LOOKED_AT = 50;

/** @returns a function that throws WinnowError `store_failed` */
export function createReview(store: Pick<Approvals, 'list'>): (approval: ApprovalRecord) => Promise<Approval> {
  return async ({ runs, ...approval }) => {
    const last = approval.state === 'pending' ? await lastApproved(approval) : undefined;
    const known = approvalSchema.shape.runs.safeParse(runs).data;
    return { ...approval, ...(known ? { runs: known } : {}), ...(last ? { last: compare(last, approval) } : {}) };
  };

  /** The store has them by when they were asked for. One that was granted may be over since. */
  async function lastApproved({ tool, user }: Pick<ApprovalRecord, 'tool' | 'user'>) {
    const found: ApprovalRecord[] = [];
    for (const state of ['granted', 'used', 'expired'] as const)
      found.push(...(await store.list({ tool, user, state, limit: MOST_LOOKED_AT })));
    const approved = found.filter(({ decidedBy }) => decidedBy !== undefined);
    return approved.sort((one, other) => (String(one.decidedAt) < String(other.decidedAt) ? 1 : -1))[0];
  }
}

function compare(last: ApprovalRecord, now: Pick<ApprovalRecord, 'arguments'>): NonNullable<Approval['last']> {
  return {
    approval: last.id,
    decidedBy: String(last.decidedBy),
    decidedAt: String(last.decidedAt),
    differences: differencesOf((last.granted ?? last).arguments, now.arguments),
  };
}
