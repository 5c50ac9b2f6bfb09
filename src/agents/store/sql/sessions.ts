/** Sessions and their enablements. All changes except counts first write the session's row, which serializes them. */
import { type Kysely, sql, type Transaction } from 'kysely';
import type { EnablementRecord, Enabling, EndedWith, SessionRecord } from '../store.js';
import { type EnablementsTable, type Tables, toApproval, toRecord, toRow, type WaitForUser } from './tables.js';

const MAX_REMOVED = 500;

export type Sessions = ReturnType<typeof createSqlSessions>;

export function createSqlSessions(database: Kysely<Tables>, waitForUser: WaitForUser) {
  return {
    /** @param mostOpen limit of the user's open sessions; false where it is reached. Default: no limit */
    create: (session: SessionRecord, mostOpen?: number): Promise<boolean> =>
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

    async get(id: string): Promise<SessionRecord | undefined> {
      const row = await database.selectFrom('sessions').selectAll().where('id', '=', id).executeTakeFirst();
      return row && toSession(row);
    },

    /** Newest first. */
    async list({ user, limit }: { user?: string | undefined; limit: number }): Promise<SessionRecord[]> {
      const all = database.selectFrom('sessions').selectAll().orderBy('createdAt', 'desc').orderBy('id').limit(limit);
      const rows = await (user === undefined ? all : all.where('user', '=', user)).execute();
      return rows.map(toSession);
    },

    /** Begins the next turn and ends expired enablements. Undefined: there is no such open session. */
    beginTurn: (id: string, at: string) =>
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

    async touch(id: string, at: string): Promise<void> {
      await database.updateTable('sessions').set({ activeAt: at }).where('id', '=', id).execute();
    },

    /** Also removes its enablements and expires its open approvals. Undefined: it was not open. */
    end: (id: string, at: string): Promise<EndedWith | undefined> =>
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

    /** Removes sessions idle since `before`, up to 500 at a time, with all their records except the audit. */
    removeIdle: (before: string): Promise<(EndedWith & { readonly session: SessionRecord })[]> =>
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

    /** Enablements of the current turn, sorted by name. */
    async enablements(id: string): Promise<EnablementRecord[]> {
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

    /**
     * Adds and prolongs, never shortens; `once` can become lasting. Undefined: the session is not open.
     * @returns the names that are over the limit
     */
    enable: (id: string, { enablements, limit, at }: Enabling): Promise<{ overLimit: string[] } | undefined> =>
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

    /** Returns the removed enablements. */
    disable: (id: string, tools: readonly string[]): Promise<EnablementRecord[]> =>
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

    /** Counts a call of an enabled tool; false when it is not enabled, which limits `once` to one call. */
    async countCall(id: string, tool: string): Promise<boolean> {
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

    /** Undoes the count of a call that was not made. */
    async uncountCall(id: string, tool: string): Promise<void> {
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
