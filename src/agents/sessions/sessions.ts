/** The life cycle of sessions. Turns end enablements; idle time ends sessions. */
import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { withoutUndefined } from '../../core/catalog/schema/json.js';
import { WinnowError } from '../../core/errors.js';
import { parseInput } from '../../core/parse.js';
import {
  type Caller,
  type CreateSessionInput,
  createSessionInputSchema,
  type ListedTool,
  type SessionView,
} from '../contracts.js';
import { toListed } from '../hand-out.js';
import { expiredEvent, type Ledger } from '../ledger.js';
import { overQuota } from '../quotas.js';
import type { Sessions as StoredSessions } from '../store/sql/sessions.js';
import type { SessionRecord } from '../store/store.js';
import { enabledTools, type ReadSituation, type Situation } from './situation.js';

interface SessionParts {
  store: StoredSessions;
  situationOf: ReadSituation;
  ledger: Ledger;
  clock: () => Date;
  sessionIdleMs: number;
  /** Most sessions that one user may have open. */
  mostOpen: number;
}

interface Ask {
  caller?: Caller | undefined;
}

const MAX_LISTED = 1_000;

export function createSessions({ store, situationOf, ledger, clock, sessionIdleMs, mostOpen }: SessionParts) {
  const now = () => clock().toISOString();

  function newSession(input: CreateSessionInput): SessionRecord {
    const { user, roles, project, riskCeiling } = parseInput(createSessionInputSchema, input);
    const begun = { turn: 1, createdAt: now(), activeAt: now() };
    return withoutUndefined({ id: randomUUID(), roles, user, project, riskCeiling, ...begun });
  }

  async function createSession(
    input: CreateSessionInput = {},
    { isForOneRequest }: { isForOneRequest?: boolean } = {},
  ): Promise<SessionView> {
    const session = newSession(input);
    if (!(await store.create(session, session.user === undefined ? undefined : mostOpen)))
      throw overQuota('sessions', mostOpen, { next: 'End a session that you do not need.' });
    const situation = await situationOf(session.id);
    await ledger.writeBegin(situation, isForOneRequest);
    return toView(situation);
  }

  return {
    createSession,

    async startingTools(owner: CreateSessionInput): Promise<ListedTool[]> {
      return enabledTools(await situationOf(newSession(owner))).map(({ tool }) => toListed(tool));
    },

    async session(id: string, ask: Ask = {}): Promise<SessionView> {
      return toView(await situationOf(id, ask.caller));
    },

    /** Newest first; open or ended, without those that were idle too long. Listing does not count as activity. */
    async sessions(query: { user?: string | undefined; limit?: number } = {}): Promise<SessionView[]> {
      const limit = Math.min(query.limit ?? 100, MAX_LISTED);
      const oldest = clock().getTime() - sessionIdleMs;
      const records = await store.list({ user: query.user, limit });
      const live = records.filter(({ activeAt }) => Date.parse(activeAt) >= oldest);
      const views: SessionView[] = [];
      for (const { id } of live) {
        views.push(toView(await situationOf(id, undefined, { isLook: true })));
        await nextTurn();
      }
      return views;
    },

    async beginTurn(id: string, ask: Ask = {}): Promise<SessionView> {
      const before = await situationOf(id, ask.caller);
      const begun = await store.beginTurn(id, now());
      if (!begun) throw ended(id);
      await ledger.write({
        situation: withTurn(before, begun.turn),
        audit: [{ event: 'turn', outcome: 'allowed' }],
        telemetry: begun.ended.map(expiredEvent),
      });
      return toView(await situationOf(id, ask.caller));
    },

    async endSession(id: string, ask: Ask = {}): Promise<SessionView> {
      const before = await situationOf(id, ask.caller);
      const done = await store.end(id, now());
      if (!done) throw ended(id);
      await ledger.writeEnd(before, done);
      return toView(await situationOf(id, ask.caller));
    },

    async removeIdle(): Promise<void> {
      const before = new Date(clock().getTime() - sessionIdleMs).toISOString();
      for (;;) {
        const removed = await store.removeIdle(before);
        if (removed.length === 0) return;
        for (const { session, ...done } of removed) await ledger.writeEnd({ session }, done, 'It was idle.');
      }
    },
  };
}

function toView(situation: Situation): SessionView {
  const { id, user, roles, project, turn, createdAt, activeAt, endedAt } = situation.session;
  const { riskCeiling } = situation;
  const enabled = endedAt === undefined ? enabledTools(situation).map(({ tool: _, ...one }) => one) : [];
  const times = { turn, createdAt, activeAt, endedAt };
  return withoutUndefined({ id, user, roles: [...roles], project, riskCeiling, ...times, enabled });
}

function withTurn(situation: Situation, turn: number): { session: SessionRecord; policy: Situation['policy'] } {
  return { policy: situation.policy, session: { ...situation.session, turn } };
}

function ended(id: string): WinnowError {
  return new WinnowError('not_found', `The session "${id.slice(0, 80)}" has ended. Open a new one.`);
}
