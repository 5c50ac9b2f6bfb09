/** Sessions and their enablements. All changes except counts first write the session's row, which serializes them. */
import { type Kysely, sql, type Transaction } from 'kysely';
import type { EnablementRecord, Enabling, EndedWith, SessionRecord, Sessions } from '../store.js';
import { type EnablementsTable, type Tables, toApproval, toRecord, toRow, type WaitForUser } from './tables.js';

const MAX_REMOVED = 500;

export function createSqlSessions(database: Kysely<Tables>, waitForUser: WaitForUser): Sessions {
  return {
    create: (session, mostOpen) =>
      database.transaction().execute(async (transaction) => {
        if (mostOpen !== undefined && session.user !== undefined) {
          await waitForUser(transaction, session.user);
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
        return row && (await clear(transaction, [id]))(id);
      }),

    removeIdle: (before) =>
      database.transaction().execute(async (transaction) => {
        const idle = await transaction
          .deleteFrom('sessions')
          .where('id', 'in', (from) =>
            from.selectFrom('sessions').select('id').where('activeAt', '<', before).limit(MAX_REMOVED),
          )
          // The session may have become active since.
          .where('activeAt', '<', before)
          .returningAll()
          .execute();
        if (idle.length === 0) return [];
        const endedWith = await clear(
          transaction,
          idle.map(({ id }) => id),
        );
        return idle.map((row) => ({ session: toSession(row), ...endedWith(row.id) }));
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
        for (const { once, calls, ...rest } of merged.changed) {
          const row = { ...rest, once: Number(once) };
          // Concurrent calls may count on a live enablement.
          const change = merged.live.has(row.tool) ? row : { ...row, calls };
          await transaction
            .insertInto('enablements')
            .values({ session: id, ...row, calls })
            .onConflict((conflict) => conflict.columns(['session', 'tool']).doUpdateSet(change))
            .execute();
        }
        return { overLimit: merged.overLimit };
      }),

    disable: (id, tools) =>
      database.transaction().execute(async (transaction) => {
        if (tools.length === 0) return [];
        await transaction.updateTable('sessions').set({ turn: sql<number>`turn` }).where('id', '=', id).execute();
        const rows = await transaction
          .deleteFrom('enablements')
          .where('session', '=', id)
          .where('tool', 'in', [...tools])
          .returningAll()
          .execute();
        return rows.map(toEnablement);
      }),

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

    async uncountCall(id, tool) {
      await database
        .updateTable('enablements')
        .set({ calls: sql<number>`calls - 1` })
        .where('session', '=', id)
        .where('tool', '=', tool)
        .where('calls', '>', 0)
        .execute();
    },
  };
}

/** Removes what ends with a session. */
async function clear(transaction: Transaction<Tables>, ids: string[]): Promise<(id: string) => EndedWith> {
  await transaction.deleteFrom('calls').where('session', 'in', ids).execute();
  const approvals = await transaction
    .updateTable('approvals')
    .set({ state: 'expired' })
    .where('session', 'in', ids)
    .where('state', 'in', ['pending', 'granted'])
    .returningAll()
    .execute();
  const ended = await transaction.deleteFrom('enablements').where('session', 'in', ids).returningAll().execute();
  return (id) => ({
    ended: ended.filter(({ session }) => session === id).map(toEnablement),
    approvals: approvals.filter(({ session }) => session === id).map(toApproval),
  });
}

function toSession(row: Tables['sessions']): SessionRecord {
  return toRecord<SessionRecord>(row);
}

function toEnablement({ session: _, once, ...row }: EnablementsTable): EnablementRecord {
  return { ...row, once: once === 1 };
}

/** Merges new enablements into existing ones: adds and prolongs, never shortens, up to the limit. */
function mergeEnablements(
  present: readonly EnablementRecord[],
  added: Enabling['enablements'],
  { limit, turn }: { limit: number; turn: number },
) {
  const isLive = (one: EnablementRecord) => one.untilTurn >= turn && (!one.once || one.calls === 0);
  const before = new Map(present.filter(isLive).map((one) => [one.tool, one]));
  const live = new Map(before);
  const changed: EnablementRecord[] = [];
  const overLimit: string[] = [];
  for (const one of added) {
    const known = live.get(one.tool);
    if (!known && live.size >= limit) {
      overLimit.push(one.tool);
      continue;
    }
    const now = known ? prolong(known, one) : { ...one, calls: 0 };
    live.set(one.tool, now);
    changed.push(now);
  }
  return { changed, overLimit, live: before };
}

function prolong(before: EnablementRecord, { tool, via, untilTurn, once }: Enabling['enablements'][number]) {
  return {
    tool,
    // A tool requested by name is no longer a companion.
    via: via === 'asked' ? via : before.via,
    untilTurn: Math.max(before.untilTurn, untilTurn),
    once: before.once && once,
    calls: before.calls,
  };
}
