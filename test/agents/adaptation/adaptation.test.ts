/** Adaptation: what is learnt, how it orders matches, and that it changes nothing else. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Adaptation,
  type AdaptationOptions,
  createAdaptation,
} from '../../../src/agents/adaptation/adaptation.js';
import { explainEntry, learntEntrySchema } from '../../../src/agents/adaptation/entry.js';
import { decide } from '../../../src/agents/policy/decide.js';
import { createPolicy } from '../../../src/agents/policy/policy.js';
import type { TelemetryEvent } from '../../../src/agents/records.js';
import { createDiscovery } from '../../../src/agents/search/discovery.js';
import { createScope } from '../../../src/core/catalog/scope.js';
import type { Tool } from '../../../src/core/catalog/tool.js';
import { loadFixture } from '../../support/fixtures.js';
import { createLearntMemory } from '../../support/habits.js';
import { call, enable, search } from '../telemetry/setup.js';

describe('what is learnt', () => {
  const NOW = '2026-03-31T00:00:00.000Z';
  const DAY_MS = 86_400_000;
  const daysAgo = (days: number) => new Date(Date.parse(NOW) - days * DAY_MS).toISOString();

  interface Use {
    user?: string;
    query?: string;
    tool?: string;
    times?: number;
    daysBefore?: number;
    ok?: boolean;
  }

  /** Sessions in which a query led to a tool that was enabled and called. */
  function uses({
    user = 'ann',
    query = 'frob the thing',
    tool = 'git_push',
    times = 3,
    daysBefore = 0,
    ok = true,
  }: Use) {
    const at = daysAgo(daysBefore);
    return Array.from({ length: times }, (_, place): TelemetryEvent[] => {
      const session = `${user} ${query} ${tool} ${daysBefore} ${place}`;
      const who = { user, project: 'p', at };
      return [
        search(session, ['other', tool], { ...who, query }),
        enable(session, tool, who),
        call(session, tool, { ...who, ok }),
      ];
    }).flat();
  }

  async function learnt(events: readonly TelemetryEvent[], options: AdaptationOptions = {}) {
    const store = createLearntMemory();
    const use = { events: [...events], now: NOW };
    const adaptation = createAdaptation({
      store,
      events: async function* (since) {
        yield* use.events.filter(({ at }) => at >= since);
      },
      options: { enabled: true, ...options },
      clock: () => new Date(use.now),
    });
    await adaptation.learn();
    return { ...adaptation, store, use };
  }

  const keysOf = (entries: readonly { key: string }[]) => entries.map(({ key }) => key).sort();
  const boostOf = (one: Awaited<ReturnType<typeof learnt>>, user: string, tool = 'git_push') =>
    one.learntFor({ user, project: 'p' })?.boost(tool) ?? 1;
  const weightOf = (one: Awaited<ReturnType<typeof learnt>>, user: string, term = 'frob') =>
    one.learntFor({ user, project: 'p' })?.toolsOf(term).get('git_push') ?? 0;

  describe('adaptation', () => {
    it('is off by default: it learns nothing and has no effect', async () => {
      const off = await learnt(uses({}), { enabled: false });
      expect(await off.list()).toEqual([]);
      expect(off.learntFor({ user: 'ann' })).toBeUndefined();
      const byDefault = createAdaptation({
        store: off.store,
        events: async function* () {
          yield* uses({});
        },
        clock: () => new Date(NOW),
      });
      expect(await byDefault.learn()).toEqual({ entries: 0 });
    });

    it("learns a person's tools and words, for that person alone", async () => {
      const one = await learnt(uses({}));
      expect(boostOf(one, 'ann')).toBeGreaterThan(1);
      expect(weightOf(one, 'ann')).toBeGreaterThan(0.3);
      expect(boostOf(one, 'bob')).toBe(1);
      expect(weightOf(one, 'bob')).toBe(0);
      expect(one.learntFor({})?.boost('git_push') ?? 1).toBe(1);
      expect(keysOf(await one.list({ level: 'person', kind: 'synonym' }))).toEqual(['frob → git_push']);
    });

    it.each<[string, TelemetryEvent[]]>([
      ['there is too little evidence', uses({ times: 2 })],
      ['the calls failed', uses({ ok: false })],
      ['it is too long ago', uses({ daysBefore: 200 })],
      ['nothing was called', uses({}).filter(({ type }) => type !== 'call')],
      ['no search led there', uses({}).filter(({ type }) => type !== 'search')],
    ])('learns nothing when %s', async (_, events) => {
      expect(await (await learnt(events)).list()).toEqual([]);
    });

    it('learns the words of a search that missed from the one after it that found', async () => {
      const events = Array.from({ length: 3 }, (_, place): TelemetryEvent[] => {
        const who = { user: 'ann', at: daysAgo(1) };
        const session = `s${place}`;
        return [
          search(session, [], { ...who, query: 'blorzan it' }),
          search(session, ['git_push'], { ...who, query: 'push a branch' }),
          enable(session, 'git_push', who),
          call(session, 'git_push', who),
        ];
      }).flat();
      expect(weightOf(await learnt(events), 'ann', 'blorzan')).toBeGreaterThan(0.3);
    });

    it('does not take a word for a tool that is used with many', async () => {
      const mixed = ['git_push', 'file_read', 'file_write'].flatMap((tool) => uses({ tool, query: `frob ${tool}` }));
      expect(weightOf(await learnt(mixed), 'ann')).toBe(0);
    });

    it('forgets with time: a use counts half after a half-life, and the effect fades by itself', async () => {
      const fresh = await learnt(uses({ times: 4 }));
      const old = await learnt(uses({ times: 4, daysBefore: 30 }));
      const worthOf = async (one: typeof fresh) => (await one.list({ kind: 'weight', level: 'person' }))[0]?.value;
      expect(await worthOf(fresh)).toBe(4);
      expect(await worthOf(old)).toBe(2);
      const before = boostOf(fresh, 'ann');
      fresh.use.now = new Date(Date.parse(NOW) + 60 * DAY_MS).toISOString();
      expect(boostOf(fresh, 'ann')).toBeLessThan(before);
      expect(boostOf(fresh, 'ann')).toBeGreaterThan(1);
    });

    it('drops what use no longer says', async () => {
      const one = await learnt(uses({}));
      one.use.events = uses({ query: 'twiddle it', tool: 'file_read' });
      await one.learn();
      expect(weightOf(one, 'ann')).toBe(0);
      expect(keysOf(await one.list({ kind: 'weight' }))).toEqual(['file_read']);
    });

    it('learns the same from the same use, however often it looks', async () => {
      const one = await learnt(uses({}));
      const first = await one.list();
      await one.learn();
      await one.learn();
      expect(await one.list()).toEqual(first);
    });

    describe('for others', () => {
      const many = ['ann', 'bob', 'cid'].flatMap((user) => uses({ user }));

      it('waits for approval, and then holds for all', async () => {
        const one = await learnt(many);
        const shared = await one.list({ level: 'all', kind: 'synonym', key: 'frob → git_push' });
        expect(shared).toMatchObject([{ state: 'proposed', evidence: 9, details: { users: 3, queries: [] } }]);
        expect(weightOf(one, 'dan')).toBe(0);
        const [entry] = shared;
        if (!entry) throw new Error('nothing was proposed');
        expect(await one.approve(entry, 'operator')).toMatchObject({
          state: 'active',
          details: { decidedBy: 'operator' },
        });
        expect(weightOf(one, 'dan')).toBeGreaterThan(0.2);
        expect(one.learntFor({})?.toolsOf('frob').size).toBe(1);
      });

      it('is not proposed for the zeal of one or two', async () => {
        const zealous = await learnt([...uses({ times: 500 }), ...uses({ user: 'bob' })]);
        expect(await zealous.list({ level: 'all' })).toEqual([]);
        expect(await zealous.list({ level: 'project' })).toEqual([]);
      });

      it('counts a user three times at most', async () => {
        const one = await learnt([...many, ...uses({ user: 'ann', times: 100, daysBefore: 1 })]);
        expect(await one.list({ level: 'all', kind: 'weight' })).toMatchObject([{ evidence: 9 }]);
      });

      it('stays as it was approved, whatever anybody does afterwards', async () => {
        const one = await learnt(many);
        const name = { level: 'all', subject: '', kind: 'weight', key: 'git_push' } as const;
        await one.approve(name, 'operator');
        const before = boostOf(one, 'dan');
        one.use.events = [
          ...many,
          ...uses({ user: 'mallory', tool: 'git_push', times: 50 }),
          ...uses({ user: 'mallory', tool: 'file_delete', times: 50 }),
        ];
        await one.learn();
        expect(boostOf(one, 'dan')).toBe(before);
        expect(boostOf(one, 'dan', 'file_delete')).toBe(1);
      });
    });

    it('takes back what is reverted, and does not learn it again', async () => {
      const one = await learnt(uses({}));
      const name = { level: 'person', subject: 'ann', kind: 'synonym', key: 'frob → git_push' } as const;
      expect(await one.revert(name, 'ann')).toMatchObject({ state: 'reverted' });
      expect(weightOf(one, 'ann')).toBe(0);
      await one.learn();
      expect(weightOf(one, 'ann')).toBe(0);
      expect(await one.list({ state: 'reverted' })).toHaveLength(1);
    });

    it('may learn again what was reverted and then removed', async () => {
      const one = await learnt(uses({}));
      const name = { level: 'person', subject: 'ann', kind: 'synonym', key: 'frob → git_push' } as const;
      await one.revert(name, 'ann');
      await one.remove(name, 'olga');
      expect(await one.list({ kind: 'synonym' })).toEqual([]);
      await one.learn();
      expect(weightOf(one, 'ann')).toBeGreaterThan(0.3);
    });

    it('proposes as always on what is used in most sessions, and switches nothing on', async () => {
      const one = await learnt([...uses({ times: 8 }), ...uses({ times: 4, tool: 'file_read', query: 'other words' })]);
      expect(await one.list({ kind: 'always_on' })).toMatchObject([
        { key: 'git_push', state: 'proposed', subject: 'ann', evidence: 8 },
      ]);
      expect(one.alwaysOn('ann')).toEqual([]);
      await one.approve({ level: 'person', subject: 'ann', kind: 'always_on', key: 'git_push' }, 'operator');
      expect(one.alwaysOn('ann')).toEqual(['git_push']);
      expect(one.alwaysOn('bob')).toEqual([]);
    });

    it('explains each entry in words, and has them in the documented form', async () => {
      const one = await learnt(uses({}));
      const entries = await one.list();
      for (const entry of entries) expect(learntEntrySchema.parse(entry)).toEqual(entry);
      expect(entries.map(explainEntry)).toContain(
        'For the person "ann", the word "frob" stands for git_push, which was used after 100 % of the searches with it. ' +
          'Evidence: 3 uses of one user, worth 3 after decay. Queries: "frob the thing". It is active.',
      );
    });

    it('sees what another process has decided after a refresh', async () => {
      const one = await learnt(uses({}));
      const other = createAdaptation({
        store: one.store,
        events: async function* () {},
        options: { enabled: true },
        clock: () => new Date(NOW),
      });
      expect(other.learntFor({ user: 'ann' })).toBeUndefined();
      await other.refresh();
      expect(other.learntFor({ user: 'ann' })?.boost('git_push')).toBe(boostOf(one, 'ann'));
    });

    it.each([
      ['what is not there', { level: 'all', subject: '', kind: 'weight', key: 'nothing' } as const, 'not_found'],
      [
        'what is active already',
        { level: 'person', subject: 'ann', kind: 'weight', key: 'git_push' } as const,
        'invalid_request',
      ],
    ])('does not approve %s', async (_, name, code) => {
      await expect((await learnt(uses({}))).approve(name, 'operator')).rejects.toMatchObject({ code });
    });

    it('does not approve a proposal of the very person from whose use it comes', async () => {
      const adaptation = await learnt(uses({ times: 10 }), { alwaysOnSessions: 10 });
      const name = { level: 'person', subject: 'ann', kind: 'always_on', key: 'git_push' } as const;
      for (const by of ['ann', 'Ann ', 'a\u200bnn'])
        await expect(adaptation.approve(name, by)).rejects.toMatchObject({ code: 'invalid_request' });
      expect(adaptation.alwaysOn('ann')).toEqual([]);
      expect(await adaptation.approve(name, 'bob')).toMatchObject({ state: 'active' });
      expect(adaptation.alwaysOn('ann')).toEqual(['git_push']);
    });

    it('names an option that is wrong', () => {
      const make = () =>
        createAdaptation({ store: createLearntMemory(), events: async function* () {}, options: { minUses: 1 } });
      expect(make).toThrow(/adaptation\.minUses/u);
    });
  });
});

