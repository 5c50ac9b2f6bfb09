/** What differs from the last call of the tool that was approved, for whoever decides on this one. */
import { differencesOf } from '../argument-sources.js';
import { type Approval, approvalSchema, approvedPlanSchema } from '../records.js';
import type { ApprovalRecord, Approvals } from '../store/store.js';

/** @returns a function that throws WinnowError `store_failed` */
export function createReview(store: Pick<Approvals, 'lastGranted'>): (approval: ApprovalRecord) => Promise<Approval> {
  return async ({ runs, plan: kept, ...approval }) => {
    // Of a plan the steps count, which are shown whole.
    const isCompared = approval.state === 'pending' && kept === undefined;
    const last = isCompared ? await store.lastGranted(approval) : undefined;
    const plan = approvedPlanSchema.safeParse(kept).data;
    const known = approvalSchema.shape.runs.safeParse(runs).data;
    return {
      ...approval,
      ...(known ? { runs: known } : {}),
      ...(plan ? { plan } : {}),
      ...(last ? { last: compare(last, approval) } : {}),
    };
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
