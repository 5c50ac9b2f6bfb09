/** For how long records last. What is older goes, a part at a time, so that nobody waits for it. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { z } from 'zod';
import { parseOptions } from '../core/parse.js';
import { PRUNED_KINDS, type PrunedKind, type Store } from './store/store.js';

const days = (most: number) =>
  z
    .union([z.number().min(1).max(36_500), z.literal('forever')])
    .default(most)
    .describe(`Days. Default: ${most}.`);

export const retentionSchema = z.strictObject({
  audit: days(365),
  telemetry: days(120),
  approvals: days(90),
  runs: days(30),
});
export type RetentionInput = z.input<typeof retentionSchema>;
export type Retention = z.output<typeof retentionSchema>;

/** @throws WinnowError `invalid_option` naming each field that is wrong. */
export function parseRetention(input: unknown = {}): Retention {
  return parseOptions(retentionSchema, input, 'retention');
}

const DAY_MS = 86_400_000;
/** Days need no finer clock, and some of the tables have no index for it. */
const INTERVAL_MS = 3_600_000;

/** @returns a function that removes what is too old, at most once an hour. */
export function createRetention(store: Pick<Store, 'prune'>, retention: Retention, clock: () => Date) {
  let last: number | undefined;
  const pruneAll = async (kind: PrunedKind, before: string): Promise<void> => {
    while ((await store.prune(kind, before)) > 0) await nextTurn();
  };
  return async (): Promise<void> => {
    const now = clock().getTime();
    if (last !== undefined && Math.abs(now - last) < INTERVAL_MS) return;
    last = now;
    for (const kind of PRUNED_KINDS) {
      const most = retention[kind];
      if (most !== 'forever') await pruneAll(kind, new Date(now - most * DAY_MS).toISOString());
    }
  };
}
