/**
 * The gate under tools that are renamed, moved and changed, and under private tools of all names: whatever the sequence,
 * what runs is what a definition, not a name, was allowed to.
 */
import fc from 'fast-check';
import { createPolicy } from '../../src/agents/policy/policy.js';
import { fixedPolicy } from '../../src/agents/policy/policy-file.js';
import { createPrivateTools } from '../../src/agents/private-tools.js';
import { createRouter } from '../../src/agents/router.js';
import { openStore } from '../../src/agents/store/open-store.js';
import { createCatalog } from '../../src/core/catalog/catalog.js';
import type { Tool } from '../../src/core/catalog/tool.js';
import { createTool } from '../support/create-tool.js';

/** `act` needs an approval, and that the tool `a__read` of now was called; `drop` is denied. */
const POLICY = fixedPolicy(
  createPolicy({
    rules: [
      { name: 'no', match: { tool: 'drop' }, decision: 'deny' },
      { name: 'ask', match: { tool: 'act' }, decision: 'needs_approval' },
    ],
    preconditions: [{ match: { tool: 'act' }, requires: ['a__read called in this session'] }],
    enabling: { companions: false, maxEnabled: 100 },
  }),
);

const own = fc.constantFrom('read', 'read', 'act', 'act', 'act', 'drop');
const server = fc.constantFrom('a', 'a', 'a', 'b');
const offered = fc.record({
  server,
  own,
  target: fc.constantFrom('here', 'here', 'there'),
  description: fc.constantFrom('', '', 'Changed.'),
  isBare: fc.constantFrom(false, false, false, true),
});
type Offered = typeof offered extends fc.Arbitrary<infer Value> ? Value : never;

const NAMES = ['read', 'act', 'drop'].flatMap((one) => [one, `a__${one}`, `b__${one}`, `my__${one}`, `my__a__${one}`]);
const name = fc.oneof(fc.constantFrom(...NAMES), fc.constantFrom('a__read', 'a__act', 'a__act'));
const weigh = <Value>(weight: number, arbitrary: fc.Arbitrary<Value>) => ({ weight, arbitrary });
const command = fc.oneof(
  weigh(1, fc.record({ do: fc.constant('offer' as const), tools: fc.array(offered, { maxLength: 6 }) })),
  weigh(1, fc.record({ do: fc.constant('swap' as const), tool: offered })),
  weigh(1, fc.record({ do: fc.constant('add' as const), name })),
  weigh(16, fc.record({ do: fc.constant('call' as const), name })),
  weigh(
    6,
    fc.record({ do: fc.constant('grant' as const), grant: fc.constantFrom('once' as const, 'session' as const) }),
  ),
);
type Command = typeof command extends fc.Arbitrary<infer Value> ? Value : never;

const nameOf = ({ server: of, own: tool, isBare }: Offered) => (isBare ? tool : `${of}__${tool}`);

function toTool(one: Offered): Tool {
  const metadata = { mcp: { server: one.server, tool: one.own, target: one.target } };
  const { server: origin, description } = one;
  return createTool(nameOf(one), {}, undefined, { toolType: 'mcp', risk: 'medium', origin, description, metadata });
}

export interface MovingCounts {
  calls: number;
  /** Of tools with approval and precondition. */
  acted: number;
}

const START = (['read', 'act', 'drop'] as const).map((tool): Offered => {
  return { server: 'a', own: tool, target: 'here', description: '', isBare: false };
});

/** @throws where something ran that must not, with the shortest sequence that shows it */
export async function checkMoving(numRuns: number, seed?: number): Promise<MovingCounts> {
  const counts = { calls: 0, acted: 0 };
  const sequences = fc.array(command, { minLength: 1, maxLength: 30, size: 'max' });
  const property = fc.asyncProperty(sequences, (commands) => runMoving(commands, counts));
  await fc.assert(property, { numRuns, ...(seed === undefined ? {} : { seed }) });
  return counts;
}

async function runMoving(commands: readonly Command[], counts: MovingCounts): Promise<void> {
  let offers: readonly Offered[] = START;
  let base = createCatalog(offers.map(toTool));
  const offer = (next: readonly Offered[]) => {
    offers = next.filter((one, at) => next.findIndex((other) => nameOf(other) === nameOf(one)) === at);
    base = createCatalog(offers.map(toTool));
  };
  const store = await openStore();
  const privateTools = createPrivateTools({ base: () => base, store: store.privateTools });
  const ran: Tool[] = [];
  const router = createRouter({
    store,
    catalog: privateTools.catalog,
    policy: POLICY,
    prepare: (_, given) => ({ ok: true, arguments: { ...Object(given) }, notes: [] }),
    search: async ({ query }) => ({ query, matches: [], ranked_by: 'rules' }),
    async execute({ tool }) {
      ran.push(tool);
      return { ok: true, output: null, notes: [], milliseconds: 0 };
    },
  });
  const { id } = await router.createSession({ user: 'ann' });
  const facts = (tool: Tool | undefined) => JSON.stringify(tool);
  const current = (called: string) => privateTools.catalog().tools.find((tool) => tool.name === called);
  const called = new Set<string>();
  const asked = new Map<string, string>();
  const granted = new Map<string, number>();

  for (const one of commands) {
    if (one.do === 'offer') offer(one.tools);
    if (one.do === 'swap') offer([one.tool, ...offers]);
    if (one.do === 'add')
      await privateTools.add('ann', { name: one.name, toolType: 'skill', risk: 'low', instructions: 'nothing' });
    if (one.do === 'grant')
      for (const { id: approval } of await router.approvals.list({ state: 'pending' })) {
        await router.approvals.grant(approval, {
          by: { user: 'bob', roles: ['operator'] },
          grant: one.grant,
        });
        const key = asked.get(approval) ?? '';
        granted.set(key, (granted.get(key) ?? 0) + (one.grant === 'once' ? 1 : Number.POSITIVE_INFINITY));
      }
    if (one.do === 'call') {
      const tool = current(one.name);
      await router.enable(id, { names: [one.name], ttl_turns: 20 });
      const result = await router.call(id, { tool: one.name, arguments: {} });
      counts.calls += 1;
      if (!result.ok && result.approval) asked.set(result.approval, asked.get(result.approval) ?? facts(tool));
      if (result.ok) judgeRun(ran.at(-1), facts(tool));
    }
  }
  await store.close();

  function judgeRun(tool: Tool | undefined, expected: string): void {
    const key = facts(tool);
    const told = Object(tool?.metadata.mcp).tool;
    if (key !== expected) throw new Error(`another tool ran than has the name: ${key}`);
    if (told === 'drop' || (told === undefined && !tool?.name.startsWith('my__')))
      throw new Error(`denied ran: ${key}`);
    if (told === 'act') {
      if (!called.has(facts(current('a__read')))) throw new Error(`no call of the a__read of now: ${key}`);
      const left = granted.get(key) ?? 0;
      if (left < 1) throw new Error(`nobody approved this definition and destination: ${key}`);
      granted.set(key, left - 1);
      counts.acted += 1;
    }
    called.add(key);
  }
}
