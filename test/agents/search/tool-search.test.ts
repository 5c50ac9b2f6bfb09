/** A search for tools: its answer, the lists beside it, discovery, and the model that is asked again. */
import { describe, expect, it } from 'vitest';
import { type Adaptation, createAdaptation } from '../../../src/agents/adaptation/adaptation.js';
import { listOutputSchema, searchOutputSchema } from '../../../src/agents/contracts.js';
import { createDiscovery } from '../../../src/agents/search/discovery.js';
import { openStore } from '../../../src/agents/store/open-store.js';
import { createMetrics } from '../../../src/agents/telemetry/metrics.js';
import { readEvents, reportTelemetry } from '../../../src/agents/telemetry/rates.js';
import { createCatalog } from '../../../src/core/catalog/catalog.js';
import type { Tool } from '../../../src/core/catalog/tool.js';
import { makeTool } from '../../core/selection/setup.js';
import { createTool } from '../../support/create-tool.js';
import { setUp as setUpRouter } from '../setup.js';
import { callerOf, matchNames, OWN_TOOLS, SYSTEM_TOOLS, setUp, TOOLS } from './setup.js';

describe('tool_search', () => {
  it('answers in the documented form, with what is enabled in the session of the caller', async () => {
    const { search } = await setUp();
    const output = await search(
      { query: 'create a branch', top_k: 2 },
      { isEnabled: ({ name }: Tool) => name === 'git_branch_create' },
    );
    expect(searchOutputSchema.parse(output)).toEqual(output);
    expect(output).toMatchObject({ query: 'create a branch', ranked_by: 'rules', index: 'ready' });
    expect(output.need_clarification).toBeUndefined();
    expect(output.matches[0]).toEqual({
      name: 'git_branch_create',
      category: 'git',
      toolType: 'builtin',
      risk: 'high',
      description: 'Create a branch.',
      signature: 'object',
      enabled: true,
      score: expect.any(Number),
      why_matched: [
        { word: 'create', fields: ['name', 'description'] },
        { word: 'branch', fields: ['name', 'description'] },
      ],
    });
    expect(output.matches[1]?.enabled).toBe(false);
    expect(output.matches).toHaveLength(2);
  });

  it("finds a user's own tools for that user alone", async () => {
    const { search } = await setUp();
    expect(matchNames(await search({ query: 'secret zebras' }, { user: 'ann' }))).toEqual(['branch_secret']);
    expect(matchNames(await search({ query: 'secret zebras' }, { user: 'bob' }))).toEqual([]);
    expect(matchNames(await search({ query: 'secret zebras' }))).toEqual([]);
  });

  it("answers another user as if a user's own tools did not exist", async () => {
    const withOthers = await setUp();
    const without = await setUp({ tools: SYSTEM_TOOLS });
    for (const query of ['branch', 'secrte branch', 'zebras', 'zebra notes of a branch']) {
      expect(await withOthers.search({ query }, { user: 'bob' })).toEqual(
        await without.search({ query }, { user: 'bob' }),
      );
    }
  });

  it('answers as if what policy denies did not exist, also in the question back', async () => {
    const isAllowed = ({ category }: Tool) => category !== 'git';
    const denying = await setUp();
    const without = await setUp({ tools: TOOLS.filter(isAllowed) });
    for (const query of ['branch', 'brnach', 'delete a branch', 'xylophone']) {
      const denied = await denying.search({ query }, { isAllowed });
      expect(denied).toEqual(await without.search({ query }));
      expect(JSON.stringify(denied)).not.toMatch(/git/u);
    }
  });

  it('remembers an audience, and tells two apart', async () => {
    const { search } = await setUp();
    const asked: string[] = [];
    const low = (tool: Tool) => {
      asked.push(tool.name);
      return tool.risk === 'low';
    };
    const first = await search({ query: 'branch' }, { isAllowed: low, audience: 'low' });
    const count = asked.length;
    expect(await search({ query: 'branch' }, { isAllowed: low, audience: 'low' })).toEqual(first);
    expect(asked).toHaveLength(count);
    expect(matchNames(await search({ query: 'branch' }, { audience: 'all' }))).toContain('git_branch_create');
    expect(matchNames(first)).not.toContain('git_branch_create');
  });

  it('asks anew for every search of a caller without an audience', async () => {
    const { search } = await setUp();
    expect(matchNames(await search({ query: 'branch' }, { isAllowed: () => false }))).toEqual([]);
    expect(matchNames(await search({ query: 'branch' }, { isAllowed: () => true }))).not.toEqual([]);
  });

  it("lets a user's own tool take the place of the system's of the same name", async () => {
    const own = makeTool('file_read', { description: 'My way to return a file.', scope: { user: 'ann' } });
    const { search } = await setUp({ tools: [...SYSTEM_TOOLS, own] });
    const found = await search({ query: 'file_read' }, { user: 'ann' });
    expect(found.matches.filter(({ name }) => name === 'file_read')).toMatchObject([{ description: own.description }]);
    const others = await search({ query: 'file_read' }, { user: 'bob' });
    expect(others.matches[0]?.description).toBe('Return the text of a file.');
  });

  it('never finds what is out of service', async () => {
    const { search } = await setUp();
    expect(matchNames(await search({ query: 'old_branch', top_k: 50 }))).not.toContain('old_branch');
  });

  it.each([
    ['three and five', true as const, 3, 2],
    ['as many as asked', { system: 1, user: 1 }, 1, 1],
    ['none of one', { system: 0, user: 1 }, 0, 1],
  ])('counts the scopes apart on demand: %s', async (_, per_scope, system, user) => {
    const { search } = await setUp();
    const found = matchNames(await search({ query: 'branch', top_k: 1, per_scope }, { user: 'ann' }));
    const own = OWN_TOOLS.map(({ name }) => name);
    expect(found.filter((name) => own.includes(name))).toHaveLength(user);
    expect(found.filter((name) => !own.includes(name))).toHaveLength(system);
  });

  it.each([
    ['nothing', 'xylophone', 'xylophone', []],
    ['next to nothing', 'xylophone saxophone trombone text orchestra', 'No tool fits', ['file_read']],
  ])('asks back when it found %s, between the nearest groups', async (_, query, __, found) => {
    const { search } = await setUp();
    const output = await search({ query });
    expect(matchNames(output)).toEqual(found);
    expect(output.need_clarification?.question).toMatch(
      found.length > 0 ? /about files, or/u : /about git or files, or/u,
    );
    expect(output.fallback?.suggestion).toMatch(/[Ss]earch again/u);
  });

  it('asks back in the language of the query', async () => {
    const { search } = await setUp();
    expect((await search({ query: '明天天气' })).need_clarification?.question).toMatch(/^没有找到.*“git/u);
  });

  it('gives as many as are asked for, five where nothing is said, also where better ones may not be seen', async () => {
    const { search } = await setUp();
    const all = await search({ query: 'branch', top_k: 50 });
    const [best] = matchNames(all);
    const isAllowed = ({ name }: Tool) => name !== best;
    expect(all.matches.length).toBe(4);
    expect(matchNames(await search({ query: 'branch', top_k: 2 }, { isAllowed }))).toHaveLength(2);
    const many = await setUp({ tools: Array.from({ length: 9 }, (_, place) => makeTool(`branch_${place}`, {})) });
    expect((await many.search({ query: 'branch' })).matches).toHaveLength(5);
  });

  it('scores each match above nothing, best first, whatever the case of the letters', async () => {
    const { search } = await setUp();
    const { matches } = await search({ query: 'create a BRANCH', top_k: 9 });
    const scores = matches.map(({ score }) => score);
    expect(Math.min(...scores)).toBeGreaterThan(0);
    expect(scores).toEqual([...scores].sort((one, other) => other - one));
    expect(matches).toEqual((await search({ query: 'Create A branch', top_k: 9 })).matches);
  });

  it.each([
    ['one sentence', 'Tells a story.', 'Tells a story.'],
    ['more of them', 'Tells a story.\nAnd another.', 'Tells a story. …'],
    ['one without end', `Tells ${'x'.repeat(400)}`, `Tells ${'x'.repeat(294)}…`],
  ])(
    'says of a tool its first sentence and its arguments, with a mark where there is more: %s',
    async (_, words, shown) => {
      const long = createTool(
        'long_story',
        {
          properties: {
            hero: { type: 'string', description: 'Who.' },
            tags: { type: 'array', items: { enum: ['sad', 'gay'] } },
          },
          required: ['hero'],
        },
        undefined,
        { description: words },
      );
      const wide = createTool(
        'wide_story',
        { properties: Object.fromEntries(Array.from({ length: 99 }, (_, place) => [`argument${place}`, {}])) },
        undefined,
        { description: 'Tells all.' },
      );
      const { search } = await setUp({ tools: [long, wide] });
      const { matches } = await search({ query: 'long story' });
      expect(matches[0]).toMatchObject({ description: shown, signature: '{hero: string, tags?: ("sad"|"gay")[]}' });
      expect(matches[0]).not.toHaveProperty('inputSchema');
      expect(matches[1]?.signature).toMatch(/^\{argument0\?: any, .{200,}…$/u);
      const whole = await search({ query: 'long story', detail: 'schema' });
      expect(whole.matches[0]).toMatchObject({ description: words, inputSchema: long.inputSchema });
    },
  );

  it('hears of a changed catalogue at the next search, and says that the last index answers meanwhile', async () => {
    let catalog = createCatalog(TOOLS);
    const { index, search } = createDiscovery({ catalog: () => catalog });
    await index.settled();
    const changed = makeTool('file_delete', { description: 'Delete a zebra.' });
    catalog = createCatalog([...TOOLS.filter(({ name }) => name !== 'file_delete' && name !== 'git_push'), changed]);
    const ask = (query: string) =>
      search({ query, top_k: 10, per_scope: false, detail: 'signature' }, callerOf(catalog.tools));
    const meanwhile = await ask('delete a file, push a branch');
    expect(meanwhile.index).toBe('building');
    expect(matchNames(meanwhile)).toContain('git_branch_show');
    expect(matchNames(meanwhile)).not.toContain('git_push');
    expect(matchNames(meanwhile)).not.toContain('file_delete');
    await index.settled();
    const after = await ask('delete a zebra');
    expect(after.index).toBe('ready');
    expect(after.matches[0]).toMatchObject({ name: 'file_delete', description: 'Delete a zebra.' });
  });

  it('says what is in the way when there is no index, and finds nothing instead', async () => {
    const { search } = await setUp({ index: { rebuildsItself: false } });
    const output = await search({ query: 'branch' });
    expect(searchOutputSchema.parse(output)).toEqual(output);
    expect(output).toMatchObject({ matches: [], error: { code: 'index_not_ready' } });
  });
});

const namesOf = (output: Awaited<ReturnType<Awaited<ReturnType<typeof setUp>>['handOut']>>) =>
  output.ok ? output.tools.map(({ name }) => name) : output.code;

describe('hand-outs', () => {
  it('narrow gives the best for a query with their scores, best first', async () => {
    const { handOut } = await setUp();
    const output = await handOut({ mode: 'narrow', query: 'create a branch', top_k: 2 }, callerOf());
    expect(listOutputSchema.parse(output)).toEqual(output);
    expect(namesOf(output)).toHaveLength(2);
    expect(namesOf(output)[0]).toBe('git_branch_create');
    const scores = output.ok ? output.tools.map(({ score = -1 }) => score) : [];
    expect(scores).toEqual([...scores].sort((one, other) => other - one));
    expect(Math.min(...scores)).toBeGreaterThan(0);
  });

  it('narrow leaves out what scores below the minimum', async () => {
    const { handOut } = await setUp();
    const all = await handOut({ mode: 'narrow', query: 'create a branch', min_score: 0 }, callerOf());
    const few = await handOut({ mode: 'narrow', query: 'create a branch', min_score: 0.7 }, callerOf());
    expect(namesOf(few).length).toBeLessThan(namesOf(all).length);
    expect(few.ok && few.tools.every(({ score = 0 }) => score >= 0.7)).toBe(true);
  });

  it('narrow shows nothing that is not allowed', async () => {
    const { handOut } = await setUp();
    const caller = callerOf(TOOLS, { isAllowed: ({ risk }: Tool) => risk === 'low' });
    expect(namesOf(await handOut({ mode: 'narrow', query: 'create a branch', min_score: 0 }, caller))).not.toContain(
      'git_branch_create',
    );
  });

  it.each([
    ['no_candidates', 'nothing matches', async () => (await setUp()).handOut],
    ['index_not_ready', 'the index is stale', async () => (await setUp({ index: { rebuildsItself: false } })).handOut],
    [
      'index_building',
      'the index is being built',
      async () => {
        const { handOut, index } = await setUp({ index: { rebuildsItself: false } });
        void index.rebuild();
        return handOut;
      },
    ],
  ])('narrow answers %s when %s, and gives nothing else instead', async (code, _, make) => {
    const output = await (await make())({ mode: 'narrow', query: 'xylophone' }, callerOf());
    expect(output).toMatchObject({ ok: false, code, reason: expect.any(String), next: expect.any(String) });
    expect(listOutputSchema.parse(output)).toEqual(output);
  });

  it('narrow needs a query', async () => {
    const { handOut } = await setUp();
    await expect(handOut({ mode: 'narrow' }, callerOf())).rejects.toMatchObject({
      code: 'invalid_request',
      issues: [expect.stringMatching(/^query: /u)],
    });
  });
});

/** The parts put together: a router that searches, counts and learns over one store. */
describe('discovery', () => {
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
    const store = await openStore();
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
    const made = await setUpRouter({
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
      setPolicy({
        rules: [{ name: 'not for guests', match: { tool: 'git_push', role: ['guest'] }, decision: 'deny' }],
      });
      const namesFor = async (session: object) => {
        const { id } = await router.createSession(session);
        return matchNames(await router.search(id, { query: 'commits' })).sort();
      };
      expect(await namesFor({})).toEqual(['deploy', 'git_log', 'git_push']);
      expect(await namesFor({ riskCeiling: 'low' })).toEqual(['git_log', 'git_push']);
      expect(await namesFor({ roles: ['guest'] })).toEqual(['deploy', 'git_log']);
      expect(await namesFor({})).toEqual(['deploy', 'git_log', 'git_push']);
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
      expect(total).toMatchObject({
        searches: 6,
        used: 3,
        top1: 1,
        searchAgain: 0.5,
        calls: 3,
        errorRate: 0,
        unused: 0,
      });
      expect(await metrics.render()).toContain('winnow_searches_total{ranked_by="rules"} 6');
      const { id } = await router.createSession({ user: 'ann', project: 'p' });
      expect(matchNames(await router.search(id, { query: 'yeet that' }))).toEqual([]);
      await adaptation.learn();
      const after = await router.search(id, { query: 'yeet that' });
      expect(after.matches[0]).toMatchObject({ name: 'git_push', why_matched: [{ word: 'yeet', fields: ['learnt'] }] });
    });
  });
});
