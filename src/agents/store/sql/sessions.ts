/** Sessions and what is enabled in them. Every change begins with a write to the session's row, which others wait for. */
import { type Kysely, sql, type Transaction } from 'kysely';
import { mergeEnablements } from '../enabling.js';
import type { EnablementRecord, SessionRecord, Sessions } from '../store.js';
import { orNull, parseTexts, present, toJson } from './rows.js';
import type { EnablementsTable, SessionsTable, Tables } from './tables.js';

const MAX_REMOVED = 500;

export function createSqlSessions(database: Kysely<Tables>): Sessions {
  return {
    create: (session, mostOpen) =>
      database.transaction().execute(async (transaction) => {
        if (mostOpen !== undefined && session.user !== undefined) {
          const { open } = await transaction
            .selectFrom('sessions')
            .select((select) => select.fn.countAll<number>().as('open'))
            .where('user', '=', session.user)
            .where('endedAt', 'is', null)
            .executeTakeFirstOrThrow();
          if (open >= mostOpen) return false;
        }
        await transaction.insertInto('sessions').values(toRow(session)).execute();
        return true;
      }),

    async get(id) {
      const row = await database.selectFrom('sessions').selectAll().where('id', '=', id).executeTakeFirst();
      return row && toSession(row);
    },

    async list({ user, limit }) {
      const all = database.selectFrom('sessions').selectAll().orderBy('createdAt', 'desc').orderBy('id').limit(limit);
      const rows = await (user === undefined ? all : all.where('user', '=', user)).execute();
      return rows.map(toSession);
    },

    beginTurn: (id, at) =>
      database.transaction().execute(async (transaction) => {
        const row = await transaction
          .updateTable('sessions')
          .set({ turn: sql<number>`turn + 1`, activeAt: at })
          .where('id', '=', id)
          .where('endedAt', 'is', null)
          .returning('turn')
          .executeTakeFirst();
        if (!row) return undefined;
        const ended = await transaction
          .deleteFrom('enablements')
          .where('session', '=', id)
          .where('untilTurn', '<', row.turn)
          .returningAll()
          .execute();
        return { turn: row.turn, ended: ended.map(toEnablement) };
      }),

    async touch(id, at) {
      await database.updateTable('sessions').set({ activeAt: at }).where('id', '=', id).execute();
    },

    end: (id, at) =>
      database.transaction().execute(async (transaction) => {
        const row = await transaction
          .updateTable('sessions')
          .set({ endedAt: at, activeAt: at })
          .where('id', '=', id)
          .where('endedAt', 'is', null)
          .returning('id')
          .executeTakeFirst();
        return row && { ended: (await clear(transaction, [id])).map(toEnablement) };
      }),

    removeIdle: (before) =>
      database.transaction().execute(async (transaction) => {
        const idle = await transaction
          .deleteFrom('sessions')
          .where('id', 'in', (from) =>
            from.selectFrom('sessions').select('id').where('activeAt', '<', before).limit(MAX_REMOVED),
          )
          .returningAll()
          .execute();
        const ids = idle.map(({ id }) => id);
        const ended = ids.length > 0 ? await clear(transaction, ids) : [];
        return idle.map((row) => ({
          session: toSession(row),
          ended: ended.filter(({ session }) => session === row.id).map(toEnablement),
        }));
      }),

    async enablements(id) {
      const rows = await database
        .selectFrom('enablements')
        .innerJoin('sessions', 'sessions.id', 'enablements.session')
        .selectAll('enablements')
        .where('session', '=', id)
        .whereRef('untilTurn', '>=', 'sessions.turn')
        .orderBy('tool')
        .execute();
      return rows.map(toEnablement);
    },

    enable: (id, { enablements, limit, at }) =>
      database.transaction().execute(async (transaction) => {
        const session = await transaction
          .updateTable('sessions')
          .set({ activeAt: at })
          .where('id', '=', id)
          .where('endedAt', 'is', null)
          .returning('turn')
          .executeTakeFirst();
        if (!session) return undefined;
        const rows = await transaction.selectFrom('enablements').selectAll().where('session', '=', id).execute();
        const merged = mergeEnablements(rows.map(toEnablement), enablements, { limit, turn: session.turn });
        for (const { once, ...rest } of merged.changed) {
          const row = { ...rest, once: Number(once) };
          await transaction
            .insertInto('enablements')
            .values({ session: id, ...row })
            .onConflict((conflict) => conflict.columns(['session', 'tool']).doUpdateSet(row))
            .execute();
        }
        return { overLimit: merged.overLimit };
      }),

    async disable(id, tools) {
      if (tools.length === 0) return [];
      const rows = await database
        .deleteFrom('enablements')
        .where('session', '=', id)
        .where('tool', 'in', [...tools])
        .returningAll()
        .execute();
      return rows.map(toEnablement);
    },

    async countCall(id, tool) {
      const row = await database
        .updateTable('enablements')
        .set({ calls: sql<number>`calls + 1` })
        .where('session', '=', id)
        .where('tool', '=', tool)
        .where((where) => where.or([where('once', '=', 0), where('calls', '=', 0)]))
        .where('untilTurn', '>=', (from) =>
          from.selectFrom('sessions').select('turn').where('id', '=', id).where('endedAt', 'is', null),
        )
        .returning('tool')
        .executeTakeFirst();
      return row !== undefined;
    },
  };
}

/** Takes away what ends with its session. */
async function clear(transaction: Transaction<Tables>, ids: string[]): Promise<EnablementsTable[]> {
  await transaction.deleteFrom('calls').where('session', 'in', ids).execute();
  await transaction
    .updateTable('approvals')
    .set({ state: 'expired' })
    .where('session', 'in', ids)
    .where('state', 'in', ['pending', 'granted'])
    .execute();
  return transaction.deleteFrom('enablements').where('session', 'in', ids).returningAll().execute();
}

function toRow(session: SessionRecord): SessionsTable {
  const { user, project, riskCeiling, endedAt, roles, ...rest } = session;
  return {
    ...rest,
    roles: toJson(roles),
    user: orNull(user),
    project: orNull(project),
    riskCeiling: orNull(riskCeiling),
    endedAt: orNull(endedAt),
  };
}

function toSession(row: SessionsTable): SessionRecord {
  return { ...present(row), roles: parseTexts(row.roles) };
}

function toEnablement({ session: _, once, ...row }: EnablementsTable): EnablementRecord {
  return { ...row, once: once === 1 };
}
