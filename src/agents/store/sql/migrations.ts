/**
 * The versions of the tables. Published migrations never change; new ones get a name that sorts after the last. All
 * work on SQLite and PostgreSQL.
 */
import {
  type CreateTableBuilder,
  type Kysely,
  type Migration,
  type MigrationProvider,
  Migrator,
  type RawBuilder,
  sql,
} from 'kysely';
import { messageOf, WinnowError } from '../../../core/errors.js';
import { ROW_BYTES, type Tables } from './tables.js';

export type Dialect = 'sqlite' | 'postgres';

/** @throws WinnowError `store_failed`, also for a database of a newer version of Winnow. */
export async function migrate(database: Kysely<Tables>, dialect: Dialect): Promise<void> {
  const provider: MigrationProvider = {
    getMigrations: async () => ({
      '0001-first': first(dialect),
      '0002-sources': sources,
      '0003-session-users': sessionUsers,
      '0004-runs': runs,
      '0005-granted': granted(dialect),
      '0006-answers': answers(dialect),
      '0007-approved-plans': approvedPlans,
      '0008-summaries': summaries,
    }),
  };
  const { error } = await new Migrator({ db: database, provider }).migrateToLatest();
  if (error === undefined) return;
  if (error instanceof WinnowError) throw error;
  const message = messageOf(error);
  throw new WinnowError(
    'store_failed',
    `The tables of the store can't be brought to this version: ${message}. A store of a newer Winnow needs that version.`,
    { cause: error },
  );
}

function first(dialect: Dialect): Migration {
  const { texts, nullableTexts, integers, place } = columnsOf(dialect);
  return {
    async up(database: Kysely<Tables>): Promise<void> {
      const { schema } = database;
      await schema
        .createTable('sessions')
        .$call(texts('id', 'roles', 'createdAt', 'activeAt'))
        .$call(nullableTexts('user', 'project', 'riskCeiling', 'endedAt'))
        .addColumn('turn', 'integer', (column) => column.notNull())
        .addPrimaryKeyConstraint('sessions_key', ['id'])
        .execute();
      await schema.createIndex('sessions_active').on('sessions').column('activeAt').execute();
      await schema
        .createTable('enablements')
        .$call(texts('session', 'tool', 'via'))
        .$call(integers('untilTurn', 'once', 'calls'))
        .addPrimaryKeyConstraint('enablements_key', ['session', 'tool'])
        .execute();
      await schema
        .createTable('approvals')
        .$call(texts('id', 'session', 'user', 'tool', 'arguments', 'argumentsHash', 'policyVersion', 'state', 'grant'))
        .$call(texts('reason', 'requestedAt', 'expiresAt'))
        .$call(nullableTexts('decidedBy', 'decidedAt', 'usedAt'))
        .addPrimaryKeyConstraint('approvals_key', ['id'])
        .execute();
      await schema
        .createIndex('approvals_bound')
        .on('approvals')
        .columns(['session', 'tool', 'argumentsHash', 'policyVersion'])
        .execute();
      await schema.createIndex('approvals_open').on('approvals').columns(['state', 'expiresAt']).execute();
      await schema
        .createTable('audit')
        .$call(place)
        .$call(texts('at', 'event', 'outcome'))
        .$call(nullableTexts('session', 'user', 'tool', 'code', 'reason', 'argumentsHash', 'approval', 'policyVersion'))
        .addColumn('turn', 'integer')
        .execute();
      await schema.createIndex('audit_session').on('audit').column('session').execute();
      await schema
        .createTable('telemetry')
        .$call(place)
        .$call(texts('at', 'type', 'session', 'content'))
        .$call(nullableTexts('user', 'project', 'tool'))
        .execute();
      await schema.createIndex('telemetry_at').on('telemetry').column('at').execute();
      await schema
        .createTable('calls')
        .$call(place)
        .$call(texts('session', 'tool', 'at', 'values'))
        .$call(integers('turn'))
        .execute();
      await schema.createIndex('calls_session').on('calls').columns(['session', 'tool']).execute();
      await schema
        .createTable('documents')
        .$call(texts('collection', 'owner', 'name', 'content', 'updatedAt'))
        .addPrimaryKeyConstraint('documents_key', ['collection', 'owner', 'name'])
        .execute();
      await schema
        .createTable('weights')
        .$call(texts('level', 'subject', 'kind', 'key', 'state', 'details', 'updatedAt'))
        .$call(integers('evidence'))
        .addColumn('value', 'double precision', (column) => column.notNull())
        .addPrimaryKeyConstraint('weights_key', ['level', 'subject', 'kind', 'key'])
        .execute();
      await schema
        .createTable('planRuns')
        .$call(texts('id', 'plan', 'state', 'createdAt', 'updatedAt'))
        .$call(nullableTexts('session', 'user', 'leaseOwner', 'leaseUntil'))
        .addPrimaryKeyConstraint('plan_runs_key', ['id'])
        .execute();
      await schema
        .createTable('planSteps')
        .$call(texts('run', 'step', 'state', 'updatedAt'))
        .addPrimaryKeyConstraint('plan_steps_key', ['run', 'step'])
        .execute();
    },
  };
}

