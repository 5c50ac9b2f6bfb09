/** A store over a database that is open: its tables are brought to this version first. */
import type { Kysely } from 'kysely';
import type { Store } from '../store.js';
import { createSqlApprovals } from './approvals.js';
import { createSqlDocuments } from './documents.js';
import { createSqlJournal } from './journal.js';
import { type Dialect, migrate } from './migrations.js';
import { createSqlPlanRuns } from './plan-runs.js';
import { pruneSql } from './prune.js';
import { createSqlSessions } from './sessions.js';
import type { Tables } from './tables.js';
import { createSqlWeights } from './weights.js';

/** @throws WinnowError `store_failed` */
export async function createSqlStore(database: Kysely<Tables>, dialect: Dialect): Promise<Store> {
  try {
    await migrate(database, dialect);
  } catch (error) {
    await database.destroy();
    throw error;
  }
  const probes = createSqlDocuments(database, 'probes');
  let closing: Promise<void> | undefined;
  return {
    sessions: createSqlSessions(database),
    approvals: createSqlApprovals(database),
    journal: createSqlJournal(database),
    privateTools: createSqlDocuments(database, 'private_tools'),
    rules: createSqlDocuments(database, 'rules'),
    snapshots: createSqlDocuments(database, 'snapshots'),
    definitions: createSqlDocuments(database, 'definitions'),
    keys: createSqlDocuments(database, 'keys'),
    weights: createSqlWeights(database),
    planRuns: createSqlPlanRuns(database),
    prune: (kind, before) => pruneSql(database, kind, before),
    probe: () => probes.put({ owner: '', name: 'probe', content: null, updatedAt: new Date().toISOString() }),
    close: () => {
      closing ??= database.destroy();
      return closing;
    },
  };
}
