/** Figures of the use: searches that are followed, rates, and metrics. */
import { register } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { createToolIndex } from '../../../src/agents/index/tool-index.js';
import type { TelemetryEvent } from '../../../src/agents/records.js';
import { openStore } from '../../../src/agents/store/open-store.js';
import {
  createSearchFollower,
  MAX_FOLLOWED,
  type SearchOutcome,
} from '../../../src/agents/telemetry/follow-searches.js';
import { createMetrics } from '../../../src/agents/telemetry/metrics.js';
import { reportTelemetry, telemetryReportSchema } from '../../../src/agents/telemetry/rates.js';
import { TOOLS } from '../../core/selection/setup.js';
import { watchWork } from '../../support/watch-work.js';
import { call, disable, enable, expire, search, storeOf } from './setup.js';

function outcomesOf(events: readonly TelemetryEvent[]): SearchOutcome[] {
  const outcomes: SearchOutcome[] = [];
  const follower = createSearchFollower((_, outcome) => outcomes.push(outcome));
  for (const event of events) follower.observe(event);
  follower.end();
  return outcomes;
}

describe('what becomes of a search', () => {
  const found = search('s', ['a', 'b', 'c']);

  it.each<[string, TelemetryEvent[], SearchOutcome]>([
    ['its first tool was enabled', [enable('s', 'a')], { kind: 'used', tool: 'a', place: 0 }],
    ['its third tool was called', [call('s', 'c')], { kind: 'used', tool: 'c', place: 2 }],
    ['another tool was enabled than it found', [enable('s', 'z')], { kind: 'used', tool: 'z', place: -1 }],
    ['a tool was called that it has no part in', [call('s', 'z')], { kind: 'left' }],
    ['a tool only came along', [enable('s', 'a', { via: 'related' })], { kind: 'left' }],
    ['nothing came', [], { kind: 'left' }],
    ['something ended', [expire('s', 'a', 0)], { kind: 'left' }],
    ['another session used its tool', [enable('other', 'a')], { kind: 'left' }],
  ])('when %s', (_, events, outcome) => {
    expect(outcomesOf([found, ...events])).toEqual([outcome]);
  });

  it('is "again" when the next thing is a search in this turn or the next, and "left" when that comes later', () => {
    expect(outcomesOf([found, search('s', [])])[0]).toEqual({ kind: 'again' });
    expect(outcomesOf([found, search('s', [], { turn: 2 })])[0]).toEqual({ kind: 'again' });
    expect(outcomesOf([found, search('s', [], { turn: 3 })])[0]).toEqual({ kind: 'left' });
  });

  it('is told once, by the first use', () => {
    expect(outcomesOf([found, enable('s', 'b'), call('s', 'b'), enable('s', 'a')])).toEqual([
      { kind: 'used', tool: 'b', place: 1 },
    ]);
  });

  it('is "left" for the session that is silent longest when there are too many', () => {
    const many = Array.from({ length: MAX_FOLLOWED + 1 }, (_, index) => search(`s${index}`, ['a']));
    const outcomes = outcomesOf([...many, enable('s0', 'a'), enable('s1', 'a')]);
    expect(outcomes.slice(0, 2)).toEqual([{ kind: 'left' }, { kind: 'used', tool: 'a', place: 0 }]);
    expect(outcomes).toHaveLength(MAX_FOLLOWED + 1);
  });
});

describe('the metrics', () => {
  it('count what happens, in the format of Prometheus', async () => {
    const metrics = createMetrics();
    const events = [
      search('s', ['x', 'y']),
      enable('s', 'y'),
      call('s', 'y'),
      call('s', 'y', { ok: false, code: 'timeout' }),
      call('s', 'y', { ok: false, code: 'not_enabled' }),
      expire('s', 'y', 2),
      disable('s', 'x'),
    ];
    for (const event of events) metrics.observe(event);
    const lines = (await metrics.render()).split('\n');
    expect(lines).toEqual(
      expect.arrayContaining([
        'winnow_searches_total{ranked_by="rules"} 1',
        'winnow_search_seconds_bucket{le="0.0025"} 1',
        'winnow_search_outcomes_total{outcome="top3"} 1',
        'winnow_enablements_total{via="asked"} 1',
        'winnow_enablements_ended_total{used="yes"} 1',
        'winnow_calls_total{tool="y",outcome="ok"} 1',
        'winnow_calls_total{tool="y",outcome="error"} 1',
        'winnow_calls_total{tool="y",outcome="refused"} 1',
        'winnow_call_seconds_count{tool="y"} 2',
      ]),
    );
    expect(metrics.contentType).toMatch(/^text\/plain/u);
  });

  it('tell the state of the index', async () => {
    const index = createToolIndex(TOOLS);
    const metrics = createMetrics({ index: index.status });
    expect(await metrics.render()).toContain('winnow_index_state{state="building"} 1');
    await index.settled();
    const text = await metrics.render();
    expect(text).toContain('winnow_index_state{state="ready"} 1');
    expect(text).toContain('winnow_index_state{state="building"} 0');
    expect(text).toContain(`winnow_index_tools ${TOOLS.length}`);
  });

  it('never have a user or a query in them, and only so many tools', async () => {
    const metrics = createMetrics({ maxTools: 2 });
    metrics.observe(search('s', ['a'], { user: 'ann', query: 'secret words' }));
    for (const tool of ['a', 'b', 'c', 'd', 'a']) metrics.observe(call('s', tool, { user: 'ann' }));
    const text = await metrics.render();
    expect(text).not.toMatch(/ann|secret/u);
    expect(text).toContain('winnow_calls_total{tool="a",outcome="ok"} 2');
    expect(text).toContain('winnow_calls_total{tool="other",outcome="ok"} 2');
  });

  it('name only the tools that may be named', async () => {
    const metrics = createMetrics({ isNamed: (tool) => tool !== 'diary' });
    for (const tool of ['a', 'diary']) metrics.observe(call('s', tool));
    const text = await metrics.render();
    expect(text).toContain('winnow_calls_total{tool="other",outcome="ok"} 1');
    expect(text).not.toContain('diary');
  });

  it('are of their own registry: two of them do not know each other, nor the global one', async () => {
    const one = createMetrics();
    const other = createMetrics();
    one.observe(search('s', []));
    expect(await one.render()).toContain('winnow_searches_total{ranked_by="rules"} 1');
    expect(await other.render()).not.toContain('winnow_searches_total{');
    expect(register.getMetricsAsArray()).toEqual([]);
  });
});

