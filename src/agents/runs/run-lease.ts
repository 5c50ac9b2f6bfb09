/** The lease of a run in the store: one process at a time runs it, and one that stood still for too long notices at its next write. */
import { randomUUID } from 'node:crypto';
import { WinnowError } from '../../core/errors.js';
import type { PlanRuns } from '../store/sql/plan-runs.js';
import type { LeasedRun } from '../store/store.js';

export interface LeaseOptions {
  /** Stores the run, so that it can be resumed. Default: not stored. */
  store?: PlanRuns | undefined;
  /** How long a crashed process keeps its run, in milliseconds. Default: 30,000. */
  leaseMs?: number | undefined;
  /** Called when another process has taken the run: nothing more may be done or written. */
  onLost: () => void;
}

const DEFAULT_LEASE_MS = 30_000;

export interface Lease {
  /** Changes the store as its owner. @throws WinnowError `conflict` where another process has taken the run */
  write(work: (runs: PlanRuns, own: LeasedRun) => Promise<boolean>): Promise<void>;
  /** Renews the lease. @throws WinnowError `conflict` where another process has taken the run */
  confirm(): Promise<void>;
  release(): Promise<void>;
}

/** How often a lease is renewed within its duration. */
const RENEWALS = 3;

/** @throws WinnowError `conflict` while another process runs it */
export async function takeLease(
  id: string,
  { store, leaseMs = DEFAULT_LEASE_MS, onLost }: LeaseOptions,
): Promise<Lease> {
  const own = { id, owner: randomUUID() };
  let isLost = false;
  const after = (milliseconds: number) => new Date(Date.now() + milliseconds).toISOString();
  if (store && !(await store.claim(own, { at: after(0), until: after(leaseMs) })))
    throw new WinnowError('conflict', `The plan run "${id}" is run by another process. Wait until it ends.`);
  const lose = () => {
    isLost = true;
    onLost();
  };
  const write: Lease['write'] = async (work) => {
    // Another process may have taken the run while this one stood still, so that only the store knows.
    if (!isLost && (!store || (await work(store, own)))) return;
    lose();
    const why = 'it stood still, or could not reach the store, for too long';
    throw new WinnowError('conflict', `This process has lost the plan run "${id}": ${why}. Read how it goes on.`);
  };
  const confirm = () => write((runs) => runs.renew(own, after(leaseMs)));
  const timer = store && setInterval(() => void confirm().catch(lose), leaseMs / RENEWALS).unref();
  return {
    write,
    confirm,
    async release() {
      clearInterval(timer);
      const isOurs = !isLost;
      isLost = true;
      if (isOurs) await store?.renew(own, after(0));
    },
  };
}
