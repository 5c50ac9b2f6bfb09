import { describe, expect, it } from '@jest/globals';
import type { CaseRecord, ModelCall } from '../../src/evaluation/record.js';
import { createTally } from '../../src/evaluation/tally.js';
import { anError, aRecord, NO_USAGE } from './setup.js';

const CALL: ModelCall = {
  stage: 'selection',
  system: 'ff',
  user: 'u',
  answer: 'a',
  usage: NO_USAGE,
  milliseconds: 1,
  fromCache: false,
};

function tallied(records: readonly CaseRecord[]) {
  const tally = createTally();
  for (const record of records) tally.add(record);
  const metrics = tally.metrics();
  return { tally, metric: (name: string) => metrics.find((metric) => metric.name === name) };
}

describe('the metrics of a run', () => {
  it('are means over cases, each the mean of its repeats', () => {
    const { metric } = tallied([
      aRecord({ id: 'a', repeat: 0, scores: { right: 1, recall: 1 } }),
      aRecord({ id: 'a', repeat: 1, scores: { right: 0, recall: 0 } }),
      aRecord({ id: 'b', scores: { right: 1, recall: null } }),
    ]);
    expect(metric('right')).toMatchObject({ mean: 0.75, count: 2, group: 'selection', unit: 'fraction' });
    expect(metric('recall')).toMatchObject({ mean: 0.5, count: 1 });
  });

  it('leave it open how far off the truth is where all cases agree, for fractions alone', () => {
    const { metric } = tallied(
      Array.from({ length: 10 }, (_, place) => aRecord({ id: `c${place}`, scores: { right: 1, unknownNames: 1 } })),
    );
    expect(metric('right')).toMatchObject({ mean: 1, low: expect.closeTo(0.7225, 4), high: 1 });
    expect(metric('errors')).toMatchObject({ mean: 0, low: 0, high: expect.closeTo(0.2775, 4) });
    expect(metric('unknownNames')).toMatchObject({ mean: 1, low: 1, high: 1 });
  });

  it('say nothing where no case has a value', () => {
    expect(tallied([aRecord({ scores: { mrr: null } })]).metric('mrr')).toMatchObject({
      mean: null,
      low: null,
      count: 0,
    });
  });

  it('keep errors of the server apart from wrong answers', () => {
    const { tally, metric } = tallied([
      aRecord({ id: 'a' }),
      anError('b'),
      aRecord({ id: 'c', scores: { right: 0 }, cause: 'cap' }),
    ]);
    expect(tally.counts()).toEqual({ done: 3, answered: 2, errors: 1, right: 1, wrong: 1 });
    expect(metric('right')).toMatchObject({ mean: 0.5, count: 2 });
    expect(metric('errors')?.mean).toBeCloseTo(1 / 3);
    expect([metric('calls')?.count, metric('time')?.count]).toEqual([2, 2]);
    expect(tally.causes()).toEqual({ error: 1, cap: 1 });
    expect(tally.commonestError()).toMatchObject({ count: 1 });
    expect(tallied([aRecord({ id: 'a' })]).tally.commonestError()).toBeUndefined();
  });

  it('hold pass^k and the flip rate where cases were repeated', () => {
    const right = (id: string, ...rows: number[]) =>
      rows.map((value, repeat) => aRecord({ id, repeat, scores: { right: value } }));
    const { metric } = tallied([...right('a', 1, 1, 1), ...right('b', 1, 0, 1), ...right('c', 0, 0, 0)]);
    expect(metric('pass^1')?.mean).toBeCloseTo(5 / 9);
    expect(metric('pass^2')?.mean).toBeCloseTo((1 + 1 / 3) / 3);
    expect(metric('pass^3')?.mean).toBeCloseTo(1 / 3);
    expect(metric('flipRate')?.mean).toBeCloseTo(1 / 3);
    expect(tallied([aRecord()]).metric('pass^1')).toBeUndefined();
  });

  it('sum tokens over both stages', () => {
    const usage = {
      selection: { calls: 1, read: 100, cached: 50, written: 10 },
      planning: { calls: 2, read: 200, cached: 25, written: 30 },
      schemaTokens: { all: 1_000, loaded: 80 },
    };
    const { metric } = tallied([aRecord({ usage, cost: 0.5 })]);
    const names = [
      'calls',
      'tokens.read',
      'tokens.cached',
      'tokens.written',
      'tokens.selection',
      'tokens.planning',
      'schemaTokens',
      'cost',
    ];
    expect(names.map((name) => metric(name)?.mean)).toEqual([3, 300, 75, 40, 160, 255, 80, 0.5]);
  });

  it('tell the time that half of the tries, and 95 of a hundred, do not exceed', () => {
    const { metric } = tallied(
      Array.from({ length: 100 }, (_, place) =>
        aRecord({ id: `c${place}`, milliseconds: { selection: place + 1, total: 2 * (place + 1) } }),
      ),
    );
    const names = ['time.p50', 'time.p95', 'selectionTime.p50', 'selectionTime.p95'];
    expect(names.map((name) => metric(name)?.mean)).toEqual([100, 190, 50, 95]);
  });

  it('leave the time of remembered answers out', () => {
    const remembered = aRecord({
      id: 'b',
      calls: [{ ...CALL, fromCache: true }],
      milliseconds: { selection: 0, total: 0 },
    });
    const { metric } = tallied([aRecord({ id: 'a', calls: [CALL] }), remembered]);
    expect(metric('time.p50')).toMatchObject({ mean: 9, count: 1 });
    expect(metric('selectionTime')).toMatchObject({ mean: 5, count: 1 });
  });

  it('list only ways by which tools came', () => {
    const scores = {
      'found.rule': 0,
      'tools.rule': 0,
      'tokens.rule': 0,
      'found.model': 1,
      'tools.model': 2,
      'tokens.model': 20,
    };
    const { metric } = tallied([aRecord({ scores })]);
    expect(metric('found.model')?.mean).toBe(1);
    expect([metric('found.rule'), metric('tokens.rule')]).toEqual([undefined, undefined]);
  });
});
