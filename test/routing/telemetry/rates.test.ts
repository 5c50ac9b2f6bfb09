import { describe, expect, it } from '@jest/globals';
import { telemetryReportSchema } from '../../../src/routing/telemetry/rates.js';
import { reportTelemetry } from '../../../src/routing/telemetry/report.js';
import { call, disable, enable, expire, search, storeOf } from './setup.js';

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

  it('are read page by page, to the last event', async () => {
    const many = Array.from({ length: 2_500 }, (_, place) => search(`s${place}`, ['a']));
    const store = storeOf(many);
    expect((await reportTelemetry(store)).total.searches).toBe(2_500);
    expect(store.pages).toBe(3);
  });
});