/** Whatever is learnt, approved or reverted: risk, policy, approvals and schemas are what they were. */
describe('what stays untouched', () => {
  const NOW = '2026-03-31T00:00:00.000Z';
  const QUERIES = ['run the tests', 'delete a file', 'push my branch', 'frob it', 'show the history'];
  const POLICY = createPolicy({
    rules: [{ name: 'no pushing', decision: 'deny', match: { tool: 'git_push' } }],
  });

  const useOf = (names: readonly string[]) =>
    fc.record({
      user: fc.constantFrom('ann', 'bob', 'cid', 'dan'),
      query: fc.constantFrom(...QUERIES),
      tool: fc.constantFrom(...names),
      times: fc.integer({ min: 1, max: 6 }),
    });

  function eventsOf(uses: readonly { user: string; query: string; tool: string; times: number }[]): TelemetryEvent[] {
    return uses.flatMap(({ user, query, tool, times }, use) =>
      Array.from({ length: times }, (_, place): TelemetryEvent[] => {
        const session = `${use}-${place}`;
        const who = { user, project: 'p', at: NOW };
        return [search(session, [tool], { ...who, query }), enable(session, tool, who), call(session, tool, who)];
      }).flat(),
    );
  }

  const decisionsOn = (tools: readonly Tool[]) =>
    tools.map((tool) => {
      const facts = {
        caller: { user: 'ann', roles: [] },
        session: { turn: 1, isEnded: false },
        now: new Date(NOW),
        tool,
      };
      return (['find', 'enable', 'call'] as const).map((purpose) =>
        decide(POLICY, { ...facts, purpose, isEnabled: true, arguments: {}, calls: [] }),
      );
    });

  describe('adaptation', () => {
    it('changes the order of matches and nothing else', async () => {
      const { catalog } = await loadFixture('coding-agent');
      const names = catalog.tools.map(({ name }) => name);
      const isAllowed = (tool: Tool) =>
        decide(POLICY, {
          purpose: 'find',
          tool,
          caller: { user: 'ann', roles: [] },
          session: { turn: 1, isEnded: false },
          now: new Date(NOW),
        }).decision !== 'deny';
      const toolsBefore = JSON.stringify(catalog.tools);
      const decisionsBefore = JSON.stringify(decisionsOn(catalog.tools));
      const caller = {
        view: createScope(catalog)({}),
        isAllowed,
        isEnabled: () => false,
        audience: 'ann',
        user: 'ann',
        project: 'p',
      };
      let learnt: Adaptation['learntFor'] = () => undefined;
      const { index, search: find } = createDiscovery({ catalog: () => catalog, learnt: (who) => learnt(who) });
      await index.settled();
      const requests = QUERIES.map((query) => ({ query, top_k: 50, per_scope: false, detail: 'schema' as const }));
      const plain = await Promise.all(requests.map((request) => find(request, caller)));

      await fc.assert(
        fc.asyncProperty(
          fc.array(useOf(names), { maxLength: 25 }),
          fc.array(fc.boolean(), { maxLength: 30 }),
          async (uses, choices) => {
            const events = eventsOf(uses);
            const adaptation = createAdaptation({
              store: createLearntMemory(),
              events: async function* () {
                yield* events;
              },
              options: { enabled: true, minUses: 2, minUsers: 2, alwaysOnSessions: 2 },
              clock: () => new Date(NOW),
            });
            await adaptation.learn();
            const proposed = await adaptation.list({ state: 'proposed' });
            for (const [place, entry] of proposed.entries())
              await (choices[place] ? adaptation.approve : adaptation.revert)(entry, 'operator');
            learnt = adaptation.learntFor;
            for (const [place, request] of requests.entries()) {
              const before = new Map(plain[place]?.matches.map((match) => [match.name, match]));
              for (const { score: _, why_matched: __, signature: _signature, ...match } of (await find(request, caller))
                .matches) {
                expect(match.name).not.toBe('git_push');
                const {
                  score: ___,
                  why_matched: ____,
                  signature: _____,
                  ...same
                } = before.get(match.name) ?? toMatch(catalog.tools, match.name);
                expect(match).toEqual(same);
              }
            }
            expect(JSON.stringify(catalog.tools)).toBe(toolsBefore);
            expect(JSON.stringify(decisionsOn(catalog.tools))).toBe(decisionsBefore);
          },
        ),
        { numRuns: 10 },
      );
    });
  });

  /** What a match says of a tool, for one that a learnt word alone has found. */
  function toMatch(tools: readonly Tool[], name: string) {
    const tool = tools.find((one) => one.name === name);
    if (!tool) throw new Error(`${name} is no tool`);
    const { category, toolType, risk, description, inputSchema } = tool;
    const about = { name, category, toolType, risk, description, inputSchema, signature: '' };
    return { ...about, enabled: false, score: 0, why_matched: [] };
  }
});
