/** Whether the server can do its work now: what it needs is tried, each thing once for all who ask within a while. */

import { orAborted, WinnowError } from '../../core/errors.js';

export interface Check {
  /** Throws where it can't. */
  readonly run: () => Promise<unknown>;
  /** How long its outcome holds, in milliseconds. */
  readonly holdsMs: number;
  /** How long it is waited for, in milliseconds. Default: until it ends. */
  readonly withinMs?: number;
}

/** @returns a function that throws what the first check throws that fails, `store_failed` where it takes too long */
export function createReadiness(
  checks: readonly Check[],
  now: () => number = () => performance.now(),
): () => Promise<void> {
  const kept = checks.map(({ run, holdsMs, withinMs }) => {
    let last: { outcome: Promise<unknown>; at: number } | undefined;
    return async (): Promise<void> => {
      if (!last || now() - last.at >= holdsMs) last = { outcome: endsWithin(run(), withinMs), at: now() };
      await last.outcome;
    };
  });
  return async () => {
    for (const check of kept) await check();
  };
}

async function endsWithin(outcome: Promise<unknown>, withinMs: number | undefined): Promise<unknown> {
  if (withinMs === undefined) return outcome;
  const signal = AbortSignal.timeout(withinMs);
  return orAborted(outcome, signal).catch((error: unknown) => {
    if (error !== signal.reason) throw error;
    throw new WinnowError('store_failed', `The store has not answered for ${withinMs / 1000} s.`, { cause: error });
  });
}
