import {
  createDiscovery,
  createFunctionExecutor,
  createRouter,
  createSandbox,
  openPolicyFile,
  openStore,
} from '../../src/agents/index.js';
import { loadCatalog } from '../../src/index.js';

const { catalog } = await loadCatalog({ sources: ['fixtures/catalogs/coding-agent.json'] });
const store = await openStore({ file: 'agents.db' });
const discovery = createDiscovery({ catalog: () => catalog });
const sandbox = createSandbox({
  executors: [
    createFunctionExecutor({ file_read: async ({ path }) => ({ content: `the text of ${path}`, total_lines: 1 }) }),
  ],
});
const router = createRouter({
  store,
  catalog: () => catalog,
  policy: await openPolicyFile('fixtures/agents/first-steps/policy.yaml'),
  search: discovery.search,
  handOut: discovery.handOut,
  prepare: sandbox.prepare,
  execute: sandbox.run,
});
await discovery.index.settled();

const { id } = await router.createSession({ user: 'ann' });
const { matches } = await router.search(id, { query: 'read a file', top_k: 2 });
await router.enable(id, { names: matches.map(({ name }) => name) });
const result = await router.call(id, { tool: 'file_read', arguments: { path: 'a.txt' } });
console.log(result.ok ? result.output : result.next);

await sandbox.close();
await store.close();
