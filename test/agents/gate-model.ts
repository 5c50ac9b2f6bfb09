/** The gate against a reference of a few lines: a random sequence of requests may run exactly what the reference allows. */
import fc from 'fast-check';
import { createPolicy } from '../../src/agents/policy/policy.js';
import { fixedPolicy } from '../../src/agents/policy/policy-file.js';
import { createRouter } from '../../src/agents/router.js';
import { openStore } from '../../src/agents/store/open-store.js';
import { createCatalog } from '../../src/core/catalog/catalog.js';
import { createTool } from '../support/create-tool.js';

const make = (name: string, more: Parameters<typeof createTool>[3]) => createTool(name, {}, undefined, more);
const CATALOG = createCatalog([
  make('always', { risk: 'low', alwaysLoad: true }),
  make('low', { risk: 'low' }),
  make('after', { risk: 'medium', preconditions: ['low called for the same x in this session'] }),
  make('high', { risk: 'high' }),
  make('mixed', { risk: 'medium' }),
  make('denied', { risk: 'low' }),
  make('private', { risk: 'low', scope: { user: 'eve' } }),
]);
const POLICY = fixedPolicy(
  createPolicy({
    rules: [{ name: 'no', match: { tool: 'denied' }, decision: 'deny' }],
    argumentRisks: [{ match: { tool: 'mixed', arguments: { x: 1 } }, risk: 'high' }],
    enabling: { companions: false, maxTurns: 4 },
  }),
);
const TTL = 15 * 60_000;

/** Often what is hard to get right, seldom what is refused at once. */
const name = fc.constantFrom(
  ...['high', 'high', 'high', 'high', 'high', 'high', 'mixed', 'mixed', 'low', 'low', 'after', 'after'],
  ...['always', 'denied', 'private', 'nothing'],
);
const turns = fc.integer({ min: 1, max: 5 });
const once = fc.constantFrom(false, false, false, true);
const x = fc.integer({ min: 0, max: 1 });
const by = fc.constantFrom('ann', 'bob', 'bob', 'bob');
const weigh = <Value>(weight: number, arbitrary: fc.Arbitrary<Value>) => ({ weight, arbitrary });
const command = fc.oneof(
  weigh(1, fc.record({ do: fc.constant('search' as const) })),
  weigh(6, fc.record({ do: fc.constant('enable' as const), name, turns, once })),
  weigh(1, fc.record({ do: fc.constant('disable' as const), name })),
  weigh(1, fc.record({ do: fc.constant('turn' as const) })),
  weigh(12, fc.record({ do: fc.constant('call' as const), name, x })),
  weigh(6, fc.record({ do: fc.constant('approve' as const), by })),
  weigh(1, fc.record({ do: fc.constant('expire' as const) })),
);
type Command = typeof command extends fc.Arbitrary<infer Value> ? Value : never;

/** What may run, said as shortly as it can be. */
function createReference() {
  const until = new Map<string, number>();
  const once = new Set<string>();
  const called = new Set<number>();
  const asked = new Map<string, number>();
  const granted = new Map<string, number>();
  let turn = 1;
  let now = 0;
  const isOn = (tool: string) => tool === 'always' || (until.get(tool) ?? 0) >= turn;
  return {
    search: () => undefined,
    turn: () => (turn += 1),
    expire: () => (now += TTL),
    disable: (tool: string) => until.delete(tool),
    enable(tool: string, turns: number, isOnce: boolean) {
      if (!isOn(tool) || !isOnce) once.delete(tool);
      if (!isOn(tool) && isOnce) once.add(tool);
      until.set(tool, Math.max(isOn(tool) ? (until.get(tool) ?? 0) : 0, turn + (isOnce ? 1 : Math.min(turns, 4)) - 1));
    },
    approve(by: string) {
      if (by === 'ann') return;
      for (const [key, end] of asked) if (end > now) granted.set(key, now + TTL);
      asked.clear();
    },
    mayRun(tool: string, x: number): boolean {
      if (['denied', 'private', 'nothing'].includes(tool) || !isOn(tool)) return false;
      if (tool === 'after' && !called.has(x)) return false;
      const key = `${tool} ${x}`;
      if (tool === 'high' || (tool === 'mixed' && x === 1)) {
        if ((granted.get(key) ?? 0) <= now) {
          if ((asked.get(key) ?? 0) <= now) asked.set(key, now + TTL);
          return false;
        }
        granted.delete(key);
      }
      if (once.delete(tool)) until.delete(tool);
      if (tool === 'low') called.add(x);
      return true;
    },
  };
}

export interface GateCounts {
  calls: number;
  ran: number;
  /** Of those that ran, with an approval. */
  approved: number;
}

/** @throws where the gate and the reference differ, with the shortest sequence that shows it */
export async function checkSequences(numRuns: number, seed?: number): Promise<GateCounts> {
  const counts = { calls: 0, ran: 0, approved: 0 };
  await fc.assert(
    fc.asyncProperty(fc.array(command, { minLength: 1, maxLength: 30, size: 'max' }), async (commands) =>
      runSequence(commands, counts),
    ),
    { numRuns, ...(seed === undefined ? {} : { seed }) },
  );
  return counts;
}

async function runSequence(commands: readonly Command[], counts: GateCounts): Promise<void> {
  let time = 0;
  let ran = 0;
  const store = await openStore();
  const router = createRouter({
    store,
    catalog: () => CATALOG,
    policy: POLICY,
    clock: () => new Date(time),
    prepare: (_, given) => ({ ok: true, arguments: { ...Object(given) }, notes: [] }),
    search: async ({ query }, { view, isAllowed }) => {
      const found = view.tools.filter(isAllowed).map((tool) => tool.name);
      if (found.some((tool) => tool === 'denied' || tool === 'private')) throw new Error('what is denied was found');
      return { query, matches: [], ranked_by: 'rules' };
    },
    async execute() {
      ran += 1;
      return { ok: true, output: null, notes: [], milliseconds: 0 };
    },
  });
  const { id } = await router.createSession({ user: 'ann' });
  const reference = createReference();
  for (const one of commands) {
    if (one.do === 'search') await router.search(id, { query: 'x' });
    if (one.do === 'turn') await router.beginTurn(id);
    if (one.do === 'expire') time += TTL;
    if (one.do === 'disable') await router.disable(id, { names: [one.name] });
    if (one.do === 'enable') await router.enable(id, { names: [one.name], ttl_turns: one.turns, ephemeral: one.once });
    if (one.do === 'approve')
      for (const approval of await router.approvals.list({ state: 'pending' }))
        await router.approvals.grant(approval.id, { by: { user: one.by, roles: ['operator'] } });

    if (one.do === 'call') {
      const before = ran;
      const result = await router.call(id, { tool: one.name, arguments: { x: one.x } });
      const mayRun = reference.mayRun(one.name, one.x);
      counts.calls += 1;
      counts.ran += ran - before;
      if (one.name === 'high') counts.approved += ran - before;
      if (ran - before !== Number(mayRun) || result.ok !== mayRun)
        throw new Error(`${one.name} ${one.x}: the reference says ${mayRun}, the gate says ${JSON.stringify(result)}`);
    } else if (one.do === 'enable') reference.enable(one.name, one.turns, one.once);
    else if (one.do === 'disable') reference.disable(one.name);
    else if (one.do === 'approve') reference.approve(one.by);
    else reference[one.do]();
  }
  await store.close();
}
