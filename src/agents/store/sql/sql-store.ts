/**
 * A store over an open database. Fulfilled writes are durable. Operations that processes can race for are atomic and
 * return who won.
 */
import { type Kysely, sql } from 'kysely';
import type { PrunedKind } from '../store.js';
import { createSqlApprovals } from './approvals.js';
import { createSqlJournal } from './journal.js';
import { createSqlAnswers, createSqlDocuments, createSqlWeights } from './keyed-records.js';
import { type Dialect, migrate } from './migrations.js';
import { createSqlPlanRuns } from './plan-runs.js';
import { createSqlSessions } from './sessions.js';
import type { Tables, WaitForUser } from './tables.js';

export type Store = Awaited<ReturnType<typeof createSqlStore>>;

/**
 * @param dialect migrates the tables first. Undefined: they are up to date
 * @throws WinnowError `store_failed`
 */
export async function createSqlStore(database: Kysely<Tables>, dialect?: Dialect) {
  try {
    if (dialect) await migrate(database, dialect);
  } catch (error) {
    await database.destroy();
    throw error;
  }
  const waitForUser = WAIT_FOR_USER[dialect ?? 'sqlite'];
  const documents = (collection: string) => createSqlDocuments(database, collection, waitForUser);
  const probes = documents('probes');
  let closing: Promise<void> | undefined;
  return {
    sessions: createSqlSessions(database, waitForUser),
    approvals: createSqlApprovals(database, waitForUser),
    journal: createSqlJournal(database),
    privateTools: documents('private_tools'),
    rules: documents('rules'),
    snapshots: documents('snapshots'),
    /** Accepted definitions of tools, by origin and name. */
    definitions: documents('definitions'),
    /** Users' kept plans, by name. */
    plans: documents('plans'),
    /** Sealed tokens of users for MCP servers, by server, and authorizations that have begun. */
    connections: documents('connections'),
    begunConnections: documents('begun_connections'),
    /** Secret keys that the servers generate; never shown. */
    keys: documents('keys'),
    weights: createSqlWeights(database),
    planRuns: createSqlPlanRuns(database, waitForUser),
    answers: createSqlAnswers(database, waitForUser),
    /**
     * Removes a batch of older records: approvals by expiry, plan runs by last activity, all else by creation. Returns
     * how many; 0: none is left.
     */
    prune: (kind: PrunedKind, before: string): Promise<number> => PRUNE[kind](database, before),
    /** Makes a test write, which detects a full disk or missing rights. @throws WinnowError `store_failed` */
    probe: (): Promise<void> =>
      probes.put({ owner: '', name: 'probe', content: null, updatedAt: new Date().toISOString() }),
    /** Idempotent. */
    close: (): Promise<void> => {
      closing ??= database.destroy();
      return closing;
    },
  };
}

/** SQLite has only one write transaction at a time, so it needs no lock. */
const WAIT_FOR_USER: Readonly<Record<Dialect, WaitForUser>> = {
  sqlite: async () => undefined,
  postgres: (transaction, user) => sql`select pg_advisory_xact_lock(hashtextextended(${user}, 0))`.execute(transaction),
};

const MAX_REMOVED = 500;

type Prune = (database: Kysely<Tables>, before: string) => Promise<number>;

/** Each removes a batch of records older than an instant, in one short transaction, and returns how many. */
const PRUNE: Readonly<Record<PrunedKind, Prune>> = {
  audit: (database, before) => pruneJournal(database, 'audit', before),
  telemetry: (database, before) => pruneJournal(database, 'telemetry', before),

  async approvals(database, before) {
    const removed = await database
      .deleteFrom('approvals')
      .where('id', 'in', (from) =>
        from
          .selectFrom('approvals')
          .select('id')
          .where('requestedAt', '<', before)
          .where('expiresAt', '<', before)
          .limit(MAX_REMOVED),
      )
      .returning('id')
      .execute();
    return removed.length;
  },

  runs: (database, before) =>
    database.transaction().execute(async (transaction) => {
      const removed = await transaction
        .deleteFrom('planRuns')
        .where('id', 'in', (from) =>
          from.selectFrom('planRuns').select('id').where('updatedAt', '<', before).limit(MAX_REMOVED),
        )
        .where('updatedAt', '<', before)
        .returning('id')
        .execute();
      const ids = removed.map(({ id }) => id);
      if (ids.length > 0) await transaction.deleteFrom('planSteps').where('run', 'in', ids).execute();
      return ids.length;
    }),

  async answers(database, before) {
    const removed = await database
      .deleteFrom('answers')
      .where(({ eb, refTuple, selectFrom }) =>
        eb(
          refTuple('owner', 'key'),
          'in',
          selectFrom('answers')
            .select(['owner', 'key'])
            .where('createdAt', '<', before)
            .where('until', '<', before)
            .limit(MAX_REMOVED)
            .$asTuple('owner', 'key'),
        ),
      )
      .returning('key')
      .execute();
    return removed.length;
  },
};

/** Removes from the front, since places are in order of time; avoids a scan of the whole table. */
async function pruneJournal(database: Kysely<Tables>, table: 'audit' | 'telemetry', before: string): Promise<number> {
  const oldest = await database.selectFrom(table).select(['place', 'at']).orderBy('place').limit(MAX_REMOVED).execute();
  const places = oldest.filter(({ at }) => at < before).map(({ place }) => place);
  if (places.length > 0) await database.deleteFrom(table).where('place', 'in', places).execute();
  return places.length;
}
