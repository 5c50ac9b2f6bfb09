/** How much one user may take of what lasts or is open. The embedding program, which has no user, has no quota. */
import { z } from 'zod';
import { WinnowError } from '../core/errors.js';
import { parseOptions } from '../core/parse.js';

const most = (byDefault: number) => z.int().min(1).max(1_000_000_000).default(byDefault);

export const quotasSchema = z.strictObject({
  sessions: most(1_000).describe('Sessions that are open at a time.'),
  connections: most(64).describe('Connections of MCP; one more ends the oldest that waits for nothing.'),
  pendingApprovals: most(100).describe('Approvals that nobody has decided yet.'),
  approvalBytes: most(65_536).describe('Arguments of a call that needs approval, as JSON.'),
  privateToolBytes: most(4_194_304).describe("All of a user's own tools together, as JSON."),
  runBytes: most(16_777_216).describe('Results that one run of a plan keeps, as JSON.'),
});
export type QuotasInput = z.input<typeof quotasSchema>;
export type Quotas = z.output<typeof quotasSchema>;

/** @throws WinnowError `invalid_option` naming each field that is wrong. */
export function parseQuotas(input: unknown = {}): Quotas {
  return parseOptions(quotasSchema, input, 'quotas');
}

/** @param next what the user can do, one sentence */
export function overQuota(quota: keyof Quotas, limit: number, next: string): WinnowError {
  return new WinnowError('quota_exceeded', `You have reached the limit of ${limit} (quotas.${quota}). ${next}`);
}
