/** What one user may keep or have open. The embedding program, which has no user, has no quota. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { z } from 'zod';
import { WinnowError } from '../core/errors.js';
import { parseOptions } from '../core/parse.js';
import type { Store } from './store/sql/sql-store.js';
import { PRUNED_KINDS, type PrunedKind } from './store/store.js';

const most = (byDefault: number) => z.int().min(1).max(1_000_000_000).default(byDefault);

export const quotasSchema = z.strictObject({
  sessions: most(1_000).describe('Sessions that are open at a time.'),
  connections: most(64).describe('Connections of MCP; one more closes the oldest idle one.'),
  pendingApprovals: most(100).describe('Approvals that are still undecided.'),
  approvalBytes: most(65_536).describe('Arguments of a call that needs approval, as JSON.'),
  privateToolBytes: most(4_194_304).describe("All of a user's own tools together, as JSON."),
  answerBytes: most(67_108_864).describe('Answers that are kept for requests with an Idempotency-Key, as JSON.'),
  runBytes: most(16_777_216).describe('Arguments and results that one run of a plan keeps, as JSON.'),
  allRunBytes: most(268_435_456).describe(
    'What all runs of plans of a user take in the store; a new one, or one that is resumed, needs room.',
  ),
  modelTokens: z
    .strictObject({
      tokens: z.int().min(1).describe('Input and output tokens, as the model server reports them. Default: none.'),
      seconds: z
        .int()
        .min(1)
        .max(86_400)
        .default(86_400)
        .describe('Length of the period, which begins with the first use.'),
    })
    .optional()
    .describe('Tokens of models for plans and selections in a period. Default: no limit.'),
});
export type QuotasInput = z.input<typeof quotasSchema>;
export type Quotas = z.output<typeof quotasSchema>;

/** @throws WinnowError `invalid_option` naming each field that is wrong. */
export function parseQuotas(input: unknown = {}): Quotas {
  return parseOptions(quotasSchema, input, 'quotas');
}

/** Counts what each user has under way. The embedding program, which has no user, is not counted. */
export function createUserCounts() {
  const counts = new Map<string, number>();
  return {
    of: (user: string | undefined): number => (user === undefined ? 0 : (counts.get(user) ?? 0)),
    add(user: string | undefined, change: number): void {
      if (user === undefined) return;
      const left = (counts.get(user) ?? 0) + change;
      if (left === 0) counts.delete(user);
      else counts.set(user, left);
    },
  };
}

interface Way {
  /** What the user can do, one sentence. */
  next: string;
  /** Default: unknown. */
  retryAfterSeconds?: number;
}

export function overQuota(quota: keyof Quotas, limit: number, { next, ...details }: Way): WinnowError {
  const message = `You have reached the limit of ${limit} (quotas.${quota}). ${next}`;
  return new WinnowError('quota_exceeded', message, { details });
}

// How long records are kept. Older ones are removed in small batches, so that requests don't wait.

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
  answers: days(1).describe('Days for answers to requests with an Idempotency-Key. Default: 1.'),
});
export type RetentionInput = z.input<typeof retentionSchema>;
type Retention = z.output<typeof retentionSchema>;

/** @throws WinnowError `invalid_option` naming each field that is wrong. */
export function parseRetention(input: unknown = {}): Retention {
  return parseOptions(retentionSchema, input, 'retention');
}

const DAY_MS = 86_400_000;
/** Retention is in days, so hourly is enough; some of the tables have no index on time. */
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
