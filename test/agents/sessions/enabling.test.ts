/** What a session has: enabled tools, their companions, its settings and how it is read. */
import { describe, expect, it } from 'vitest';
import { parseSessionSettings } from '../../../src/agents/parts.js';
import { companionsOf } from '../../../src/agents/sessions/enabling.js';
import { createCatalog } from '../../../src/core/catalog/catalog.js';
import { createScope } from '../../../src/core/catalog/scope.js';
import { runWhole } from '../../../src/core/in-slices.js';
import { createTool } from '../../support/create-tool.js';
import { loadFixture } from '../../support/fixtures.js';
import { setUp, TOOLS } from '../setup.js';

async function open(options: Parameters<typeof setUp>[0] = {}) {
  const setup = await setUp(options);
  const { id } = await setup.router.createSession({ user: 'ann' });
  const enabled = async () =>
    (await setup.router.session(id)).enabled
      .filter(({ via }) => via !== 'always')
      .map(({ name, remainingTurns }) => `${name} ${remainingTurns}`);
  const enable = (names: string[], more: object = {}) => setup.router.enable(id, { names, ...more });
  return { ...setup, id, enabled, enable };
}

describe('tool_enable', () => {
  it('enables for three turns, the current one counted, and says when the client sees it', async () => {
    const { router, id, enable, enabled } = await open();
    expect(await enable(['lsp_open'])).toEqual({
      enabled: [{ name: 'lsp_open', expires_after_turns: 3 }],
      related_tools: [],
      not_added: [],
      rejected: [],
      callable_from: 'now',
      visible_from: 'next_request',
    });
    const seen = [await enabled()];
    for (let turn = 0; turn < 3; turn++) {
      await router.beginTurn(id);
      seen.push(await enabled());
    }
    expect(seen).toEqual([['lsp_open 3'], ['lsp_open 2'], ['lsp_open 1'], []]);
  });

  it('prolongs what is enabled, and never shortens it', async () => {
    const { router, id, enable, enabled } = await open();
    await enable(['lsp_open']);
    await router.beginTurn(id);
    await enable(['lsp_open']);
    expect(await enabled()).toEqual(['lsp_open 3']);
    expect((await enable(['lsp_open'], { ttl_turns: 1 })).enabled).toEqual([
      { name: 'lsp_open', expires_after_turns: 3 },
    ]);
  });

  it('gives at most the configured number of turns, and says so', async () => {
    const { enable } = await open({ policy: { enabling: { maxTurns: 5, defaultTurns: 2 } } });
    expect((await enable(['lsp_open'])).enabled).toEqual([{ name: 'lsp_open', expires_after_turns: 2 }]);
    expect((await enable(['lsp_open'], { ttl_turns: 99 })).enabled).toEqual([
      { name: 'lsp_open', expires_after_turns: 5, note: expect.stringContaining('5') },
    ]);
  });

  it('rejects each name with its own reason and enables the others', async () => {
    const { enable, enabled } = await open({
      policy: {
        riskCeiling: 'medium',
        rules: [{ name: 'no', match: { tool: 'code_run' }, decision: 'deny' }],
      },
    });
    const output = await enable(['lsp_open', 'nothing', 'diary', 'code_run', 'deploy', 'broken', 'lsp_open']);
    expect(output.enabled).toEqual([{ name: 'lsp_open', expires_after_turns: 3 }]);
    expect(output.rejected.map(({ name, code }) => `${name} ${code}`)).toEqual([
      'nothing unknown_tool',
      'diary unknown_tool',
      'code_run unknown_tool',
      'deploy too_risky',
      'broken unavailable',
    ]);
    for (const { reason, next } of output.rejected) expect(`${reason}${next}`).not.toBe('');
    expect(await enabled()).toEqual(['lsp_open 3']);
  });

  it('tells what it would reject, in the same words, and enables and writes nothing', async () => {
    const policy = { riskCeiling: 'medium' as const };
    const { router, store, events, id, enable, enabled } = await open({ policy });
    const names = ['lsp_open', 'nothing', 'diary', 'deploy', 'deploy'];
    const before = await store.journal.audit({ limit: 100 });
    const rejected = await router.wouldReject(id, { names });
    expect(rejected.map(({ name, code }) => `${name} ${code}`)).toEqual([
      'nothing unknown_tool',
      'diary unknown_tool',
      'deploy too_risky',
    ]);
    expect([await enabled(), events, await store.journal.audit({ limit: 100 })]).toEqual([[], [], before]);
    expect((await enable(names)).rejected).toEqual(rejected);
  });

  it('brings related tools along to a fixpoint, listed as such, for as many turns', async () => {
    const { enable, enabled } = await open();
    expect(await enable(['file_read'], { ttl_turns: 2 })).toMatchObject({
      enabled: [{ name: 'file_read' }],
      related_tools: [{ name: 'file_list', via: 'related', serves: 'file_read', expires_after_turns: 2 }],
    });
    expect(await enabled()).toEqual(['file_list 2', 'file_read 2'].sort().reverse());
  });

  it('brings a companion along again that was for one call and had it', async () => {
    const { router, id, enable, enabled } = await open();
    await enable(['file_list'], { ephemeral: true });
    await router.call(id, { tool: 'file_list' });
    expect((await enable(['file_read'])).related_tools).toMatchObject([{ name: 'file_list' }]);
    expect(await enabled()).toContain('file_list 3');
  });

  it('brings producers along: who turns a name into the code that is asked for', async () => {
    const { catalog } = await loadFixture('hydrology');
    const { enable } = await open({ tools: catalog.tools });
    const output = await enable(['query_reservoir_last']);
    expect(output.related_tools).toMatchObject([
      { name: 'lookup_station_code', via: 'producer', serves: 'query_reservoir_last.stcd' },
    ]);
  });

  it('brings nothing along where the policy says so', async () => {
    const { enable } = await open({ policy: { enabling: { companions: false } } });
    expect((await enable(['file_read'])).related_tools).toEqual([]);
  });

  it('says which companion was refused, unless it is hidden', async () => {
    const tools = TOOLS.map((tool) => (tool.name === 'file_read' ? { ...tool, relatedTools: ['deploy'] } : tool));
    const risky = await open({ tools, policy: { riskCeiling: 'medium' } });
    expect((await risky.enable(['file_read'])).not_added).toMatchObject([{ name: 'deploy', code: 'too_risky' }]);
    const rules = [{ name: 'no', match: { tool: 'deploy' }, decision: 'deny' as const }];
    const hidden = await open({ tools, policy: { rules } });
    expect((await hidden.enable(['file_read'])).not_added).toEqual([]);
  });

  it('stays within the cap, companions last', async () => {
    const { enable, enabled, router, id } = await open({ policy: { enabling: { maxEnabled: 2 } } });
    const first = await enable(['file_read', 'lsp_open']);
    expect(first.not_added).toMatchObject([{ name: 'file_list', code: 'too_many_enabled' }]);
    expect((await enable(['code_run'])).rejected).toMatchObject([
      { name: 'code_run', code: 'too_many_enabled', next: expect.stringContaining('tool_disable') },
    ]);
    await router.disable(id, { names: ['file_read'] });
    expect((await enable(['code_run'])).enabled).toHaveLength(1);
    expect(await enabled()).toHaveLength(2);
  });

  it('can be for one call in this turn', async () => {
    const { router, id, enable, runs } = await open();
    expect((await enable(['lsp_open'], { ephemeral: true, ttl_turns: 9 })).enabled).toEqual([
      { name: 'lsp_open', expires_after_turns: 1, ephemeral: true },
    ]);
    const call = () => router.call(id, { tool: 'lsp_open' });
    const results = await Promise.all([call(), call()]);
    expect(results.filter(({ ok }) => ok)).toHaveLength(1);
    expect(await call()).toMatchObject({ code: 'not_enabled' });
    expect(runs).toHaveLength(1);
    await enable(['lsp_open'], { ephemeral: true });
    await router.beginTurn(id);
    expect(await call()).toMatchObject({ code: 'not_enabled' });
  });

  it('leaves what is always on or pinned as it is', async () => {
    const { enable, router, id } = await open({ policy: { pinned: ['lsp_*'] } });
    expect((await enable(['ask_user', 'lsp_open'])).enabled).toEqual([
      { name: 'ask_user', note: expect.any(String) },
      { name: 'lsp_open', note: expect.any(String) },
    ]);
    for (let turn = 0; turn < 5; turn++) await router.beginTurn(id);
    expect(await router.call(id, { tool: 'lsp_open' })).toMatchObject({ ok: true });
  });

  it.each([
    ['no names', { names: [] }, 'names'],
    ['no turns', { names: ['a'], ttl_turns: 0 }, 'ttl_turns'],
    ['an unknown field', { names: ['a'], ttl: 3 }, 'ttl'],
  ])('refuses %s, naming the field', async (_, input, field) => {
    const { router, id } = await open();
    await expect(router.enable(id, input)).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining(field),
    });
  });

  it('is hidden while the policy denies it, and there again when it does not, without being asked for again', async () => {
    const { router, setPolicy, runs } = await setUp();
    const { id } = await router.createSession();
    await router.enable(id, { names: ['lsp_open'] });
    const names = async () => {
      const listed = await router.list(id);
      return listed.ok ? listed.tools.map(({ name }) => name) : [];
    };
    expect(await names()).toContain('lsp_open');
    setPolicy({ rules: [{ name: 'not now', match: { tool: 'lsp_open' }, decision: 'deny' }] });
    expect(await names()).not.toContain('lsp_open');
    expect(await router.call(id, { tool: 'lsp_open' })).toMatchObject({ ok: false, code: 'unknown_tool' });
    expect((await router.session(id)).enabled.map(({ name }) => name)).toEqual(['ask_user']);
    expect(runs).toEqual([]);
    setPolicy({});
    expect(await names()).toContain('lsp_open');
  });

  it('reaches nobody else', async () => {
    const { router, enable } = await open();
    await enable(['lsp_open']);
    const other = await router.createSession({ user: 'ann' });
    expect(await router.call(other.id, { tool: 'lsp_open' })).toMatchObject({ code: 'not_enabled' });
  });
});

