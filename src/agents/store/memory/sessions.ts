/** Sessions in memory; no step waits in its middle, so each is atomic. */
import { mergeEnablements } from '../enabling.js';
import type { EnablementRecord, SessionRecord, Sessions } from '../store.js';

export interface MemorySession {
  record: SessionRecord;
  enabled: Map<string, EnablementRecord>;
}

export interface MemorySessionHooks {
  /** Told of sessions that ended or were removed. */
  onEnd(id: string): void;
}

export function createMemorySessions(hooks: MemorySessionHooks): Sessions {
  const sessions = new Map<string, MemorySession>();
  const openSession = (id: string) => {
    const session = sessions.get(id);
    return session?.record.endedAt === undefined ? session : undefined;
  };
  const takeAway = (session: MemorySession, isTaken: (one: EnablementRecord) => boolean) => {
    const taken = inOrder([...session.enabled.values()].filter(isTaken));
    for (const { tool } of taken) session.enabled.delete(tool);
    return taken;
  };

  return {
    async create(record, mostOpen = Number.POSITIVE_INFINITY) {
      const isOwn = ({ record: { user, endedAt } }: MemorySession) => user === record.user && endedAt === undefined;
      if (mostOpen !== Number.POSITIVE_INFINITY && [...sessions.values()].filter(isOwn).length >= mostOpen)
        return false;
      sessions.set(record.id, { record, enabled: new Map() });
      return true;
    },
    async get(id) {
      return sessions.get(id)?.record;
    },
    async list({ user, limit }) {
      return [...sessions.values()]
        .map(({ record }) => record)
        .filter((record) => user === undefined || record.user === user)
        .sort((one, other) => compare(other.createdAt, one.createdAt) || compare(one.id, other.id))
        .slice(0, limit);
    },
    async beginTurn(id, at) {
      const session = openSession(id);
      if (!session) return undefined;
      const turn = session.record.turn + 1;
      session.record = { ...session.record, turn, activeAt: at };
      return { turn, ended: takeAway(session, ({ untilTurn }) => untilTurn < turn) };
    },
    async touch(id, at) {
      const session = sessions.get(id);
      if (session) session.record = { ...session.record, activeAt: at };
    },
    async end(id, at) {
      const session = openSession(id);
      if (!session) return undefined;
      session.record = { ...session.record, endedAt: at, activeAt: at };
      hooks.onEnd(id);
      return { ended: takeAway(session, () => true) };
    },
    async removeIdle(before) {
      const idle = [...sessions.values()].filter(({ record }) => record.activeAt < before);
      for (const { record } of idle) {
        sessions.delete(record.id);
        hooks.onEnd(record.id);
      }
      return idle.map((session) => ({ session: session.record, ended: takeAway(session, () => true) }));
    },
    async enablements(id) {
      const session = sessions.get(id);
      return session ? inOrder([...session.enabled.values()]) : [];
    },
    async enable(id, { enablements, limit, at }) {
      const session = openSession(id);
      if (!session) return undefined;
      session.record = { ...session.record, activeAt: at };
      const present = [...session.enabled.values()];
      const merged = mergeEnablements(present, enablements, { limit, turn: session.record.turn });
      for (const one of merged.changed) session.enabled.set(one.tool, one);
      return { overLimit: merged.overLimit };
    },
    async disable(id, tools) {
      const session = sessions.get(id);
      return session ? takeAway(session, ({ tool }) => tools.includes(tool)) : [];
    },
    async countCall(id, tool) {
      const session = openSession(id);
      const one = session?.enabled.get(tool);
      if (!session || !one || one.untilTurn < session.record.turn || (one.once && one.calls > 0)) return false;
      session.enabled.set(tool, { ...one, calls: one.calls + 1 });
      return true;
    },
  };
}

function inOrder(enablements: EnablementRecord[]): EnablementRecord[] {
  return enablements.sort((one, other) => compare(one.tool, other.tool));
}

export function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