/** Sources of arguments; null in older rows. */
const sources: Migration = {
  async up({ schema }: Kysely<Tables>): Promise<void> {
    for (const table of ['approvals', 'audit']) await schema.alterTable(table).addColumn('sources', 'text').execute();
  },
};

/** An index, since each new session counts its user's open ones. */
const sessionUsers: Migration = {
  async up({ schema }: Kysely<Tables>): Promise<void> {
    await schema.createIndex('sessions_user').on('sessions').columns(['user', 'endedAt']).execute();
  },
};

/** Where the call goes; null in older rows. */
const runs: Migration = {
  async up({ schema }: Kysely<Tables>): Promise<void> {
    await schema.alterTable('approvals').addColumn('runs', 'text').execute();
  },
};

/** Arguments that were granted in place of those asked for, and their hash; otherwise null. */
function granted(dialect: Dialect): Migration {
  return {
    async up({ schema }: Kysely<Tables>): Promise<void> {
      await schema.alterTable('approvals').addColumn('granted', 'text').execute();
      await schema.alterTable('approvals').addColumn('grantedHash', textOf(dialect)).execute();
      const bound = ['session', 'tool', 'grantedHash', 'policyVersion'];
      await schema.createIndex('approvals_granted').on('approvals').columns(bound).execute();
    },
  };
}

function answers(dialect: Dialect): Migration {
  const { texts, nullableTexts, integers } = columnsOf(dialect);
  return {
    async up({ schema }: Kysely<Tables>): Promise<void> {
      await schema
        .createTable('answers')
        .$call(texts('owner', 'key', 'requestHash', 'createdAt', 'until'))
        .$call(nullableTexts('content'))
        .$call(integers('bytes'))
        .addPrimaryKeyConstraint('answers_key', ['owner', 'key'])
        .execute();
      await schema.createIndex('answers_created').on('answers').column('createdAt').execute();
    },
  };
}

/** What the approval of a whole plan shows; otherwise null. */
const approvedPlans: Migration = {
  async up({ schema }: Kysely<Tables>): Promise<void> {
    await schema.alterTable('approvals').addColumn('plan', 'text').execute();
  },
};

/**
 * What lists show beside what they do not read, what a run takes, and which version of a document it is; null in older
 * rows, but for the bytes. The indexes hold what picks rows, so that picking them reads no plan, argument or content.
 */
const summaries: Migration = {
  async up(database: Kysely<Tables>): Promise<void> {
    const { schema } = database;
    for (const table of ['planRuns', 'documents'])
      await schema.alterTable(table).addColumn('summary', 'text').execute();
    await schema.alterTable('documents').addColumn('version', 'text').execute();
    await schema
      .alterTable('planRuns')
      .addColumn('bytes', 'integer', (column) => column.notNull().defaultTo(0))
      .execute();
    await sql`update plan_runs set bytes = ${sql.lit(ROW_BYTES)} + octet_length("plan") + coalesce(
      (select sum(octet_length("state")) from plan_steps where plan_steps."run" = plan_runs."id"), 0)`.execute(
      database,
    );
    const index = (name: string, table: string, columns: readonly string[]) =>
      schema
        .createIndex(name)
        .on(table)
        .columns([...columns])
        .execute();
    await index('approvals_listed', 'approvals', ['requestedAt', 'id', 'state', 'session']);
    await index('approvals_user', 'approvals', ['user', 'requestedAt', 'id', 'state', 'session']);
    await index('approvals_last', 'approvals', ['user', 'tool', 'decidedAt']);
    await index('plan_runs_listed', 'planRuns', ['createdAt', 'id', 'state', 'session']);
    await index('plan_runs_user', 'planRuns', ['user', 'createdAt', 'id', 'state', 'session', 'bytes']);
    await index('documents_versions', 'documents', ['collection', 'owner', 'name', 'updatedAt', 'version']);
  },
};

type Builder = CreateTableBuilder<string, string>;

/** Byte order, as in SQLite: instants and names must sort the same in every database. */
function textOf(dialect: Dialect): RawBuilder<unknown> {
  return dialect === 'sqlite' ? sql`text` : sql`text collate "C"`;
}

function columnsOf(dialect: Dialect) {
  const text = textOf(dialect);
  const add =
    (type: RawBuilder<unknown>, isNullable = false) =>
    (...names: string[]) =>
    (table: Builder): Builder =>
      names.reduce(
        (rest, name) => rest.addColumn(name, type, (column) => (isNullable ? column : column.notNull())),
        table,
      );
  return {
    texts: add(text),
    nullableTexts: add(text, true),
    integers: add(sql`integer`),
    /** A number that grows with every row: the order of writes. */
    place: (table: Builder): Builder =>
      dialect === 'sqlite'
        ? table.addColumn('place', 'integer', (column) => column.primaryKey().autoIncrement())
        : table.addColumn('place', 'bigserial', (column) => column.primaryKey()),
  };
}