describe('tool_disable', () => {
  it('takes away what was enabled, and says why it did not', async () => {
    const { router, id, enable, enabled } = await open({ policy: { pinned: ['lsp_hover'] } });
    await enable(['lsp_open', 'code_run']);
    const output = await router.disable(id, { names: ['lsp_open', 'ask_user', 'lsp_hover', 'file_list', 'nothing'] });
    expect(output.disabled).toEqual(['lsp_open']);
    expect(output.rejected.map(({ name, code }) => `${name} ${code}`)).toEqual([
      'ask_user always_on',
      'lsp_hover always_on',
      'file_list not_enabled',
      'nothing unknown_tool',
    ]);
    expect(await enabled()).toContain('code_run 3');
    expect(await router.call(id, { tool: 'lsp_open' })).toMatchObject({ code: 'not_enabled' });
  });
});

/** What comes along with an enabled tool: as far as it goes, and never past the policy. */
const related = (name: string, ...names: string[]) => createTool(name, {}, undefined, { relatedTools: names });
const CHAIN = [related('a', 'b'), related('b', 'c', 'a'), related('c', 'd', 'missing'), related('d')];

const step = (name: string, needed: string, returned: string) =>
  createTool(
    name,
    { properties: { [needed]: { type: 'string' } }, required: [needed] },
    { type: 'object', properties: { [returned]: { type: 'string' }, price: { type: 'number' } } },
    { risk: 'low' },
  );