const ann = { user: 'ann', project: 'p' };
const bob = { user: 'bob', project: 'p', at: '2026-03-02T11:30:00.000Z' };
const EVENTS = [
  search('s1', ['x', 'y', 'z'], ann),
  search('s1', ['y', 'x', 'z'], ann),
  enable('s1', 'y', ann),
  call('s1', 'y', { ...ann, ok: false, code: 'needs_approval' }),
  call('s1', 'y', ann),
  call('s1', 'y', { ...ann, ok: false, code: 'timeout' }),
  search('s1', ['x', 'y', 'z'], { ...ann, turn: 3 }),
  call('s1', 'z', { ...ann, turn: 3 }),
  expire('s1', 'y', 2, { ...ann, turn: 4 }),
  search('s2', ['a', 'b', 'c', 'd'], bob),
  enable('s2', 'd', bob),
  enable('s2', 'e', bob),
  expire('s2', 'd', 0, { ...bob, turn: 4 }),
  disable('s2', 'e', bob),
];

describe('the rates', () => {
  it('of all events are those that are counted by hand', async () => {
    const report = await reportTelemetry(storeOf(EVENTS));
    expect(report).toEqual({
      total: {
        searches: 4,
        used: 3,
        top1: 0.3333,
        top3: 0.6667,
        searchAgain: 0.25,
        calls: 3,
        errors: 1,
        errorRate: 0.3333,
        refused: 1,
        enablements: 3,
        unused: 0.6667,
      },
      rows: [],
    });
    expect(telemetryReportSchema.parse(report)).toEqual(report);
  });

  it.each([
    [
      'tool',
      {
        d: { searches: 1, top3: 0, unused: 1 },
        e: { unused: 1 },
        y: { searches: 1, top1: 1, errorRate: 0.5, refused: 1, unused: 0 },
        z: { top3: 1, calls: 1 },
      },
    ],
    ['user', { ann: { searches: 3, used: 2, searchAgain: 0.3333 }, bob: { searches: 1, top1: 0, enablements: 2 } }],
    ['project', { p: { searches: 4 } }],
    ['day', { '2026-03-01': { searches: 3, calls: 3 }, '2026-03-02': { searches: 1, calls: 0 } }],
    ['hour', { '2026-03-01T10': { searches: 3 }, '2026-03-02T11': { searches: 1 } }],
  ] as const)('by %s have a row each, in order', async (by, rows) => {
    const report = await reportTelemetry(storeOf(EVENTS), { by });
    expect(report.rows.map(({ key }) => key)).toEqual(Object.keys(rows));
    expect(report.rows).toMatchObject(Object.values(rows));
  });

  it('count a call with wrong arguments as refused: its tool never ran, whoever found them wrong', async () => {
    const wrong = call('s', 'y', { ok: false, code: 'invalid_arguments' });
    const { total } = await reportTelemetry(storeOf([enable('s', 'y'), wrong, disable('s', 'y')]));
    expect(total).toMatchObject({ calls: 0, errors: 0, errorRate: null, refused: 1, unused: 1 });
  });

  it('can be those of a user, a project or a stretch of time', async () => {
    const store = storeOf(EVENTS);
    expect((await reportTelemetry(store, { user: 'bob' })).total.searches).toBe(1);
    expect((await reportTelemetry(store, { since: '2026-03-02T00:00:00.000Z' })).total.searches).toBe(1);
    expect((await reportTelemetry(store, { until: '2026-03-02T00:00:00.000Z' })).total.searches).toBe(3);
    expect((await reportTelemetry(store, { project: 'other' })).total).toMatchObject({ searches: 0, top1: null });
  });

  it('are read with a turn for others after each page of a store that answers at once', async () => {
    const store = await openStore();
    const content = search('s', ['a']);
    const rows = Array.from({ length: 1_000 }, () => ({ at: content.at, type: content.type, session: 's', content }));
    for (let page = 0; page < 5; page++) await store.journal.append({ telemetry: rows });
    const { result, turns } = await watchWork(() => reportTelemetry(store.journal));
    expect(result.total.searches).toBe(5_000);
    expect(turns).toBeGreaterThanOrEqual(20);
    await store.close();
  });

  it('are read page by page, to the last event', async () => {
    const many = Array.from({ length: 2_500 }, (_, place) => search(`s${place}`, ['a']));
    const store = storeOf(many);
    expect((await reportTelemetry(store)).total.searches).toBe(2_500);
    expect(store.pages).toBe(11);
  });
});
