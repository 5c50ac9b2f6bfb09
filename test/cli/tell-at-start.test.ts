import { expect, it } from '@jest/globals';
import { tellAtStart } from '../../src/cli/tell-at-start.js';
import { createCatalog } from '../../src/core/catalog/catalog.js';
import { createPolicy } from '../../src/routing/policy/policy.js';
import { fixedPolicy } from '../../src/routing/policy/policy-file.js';
import { createAgents } from '../../src/server/agents/agents.js';
import { createMemoryStore } from '../../src/store/memory/memory-store.js';
import { createTool } from '../support/create-tool.js';

it('warns of what in the policy has no effect and of patterns that run long, and only notes prose', async () => {
  const tool = createTool('push', {}, undefined, { risk: 'low', preconditions: ['it has been reviewed'] });
  const catalog = createCatalog([tool]);
  const slow = { arguments: { path: { pattern: '^(a+)+$' } } };
  const policy = createPolicy({
    rules: [
      { name: 'slip', match: { tool: 'pull' }, decision: 'deny' },
      { name: 'slow', match: slow, decision: 'deny' },
    ],
  });
  const agents = createAgents({
    store: createMemoryStore(),
    catalog: () => catalog,
    policy: fixedPolicy(policy),
    executors: [],
  });
  const told: string[] = [];
  const tell = (level: string) => (_: unknown, message?: string) => void told.push(`${level} ${message}`);
  const logger = { debug: tell('debug'), info: tell('info'), warn: tell('warn') };
  const { weights } = agents.index.status();
  tellAtStart({ agents, config: {}, policyPath: 'policy.yaml', weights }, logger);
  await agents.close();
  expect(told).toEqual([
    'warn rules "slip": matches no tool',
    expect.stringMatching(/^warn rules "slow": the pattern for "path"/u),
    expect.stringMatching(/^debug tool push: "it has been reviewed"/u),
  ]);
});
