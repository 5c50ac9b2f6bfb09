/**
 * What the server has acknowledged, and whether the store has it. A request that was sent and not answered may have had
 * its effect or not: until its answer is there, nothing is expected of what it is about.
 */
import { openStore } from '../../../dist/agents/store/open-store.js';

/** Kind -> whether the store holds what was promised. */
const IS_KEPT = {
  session: async (store, id, { turn, ended }) => {
    const kept = await store.sessions.get(id);
    return kept !== undefined && kept.turn >= turn && (!ended || kept.endedAt !== undefined);
  },
  // One that nobody took further, since a kill cut its user off, is over at its time.
  approval: async (store, id, { states }) => {
    const { state, expiresAt } = (await store.approvals.get(id)) ?? {};
    const isOpen = states.includes('pending') || states.includes('granted');
    return states.includes(state) || (isOpen && state === 'expired' && Date.parse(expiresAt) <= Date.now());
  },
  run: async (store, id, { state }) => (await store.planRuns.get(id))?.state === state,
  tool: async (store, key, { isThere }) => {
    const [owner, name] = key.split('/');
    return (await store.privateTools.list(owner)).some((one) => one.name === name) === isThere;
  },
  calls: async (store, session, { count }) => {
    const query = { session, event: 'call', limit: 1_000 };
    return (await store.journal.audit(query)).length >= count;
  },
};

export function createLedger() {
  const promised = new Map();
  let fresh = new Set();
  const keyOf = (kind, id) => `${kind} ${id}`;
  const keep = (kind, id, fact) => {
    const key = keyOf(kind, id);
    promised.set(key, { kind, id, fact });
    fresh.add(key);
  };
  const forget = (kind, id) => promised.delete(keyOf(kind, id));
  const factOf = (kind, id) => promised.get(keyOf(kind, id))?.fact;

  async function check(file, keys) {
    const store = await openStore({ file });
    const lost = [];
    for (const key of keys) {
      const one = promised.get(key);
      if (one && !(await IS_KEPT[one.kind](store, one.id, one.fact))) lost.push({ key, ...one.fact });
    }
    await store.close();
    return lost;
  }

  return {
    keep,
    forget,
    /** A change is under way: only its answer says what holds. @returns what held, to put back where it was refused */
    change(kind, id) {
      const fact = factOf(kind, id);
      forget(kind, id);
      return fact;
    },
    /** An audited call more. */
    called: (session) => keep('calls', session, { count: (factOf('calls', session)?.count ?? 0) + 1 }),
    counts() {
      const counts = {};
      for (const { kind, fact } of promised.values()) counts[kind] = (counts[kind] ?? 0) + (fact.count ?? 1);
      return counts;
    },
    /** Of what was acknowledged since the last time. No server may be writing. */
    async findLost(file) {
      const keys = fresh;
      fresh = new Set();
      return check(file, keys);
    },
    findLostOfAll: (file) => check(file, promised.keys()),
  };
}
