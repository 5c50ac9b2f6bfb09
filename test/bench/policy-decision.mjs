/**
 * What one decision of the policy costs, over a policy of 200 rules and the tools of a fixture:
 * `node --import ./test/support/typescript-loader.mjs test/bench/policy-decision.mjs`.
 */

import { decide } from '../../src/agents/policy/decide.ts';
import { createPolicy } from '../../src/agents/policy/policy.ts';
import { loadCatalog } from '../../src/core/catalog/load.ts';

const ROUNDS = 400;
const quantile = (sorted, share) => sorted[Math.floor(share * (sorted.length - 1))];
const { catalog } = await loadCatalog({ sources: ['fixtures/catalogs/coding-agent.json'] });
const rules = Array.from({ length: 200 }, (_, index) => ({
  name: `rule ${index}`,
  match: {
    tool: index % 2 ? `*_${index}*` : ['file_*', 'git_*'],
    role: `role-${index}`,
    arguments: { path: { pattern: '^/etc/' } },
  },
  decision: index % 3 ? 'deny' : 'needs_approval',
}));
const policy = createPolicy({
  rules,
  argumentRisks: [{ match: { tool: 'code_run', arguments: { mode: 'read' } }, risk: 'low' }],
  preconditions: [{ match: { tool: 'git_*' }, requires: [{ hours: { from: '00:00', to: '23:59' } }] }],
});
const facts = {
  caller: { user: 'ann', roles: ['dev', 'role-1', 'role-4'] },
  session: { turn: 3, isEnded: false },
  now: new Date(),
  isEnabled: true,
  arguments: { path: '/home/ann/a.ts', mode: 'read', uri: 'file:///a' },
  calls: [],
};
for (const purpose of ['find', 'call']) {
  const microseconds = [];
  for (let round = 0; round < ROUNDS; round++) {
    for (const tool of catalog.tools) {
      const began = process.hrtime.bigint();
      decide(policy, { ...facts, purpose, tool });
      microseconds.push(Number(process.hrtime.bigint() - began) / 1_000);
    }
  }
  microseconds.sort((one, other) => one - other);
  const line = [0.5, 0.95, 0.99]
    .map((share) => `p${share * 100} ${quantile(microseconds, share).toFixed(1)}`)
    .join(', ');
  process.stdout.write(`${purpose}: ${microseconds.length} decisions, in microseconds: ${line}\n`);
}