const HOTELS = [
  step('find_city', 'name', 'city_id'),
  step('list_hotels', 'city_id', 'hotel_id'),
  step('hotel_prices', 'hotel_id', 'currency'),
];

describe('companions', () => {
  it('are those of companions, too, each once and told for what it came along', () => {
    const view = createScope(createCatalog(CHAIN))({});
    const [first] = CHAIN;
    const companions = runWhole(companionsOf(first ? [first] : [], new Set(['d']), { view, isShown: () => true }));
    expect(companions.map(({ tool, via, serves }) => [tool.name, via, serves])).toEqual([
      ['b', 'related', 'a'],
      ['c', 'related', 'b'],
    ]);
  });

  it('that the caller must not know of bring nothing along, in whose answer they would be named', async () => {
    const rules = [{ name: 'no b', match: { tool: 'b' }, decision: 'deny' as const }];
    const { router, setPolicy } = await setUp({ tools: CHAIN, policy: { rules } });
    const { id } = await router.createSession();
    expect(await router.enable(id, { names: ['a'] })).toMatchObject({ related_tools: [], not_added: [] });
    setPolicy({});
    expect((await router.session(id)).enabled.map(({ name }) => name)).toEqual(['a']);
  });

  it('that produce what a denied producer would need are not told either', async () => {
    const rules = [{ name: 'no hotels', match: { tool: 'list_hotels' }, decision: 'deny' as const }];
    const { router, setPolicy } = await setUp({ tools: HOTELS, policy: { rules } });
    const { id } = await router.createSession();
    expect(await router.enable(id, { names: ['hotel_prices'] })).toMatchObject({ related_tools: [], not_added: [] });
    setPolicy({});
    expect((await router.enable(id, { names: ['hotel_prices'] })).related_tools).toMatchObject([
      { name: 'find_city', serves: 'list_hotels.city_id' },
      { name: 'list_hotels', serves: 'hotel_prices.hotel_id' },
    ]);
  });

  it('that are refused for now are not enabled behind their refusal', async () => {
    const tools = [related('a', 'deploy'), createTool('deploy', {}, undefined, { risk: 'high' })];
    const { router, setPolicy } = await setUp({ tools, policy: { riskCeiling: 'medium' } });
    const { id } = await router.createSession();
    expect((await router.enable(id, { names: ['a'] })).not_added).toMatchObject([
      { name: 'deploy', code: 'too_risky' },
    ]);
    setPolicy({});
    expect(await router.call(id, { tool: 'deploy' })).toMatchObject({ code: 'not_enabled' });
  });
});

