/** Records for tests, from what a test is about. */
import type { Store } from '../../../src/agents/store/sql/sql-store.js';
import type { ApprovalRecord, SessionRecord } from '../../../src/agents/store/store.js';

export const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString();

export function session(id: string, more: Partial<SessionRecord> = {}): SessionRecord {
  return { id, roles: [], turn: 1, createdAt: at(0), activeAt: at(0), ...more };
}

export function approval(id: string, more: Partial<ApprovalRecord> = {}): ApprovalRecord {
  return {
    id,
    session: 's',
    user: 'ann',
    tool: 'deploy',
    arguments: { to: 'test', deep: [1, null, '中文'] },
    argumentsHash: 'hash',
    policyVersion: 'one',
    state: 'pending',
    grant: 'once',
    reason: 'high risk',
    requestedAt: at(0),
    expiresAt: at(15),
    ...more,
  };
}

/** What the audit says, oldest first, without ids and times. */
export async function auditIn({ journal }: Pick<Store, 'journal'>): Promise<object[]> {
  return (await journal.audit({ limit: 100 })).reverse().map(({ id: _, at: __, ...entry }) => entry);
}
