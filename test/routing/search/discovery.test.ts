/** The parts put together: a router that searches, counts and learns over one store. */
import { describe, expect, it } from '@jest/globals';
import { createCatalog } from '../../../src/core/catalog/catalog.js';
import { type Adaptation, createAdaptation } from '../../../src/routing/adaptation/adaptation.js';
import { createDiscovery } from '../../../src/routing/search/discovery.js';
import { createMetrics } from '../../../src/routing/telemetry/metrics.js';
import { readEvents } from '../../../src/routing/telemetry/read-events.js';
import { reportTelemetry } from '../../../src/routing/telemetry/report.js';
import { createMemoryStore } from '../../../src/store/memory/memory-store.js';
import { createTool } from '../../support/create-tool.js';
import { setUp } from '../setup.js';
import { matchNames } from './setup.js';

const TOOLS = [
  createTool('git_push', {}, undefined, { risk: 'low', description: 'Send commits to the remote.', category: 'git' }),
  createTool('git_log', {}, undefined, { risk: 'low', description: 'List commits.', category: 'git' }),
  createTool('deploy', {}, undefined, {
    risk: 'high',
    description: 'Bring commits to production.',
    category: 'operations',
  }),
  createTool('diary', {}, undefined, { risk: 'low', description: 'My commits to myself.', scope: { user: 'ann' } }),
];

async function together() {
  const store = createMemoryStore();
  const catalog = createCatalog(TOOLS);
  const adaptation: Adaptation = createAdaptation({
    store: store.weights,
    events: (since) => readEvents(store.journal, { since }),
    options: { enabled: true },
    clock: () => new Date(Date.UTC(2026, 0, 2)),
  });
  const discovery = createDiscovery({ catalog: () => catalog, learnt: adaptation.learntFor });
  await discovery.index.settled();
  const metrics = createMetrics({ index: discovery.index.status });
  const made = setUp({
    tools: TOOLS,
    store,
    search: discovery.search,
    handOut: discovery.handOut,
    onEvent: metrics.observe,
  });
  return { ...made, adaptation, metrics, index: discovery.index };
}

describe('discovery behind a router', () => {
  it('finds by session, tells what is enabled, and hides what the policy denies', async () => {
    const { router, setPolicy } = await together();
    const { id } = await router.createSession({ user: 'ann' });
    await router.enable(id, { names: ['git_log'] });
    const found = await router.search(id, { query: 'commits' });
    expect(matchNames(found).sort()).toEqual(['deploy', 'diary', 'git_log', 'git_push']);
    expect(found.matches.filter(({ enabled }) => enabled).map(({ name }) => name)).toEqual(['git_log']);
    setPolicy({ rules: [{ name: 'no deploys', match: { tool: 'deploy' }, decision: 'deny' }] });
    expect(matchNames(await router.search(id, { query: 'commits' }))).not.toContain('deploy');
    const { id: other } = await router.createSession({ user: 'bob' });
    expect(matchNames(await router.search(other, { query: 'commits' }))).not.toContain('diary');
  });

  it('keeps sessions of other risk ceilings and roles apart though they share an index', async () => {
    const { router, setPolicy } = await together();
    setPolicy({ rules: [{ name: 'not for guests', match: { tool: 'git_push', role: ['guest'] }, decision: 'deny' }] });
    const namesFor = async (session: object) => {
      const { id } = await router.createSession(session);
      return matchNames(await router.search(id, { query: 'commits' })).sort();
    };
    expect(await namesFor({})).toEqual(['deploy', 'git_log', 'git_push']);
    expect(await namesFor({ riskCeiling: 'low' })).toEqual(['git_log', 'git_push']);
    expect(await namesFor({ roles: ['guest'] })).toEqual(['deploy', 'git_log']);
    expect(await namesFor({})).toEqual(['deploy', 'git_log', 'git_push']);
  });

  it('hands out both lists', async () => {
    const { router } = await together();
    const { id } = await router.createSession();
    const classic = await router.list(id, { mode: 'classic' });
    expect(classic.ok && classic.tools.map(({ name }) => name)).toEqual(['git_push', 'git_log', 'deploy']);
    const narrow = await router.list(id, { mode: 'narrow', query: 'push to the remote', top_k: 1 });
    expect(narrow).toMatchObject({
      ok: true,
      mode: 'narrow',
      tools: [{ name: 'git_push', score: expect.any(Number) }],
    });
  });

  it('counts and learns from what the router has written down', async () => {
    const { router, store, adaptation, metrics } = await together();
    for (let time = 0; time < 3; time++) {
      const { id } = await router.createSession({ user: 'ann', project: 'p' });
      await router.search(id, { query: 'yeet it' });
      await router.search(id, { query: 'push commits' });
      await router.enable(id, { names: ['git_push'] });
      await router.call(id, { tool: 'git_push' });
      await router.endSession(id);
    }
    const { total } = await reportTelemetry(store.journal);
    expect(total).toMatchObject({ searches: 6, used: 3, top1: 1, searchAgain: 0.5, calls: 3, errorRate: 0, unused: 0 });
    expect(await metrics.render()).toContain('winnow_searches_total{ranked_by="rules"} 6');
    const { id } = await router.createSession({ user: 'ann', project: 'p' });
    expect(matchNames(await router.search(id, { query: 'yeet that' }))).toEqual([]);
    await adaptation.learn();
    const after = await router.search(id, { query: 'yeet that' });
    expect(after.matches[0]).toMatchObject({ name: 'git_push', why_matched: [{ word: 'yeet', fields: ['learnt'] }] });
  });
});
