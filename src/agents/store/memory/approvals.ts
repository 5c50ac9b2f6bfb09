/** Approvals in memory; no step waits in its middle, so each is atomic. */
import type { ApprovalRecord, Approvals } from '../store.js';
import { compare } from './sessions.js';

const OPEN: ReadonlySet<string> = new Set(['pending', 'granted', 'refused']);

export interface MemoryApprovals extends Approvals {
  expireSession(session: string): void;
  /** Removes those that were over before; returns how many. */
  prune(before: string): number;
}

export function createMemoryApprovals(): MemoryApprovals {
  const approvals = new Map<string, ApprovalRecord>();
  const isWaiting = ({ state }: ApprovalRecord) => state === 'pending' || state === 'granted';
  const change = (approval: ApprovalRecord, changed: Partial<ApprovalRecord>) => {
    const now = { ...approval, ...changed };
    approvals.set(approval.id, now);
    return now;
  };

  return {
    async request(approval, mostPending = Number.POSITIVE_INFINITY) {
      const [open] = [...approvals.values()]
        .filter((one) => isOpenFor(one, approval))
        .sort((one, other) => rankFor(one, approval) - rankFor(other, approval) || newestFirst(one, other));
      if (open) return open;
      const isPending = (one: ApprovalRecord) =>
        one.state === 'pending' && one.user === approval.user && one.expiresAt > approval.requestedAt;
      if ([...approvals.values()].filter(isPending).length >= mostPending) return undefined;
      approvals.set(approval.id, approval);
      return approval;
    },
    async get(id) {
      return approvals.get(id);
    },
    async list({ session, user, tool, since, state, limit }) {
      return [...approvals.values()]
        .filter(
          (one) =>
            (session ?? one.session) === one.session &&
            (user ?? one.user) === one.user &&
            (tool ?? one.tool) === one.tool &&
            (state ?? one.state) === one.state &&
            one.requestedAt >= (since ?? ''),
        )
        .sort(newestFirst)
        .slice(0, limit);
    },
    async decide(id, { granted, ...decision }) {
      const approval = approvals.get(id);
      if (approval?.state !== 'pending' || approval.expiresAt <= decision.decidedAt) return false;
      change(approval, { ...decision, ...(granted ? { granted } : {}) });
      return true;
    },
    async use(id, at) {
      const approval = approvals.get(id);
      if (approval?.state !== 'granted' || approval.expiresAt <= at) return false;
      change(approval, { usedAt: at, state: approval.grant === 'once' ? 'used' : 'granted' });
      return true;
    },
    async expire(at) {
      return [...approvals.values()]
        .filter((one) => isWaiting(one) && one.expiresAt <= at)
        .map((one) => change(one, { state: 'expired' }));
    },
    prune(before) {
      const old = [...approvals.values()].filter((one) => one.requestedAt < before && one.expiresAt < before);
      for (const { id } of old) approvals.delete(id);
      return old.length;
    },
    expireSession(session) {
      for (const one of approvals.values())
        if (one.session === session && isWaiting(one)) change(one, { state: 'expired' });
    },
  };
}

function newestFirst(one: ApprovalRecord, other: ApprovalRecord): number {
  return compare(other.requestedAt, one.requestedAt) || compare(one.id, other.id);
}

function isOpenFor(one: ApprovalRecord, asked: ApprovalRecord): boolean {
  const isAlike = (['session', 'tool', 'policyVersion'] as const).every((name) => one[name] === asked[name]);
  const isNamed = [one.argumentsHash, one.granted?.argumentsHash].includes(asked.argumentsHash);
  return isAlike && isNamed && OPEN.has(one.state) && one.expiresAt > asked.requestedAt;
}

/** 0: a call as asked may use it; 1: one may, or not, once it is decided or looked at; 2: it is for other arguments. */
function rankFor({ argumentsHash, granted, state }: ApprovalRecord, asked: ApprovalRecord): number {
  if ((granted?.argumentsHash ?? argumentsHash) !== asked.argumentsHash) return 2;
  return state === 'granted' ? 0 : 1;
}
