/** Sessions of habits over the catalogue of the coding agent, and the ranking before and after they were learnt. */

import { type Adaptation, createAdaptation } from '../../../src/agents/adaptation/adaptation.js';
import type { TelemetryEvent } from '../../../src/agents/records.js';
import { createDiscovery } from '../../../src/agents/search/discovery.js';
import { loadSynonyms } from '../../../src/agents/search/source-synonyms.js';
import { createScope } from '../../../src/core/catalog/scope.js';
import { createRandom } from '../../../src/eval/random.js';
import { loadFixture, loadSearchCases } from '../../support/fixtures.js';
import { createLearntMemory, type Find, liveSession, makeHabits, measureHabits } from '../../support/habits.js';

const START = Date.parse('2026-01-01T00:00:00.000Z');
const DAY_MS = 86_400_000;
const POISONER = 'mallory';
const PROBES = [
  'run the tests',
  'rename a symbol',
  'commit my work',
  'show the history',
  'find a file',
  'check my work',
];

export interface SimulationOptions {
  sessions: number;
  users: number;
  seed: number;
  /** Further sessions in which one user takes a wrong tool after plain queries. Default: 0. */
  poison?: number;
}

export async function simulateHabits({ sessions, users, seed, poison = 0 }: SimulationOptions) {
  const random = createRandom(seed);
  const { find, learnFrom } = await setUp(sessions);
  const cases = loadSearchCases().filter(({ expected, lang }) => expected.length === 1 && lang === 'en');
  const tools = cases.map(({ query, expected }) => ({ name: expected[0] ?? '', plain: query }));
  const habits = makeHabits({ users, habitsOfOne: 4, tools, random });
  const before = await measureHabits(habits, find);
  const plainBefore = await measurePlain(tools, find);
  const events: TelemetryEvent[] = [];
  for (let place = 0; place < sessions; place++) {
    const habit = habits[Math.floor(random() * habits.length)];
    const at = new Date(START + (place / sessions) * 60 * DAY_MS).toISOString();
    if (habit) events.push(...(await liveSession(habit, { id: `s${place}`, at, find, random })));
  }
  await learnFrom(events);
  const after = await measureHabits(habits, find);
  const plainAfter = await measurePlain(tools, find);
  const othersBefore = await answersOf(users, find);
  for (let place = 0; place < poison; place++) {
    const query = PROBES[place % PROBES.length] ?? '';
    const common = {
      at: new Date(START + 59 * DAY_MS).toISOString(),
      session: `m${place}`,
      user: POISONER,
      project: 'p',
      turn: 1,
    };
    events.push({ type: 'search', ...common, query, names: ['file_delete'], rankedBy: 'rules', milliseconds: 1 });
    events.push({ type: 'enable', ...common, tool: 'file_delete', via: 'asked' });
    events.push({ type: 'call', ...common, tool: 'file_delete', ok: true, milliseconds: 1 });
  }
  await learnFrom(events);
  const othersAfter = await answersOf(users, find);
  const poisoned = poison > 0 ? await find('run the tests', POISONER) : [];
  return {
    before,
    after,
    plainBefore,
    plainAfter,
    othersBefore,
    othersAfter,
    poisonedAfter: poisoned.includes('file_delete'),
  };
}

async function setUp(sessions: number) {
  const { catalog } = await loadFixture('coding-agent');
  const synonyms = await loadSynonyms('fixtures/catalogs/coding-agent.json');
  let events: readonly TelemetryEvent[] = [];
  const adaptation: Adaptation = createAdaptation({
    store: createLearntMemory(),
    events: async function* () {
      yield* events;
    },
    options: { enabled: true },
    clock: () => new Date(START + 60 * DAY_MS),
  });
  const discovery = createDiscovery({ catalog: () => catalog, synonyms, learnt: adaptation.learntFor });
  await discovery.index.settled();
  const view = createScope(catalog)({});
  const find: Find = async (query, user) => {
    const caller = { view, isAllowed: () => true, isEnabled: () => false, audience: 'all', user, project: 'p' };
    const { matches } = await discovery.search({ query, top_k: 5, per_scope: false, detail: 'signature' }, caller);
    return matches.map(({ name }) => name);
  };
  const learnFrom = async (news: readonly TelemetryEvent[]) => {
    events = news;
    await adaptation.learn();
  };
  return { find, learnFrom, sessions };
}

/** Queries in plain words must not get worse for those who have habits. */
async function measurePlain(tools: readonly { name: string; plain: string }[], find: Find): Promise<{ top3: number }> {
  let hits = 0;
  for (const { name, plain } of tools) if ((await find(plain, 'user0')).slice(0, 3).includes(name)) hits += 1;
  return { top3: hits / tools.length };
}

function answersOf(users: number, find: Find): Promise<(readonly string[])[]> {
  const who = Array.from({ length: users + 1 }, (_, place) => `user${place}`);
  return Promise.all(who.flatMap((user) => PROBES.map((query) => find(query, user))));
}
