/** Whether the server can do its work now: what it needs is tried, each thing once for all who ask within a while. */

export interface Check {
  /** Throws where it can't. */
  readonly run: () => Promise<unknown>;
  /** How long its outcome holds, in milliseconds. */
  readonly holdsMs: number;
}

/** @returns a function that throws what the first check throws that fails */
export function createReadiness(
  checks: readonly Check[],
  now: () => number = () => performance.now(),
): () => Promise<void> {
  const kept = checks.map(({ run, holdsMs }) => {
    let last: { outcome: Promise<unknown>; at: number } | undefined;
    return async (): Promise<void> => {
      if (!last || now() - last.at >= holdsMs) last = { outcome: run(), at: now() };
      await last.outcome;
    };
  });
  return async () => {
    for (const check of kept) await check();
  };
}
