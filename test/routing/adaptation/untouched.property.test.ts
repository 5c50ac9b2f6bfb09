/** Whatever is learnt, approved or reverted: risk, policy, approvals and schemas are what they were. */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createScope } from '../../../src/core/catalog/scope.js';
import type { Tool } from '../../../src/core/catalog/tool.js';
import { type Adaptation, createAdaptation } from '../../../src/routing/adaptation/adaptation.js';
import { decide } from '../../../src/routing/policy/decide.js';
import { createPolicy } from '../../../src/routing/policy/policy.js';
import type { TelemetryEvent } from '../../../src/routing/records.js';
import { createDiscovery } from '../../../src/routing/search/discovery.js';
import { loadFixture } from '../../support/fixtures.js';
import { createLearntMemory } from '../../support/habits.js';
import { call, enable, search } from '../telemetry/setup.js';

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
    const requests = QUERIES.map((query) => ({ query, top_k: 50, per_scope: false }));
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
            for (const { score: _, why_matched: __, ...match } of (await find(request, caller)).matches) {
              expect(match.name).not.toBe('git_push');
              const {
                score: ___,
                why_matched: ____,
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
  const { category, toolType, risk, description } = tool;
  return { name, category, toolType, risk, description, enabled: false, score: 0, why_matched: [] };
}
