/** Approvals in the form for review: one, or a page of them. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { parseInput } from '../../core/parse.js';
import { differencesOf } from '../argument-sources.js';
import {
  type Approval,
  type ApprovalPage,
  type ApprovalQuery,
  approvalQuerySchema,
  approvalSchema,
  approvedPlanSchema,
} from '../records.js';
import type { Approvals as StoredApprovals } from '../store/sql/approvals.js';
import type { ApprovalRecord } from '../store/store.js';

/** A page ends behind the approval that reaches it: some of them are as large as `quotas.approvalBytes`. */
const PAGE_BYTES = 4_194_304;

export function createApprovalLists(store: Pick<StoredApprovals, 'ids' | 'get' | 'lastGranted'>) {
  async function review({ runs, plan: kept, ...approval }: ApprovalRecord): Promise<Approval> {
    // A plan is not compared: its steps are shown whole.
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
  }

  /** Reads one at a time, with a turn for others after each. @throws WinnowError `invalid_request` */
  async function page(query: ApprovalQuery): Promise<ApprovalPage> {
    const { limit, ...which } = parseInput(approvalQuerySchema, query);
    const ids = await store.ids({ ...which, limit: limit + 1 });
    const approvals: Approval[] = [];
    let bytes = 0;
    for (const [at, id] of ids.entries()) {
      if (at === limit || bytes >= PAGE_BYTES) return { approvals, next: ids[at - 1] };
      const found = await store.get(id);
      const approval = found && (await review(found));
      if (approval) approvals.push(approval);
      bytes += approval ? Buffer.byteLength(JSON.stringify(approval)) : 0;
      await nextTurn();
    }
    return { approvals };
  }

  return {
    review,
    page,
    /** As many as the query asks for, from as many pages as they take. */
    async list(query: ApprovalQuery): Promise<Approval[]> {
      const { limit, ...which } = parseInput(approvalQuerySchema, query);
      const approvals: Approval[] = [];
      for (let after = which.after; ; ) {
        const one = await page({ ...which, after, limit: limit - approvals.length });
        approvals.push(...one.approvals);
        if (one.next === undefined || approvals.length === limit) return approvals;
        after = one.next;
      }
    },
  };
}

/** Differences from the tool's last approved call, for the approver. */
function compare(last: ApprovalRecord, now: Pick<ApprovalRecord, 'arguments'>): NonNullable<Approval['last']> {
  return {
    approval: last.id,
    decidedBy: String(last.decidedBy),
    decidedAt: String(last.decidedAt),
    differences: differencesOf((last.granted ?? last).arguments, now.arguments),
  };
}
