/** What differs from the last call of the tool that was approved, for whoever decides on this one. */
import { differencesOf } from '../argument-sources.js';
import { type Approval, approvalSchema } from '../records.js';
import type { ApprovalRecord, Approvals } from '../store/store.js';

/** @returns a function that throws WinnowError `store_failed` */
export function createReview(store: Pick<Approvals, 'lastGranted'>): (approval: ApprovalRecord) => Promise<Approval> {
  return async ({ runs, ...approval }) => {
    const last = approval.state === 'pending' ? await store.lastGranted(approval) : undefined;
    const known = approvalSchema.shape.runs.safeParse(runs).data;
    return { ...approval, ...(known ? { runs: known } : {}), ...(last ? { last: compare(last, approval) } : {}) };
  };
}

function compare(last: ApprovalRecord, now: Pick<ApprovalRecord, 'arguments'>): NonNullable<Approval['last']> {
  return {
    approval: last.id,
    decidedBy: String(last.decidedBy),
    decidedAt: String(last.decidedAt),
    differences: differencesOf((last.granted ?? last).arguments, now.arguments),
  };
}