describe('the settings of sessions', () => {
  it('are a day without life, and visible from the next request, where nothing is said', () => {
    expect(parseSessionSettings({})).toEqual({ sessionIdleMs: 86_400_000, visibleFrom: 'next_request' });
  });

  it('are taken in minutes', () => {
    expect(parseSessionSettings({ idleMinutes: 1.5, visibleFrom: 'next_turn' })).toEqual({
      sessionIdleMs: 90_000,
      visibleFrom: 'next_turn',
    });
  });

  it('reach the agent: enabling says from when its client shows the tool', async () => {
    const { router } = await setUp({ options: parseSessionSettings({ visibleFrom: 'next_turn' }) });
    const { id } = await router.createSession();
    expect(await router.enable(id, { names: ['lsp_open'] })).toMatchObject({
      callable_from: 'now',
      visible_from: 'next_turn',
    });
  });

  it.each([
    ['a time that is none', { idleMinutes: 0 }, 'sessions.idleMinutes'],
    ['another unit', { idleHours: 2 }, 'idleHours'],
    ['an unknown moment', { visibleFrom: 'never' }, 'sessions.visibleFrom'],
    ['no settings', 7, 'sessions'],
  ])('refuse %s, naming the field', (_, input, field) => {
    expect(() => parseSessionSettings(input)).toThrow(
      expect.objectContaining({ code: 'invalid_option', message: expect.stringContaining(field) }),
    );
  });
});

