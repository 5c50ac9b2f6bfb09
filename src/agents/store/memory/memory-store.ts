/** A store that lasts as long as the process: for tests, and where nothing has to last. It passes the same contract. */
import type { Store } from '../store.js';
import { createMemoryApprovals } from './approvals.js';
import { createMemoryJournal } from './journal.js';
import { createMemoryDocuments, createMemoryPlanRuns, createMemoryWeights } from './keyed.js';
import { createMemorySessions } from './sessions.js';

/** Entries of the audit, and of telemetry, that are held at least. */
const JOURNAL_LIMIT = 10_000;

export function createMemoryStore(): Store {
  const approvals = createMemoryApprovals();
  const journal = createMemoryJournal(JOURNAL_LIMIT);
  const planRuns = createMemoryPlanRuns();
  const prunes = { ...journal.prunes, approvals: approvals.prune, runs: planRuns.prune };
  return {
    approvals,
    journal,
    sessions: createMemorySessions({
      onEnd(id) {
        approvals.expireSession(id);
        journal.removeCalls(id);
      },
    }),
    privateTools: createMemoryDocuments(),
    rules: createMemoryDocuments(),
    snapshots: createMemoryDocuments(),
    definitions: createMemoryDocuments(),
    keys: createMemoryDocuments(),
    weights: createMemoryWeights(),
    planRuns,
    prune: async (kind, before) => prunes[kind](before),
    probe: async () => undefined,
    close: async () => undefined,
  };
}
