/** Readiness of the server. Callers within a period share one outcome of each check. */

import { orAborted, WinnowError } from '../../core/errors.js';

interface Check {
  /** Throws if it fails. */
  readonly run: () => Promise<unknown>;
  /** How long its outcome holds, in milliseconds. */
  readonly holdsMs: number;
  /** Time limit, in milliseconds. Default: none. */
  readonly withinMs?: number;
}

/** @returns a function that throws the error of the first check that fails, `store_failed` after a time limit */
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