describe('a name that is not known', () => {
  it('is answered with those that may be meant, of what the caller may find alone', async () => {
    const { router, setPolicy } = await setUp();
    const { id } = await router.createSession({ user: 'ann' });
    const nextOf = async (name: string) => {
      const { rejected } = await router.enable(id, { names: [name] });
      expect(rejected).toMatchObject([{ name, code: 'unknown_tool' }]);
      return rejected[0]?.next ?? '';
    };
    expect(await nextOf('file_raed')).toContain('"file_read" may be meant');
    expect(await nextOf('diaryy')).not.toContain('diary"');
    expect(await nextOf('zzz')).not.toContain('meant');
    setPolicy({ rules: [{ name: 'no files', match: { tool: 'file_*' }, decision: 'deny' }] });
    expect(await nextOf('file_raed')).not.toContain('file_read');
  });

  it('says no more of a tool that is denied than of one that does not exist', async () => {
    const { router } = await setUp({
      policy: { rules: [{ name: 'x', match: { tool: 'lsp_open' }, decision: 'deny' }] },
    });
    const { id } = await router.createSession({ user: 'ann' });
    const { rejected } = await router.enable(id, { names: ['lsp_open', 'lsp_opem'] });
    const [denied, unknown] = rejected.map(({ name, ...one }) => JSON.stringify(one).replaceAll(name, 'NAME'));
    expect(denied).toBe(unknown);
  });

  it('is answered for the first five of a request', async () => {
    const { router } = await setUp();
    const { id } = await router.createSession({ user: 'ann' });
    const names = Array.from({ length: 60 }, (_, place) => `file_rea${place % 10}${'x'.repeat(place / 10)}`);
    const { rejected } = await router.enable(id, { names });
    expect(rejected).toHaveLength(60);
    expect(rejected.filter(({ next }) => next.includes('meant'))).toHaveLength(5);
  });
});

/** What is always on for a user was learnt, not allowed: the policy decides on it as on all else. */
const NO_LISTS = { rules: [{ name: 'no lists', match: { tool: 'file_list' }, decision: 'deny' as const }] };
const alwaysOn = (user: string) => (user === 'ann' ? ['file_list', 'deploy'] : []);

describe('what was approved as always on', () => {
  it('is there for its user alone, and is not switched off', async () => {
    const { router } = await setUp({ alwaysOn });
    const enabledFor = async (user: string) =>
      (await router.createSession({ user })).enabled.map(({ name, via }) => `${name} ${via}`);
    expect(await enabledFor('ann')).toEqual(['ask_user always', 'file_list learnt', 'deploy learnt']);
    expect(await enabledFor('bob')).toEqual(['ask_user always']);
    const { id } = await router.createSession({ user: 'ann' });
    expect((await router.disable(id, { names: ['file_list'] })).rejected).toMatchObject([{ code: 'always_on' }]);
  });

  it('is hidden where the policy denies it, refused above the ceiling, and approved where its risk is high', async () => {
    const { router, setPolicy } = await setUp({ alwaysOn, policy: NO_LISTS });
    const { id } = await router.createSession({ user: 'ann' });
    const { matches } = await router.search(id, { query: 'x' });
    const shown = [...(await router.session(id)).enabled, ...matches].map(({ name }) => name);
    expect(shown).toContain('deploy');
    expect(shown).not.toContain('file_list');
    expect(await router.call(id, { tool: 'file_list' })).toMatchObject({ code: 'unknown_tool' });
    expect(await router.call(id, { tool: 'deploy' })).toMatchObject({ code: 'needs_approval' });
    setPolicy({ riskCeiling: 'medium' });
    expect(await router.call(id, { tool: 'deploy' })).toMatchObject({ code: 'too_risky' });
  });
});
