/** Comparisons of two runs: of cases, of steps, and as JUnit. */

import { describe, expect, it } from 'vitest';
import { compareRuns } from '../../src/eval/compare.js';
import { judgeGate, parseGate } from '../../src/eval/gate.js';
import { anError, aRecord, aRun, NO_USAGE } from './setup.js';

const right = (...values: number[]) =>
  values.map((value, place) => aRecord({ id: `c${place}`, scores: { right: value, recall: value } }));

describe('two runs', () => {
  it('are compared case by case', async () => {
    const first = await aRun([...right(1, 0, 0, 0, 0, 0, 0, 1), anError('x'), aRecord({ id: 'only' })]);
    const second = await aRun([...right(0, 1, 1, 1, 1, 1, 0, 1), aRecord({ id: 'x' })], {
      settings: { only: 'all', options: { maxTools: 5 } },
    });
    const comparison = await compareRuns(first.path, second.path);
    expect(comparison).toMatchObject({
      cases: 9,
      onlyFirst: 1,
      onlySecond: 0,
      won: ['c1', 'c2', 'c3', 'c4', 'c5'],
      lost: ['c0'],
      settings: ['options: nothing there, {"maxTools":5} here'],
    });
    expect(comparison.p).toBeCloseTo(0.21875);
    const metric = comparison.metrics.find(({ name }) => name === 'right');
    expect(metric).toMatchObject({
      first: 0.25,
      second: 0.75,
      difference: { mean: 0.5, count: 8, higher: 5, lower: 1 },
    });
  });

  it('differ in nothing when they are one', async () => {
    const { path } = await aRun(right(1, 0, 1));
    const { metrics, won, lost, p, settings } = await compareRuns(path, path);
    expect([won, lost, p, settings]).toEqual([[], [], 1, []]);
    for (const { difference } of metrics) expect(difference).toMatchObject({ mean: 0, low: 0, high: 0 });
  });

  it('that all cases tell apart differ with an interval, in fractions', async () => {
    const [first, second] = [await aRun(right(0, 0, 0, 0, 0, 0, 0, 0)), await aRun(right(1, 1, 1, 1, 1, 1, 1, 1))];
    const { metrics } = await compareRuns(first.path, second.path);
    const { difference } = metrics.find(({ name }) => name === 'right') ?? {};
    expect(difference).toMatchObject({ mean: 1, low: expect.closeTo(0.351, 3), high: 1 });
  });

  it('count a case as right when more than half of its repeats are', async () => {
    const tries = (...values: number[]) =>
      values.map((value, repeat) => aRecord({ id: 'a', repeat, scores: { right: value } }));
    const [first, second] = [await aRun(tries(1, 0, 0)), await aRun(tries(1, 1, 0))];
    expect((await compareRuns(first.path, second.path)).won).toEqual(['a']);
  });
});

describe('a gate', () => {
  const judge = async (text: string, records = right(1, 1, 1, 0)) => {
    const { path, summary } = await aRun(records);
    return judgeGate(parseGate(text), summary, (other) => compareRuns(other, path));
  };

  it.each([
    ['recall>=0.75', true],
    ['recall > 0.75', false],
    ['recall<=0.75', true],
    ['recall<0.75', false],
    ['recall>=0.76', false],
    ['errors<=0', true],
    ['nodeF1>=0', false],
  ])('with the bar %s passes: %s', async (bar, passed) => {
    expect(await judge(bar)).toEqual([{ bar, passed, found: expect.any(String) }]);
  });

  it('judges each of its bars', async () => {
    expect((await judge('recall>=0.7, right>=0.9')).map(({ passed }) => passed)).toEqual([true, false]);
  });

  it('is not passed by a run that is clearly worse than another, and passed by one that may be as good', async () => {
    const good = await aRun(right(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1));
    const bar = `noWorseThan=${good.path}`;
    const [worse] = await judge(bar, right(1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0));
    expect(worse).toMatchObject({
      passed: false,
      found: expect.stringMatching(/^right -0\.7500 \(-1\.0000 to -0\.\d+\).*12 cases$/u),
    });
    const [alike] = await judge(bar, right(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0));
    expect(alike?.passed).toBe(true);
  });

  it.each(['allNeeded', 'recall@8', 'abstention', 'nodeF1', 'edgeF1', 'argumentValueF1'])(
    'looks at %s too',
    async (name) => {
      const scored = (...values: number[]) =>
        values.map((value, place) => aRecord({ id: `c${place}`, scores: { right: 1, recall: 1, [name]: value } }));
      const good = await aRun(scored(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1));
      const [worse] = await judge(`noWorseThan=${good.path}`, scored(1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0));
      expect(worse).toMatchObject({
        passed: false,
        found: expect.stringMatching(new RegExp(`^${name} -0\\.7500 `, 'u')),
      });
    },
  );

  it('is not passed without a case in common', async () => {
    const other = await aRun([aRecord({ id: 'elsewhere' })]);
    expect(await judge(`noWorseThan=${other.path}`)).toMatchObject([
      { passed: false, found: expect.stringContaining('no case in common') },
    ]);
  });

  it('is not passed by a run in which cases are missing', async () => {
    const { path, summary } = await aRun(right(1), { planned: 2 });
    const results = await judgeGate(parseGate('right>=0.5'), summary, (other) => compareRuns(other, path));
    expect(results).toMatchObject([
      { bar: 'complete', passed: false, found: '1 of 2 cases are done' },
      { passed: true },
    ]);
  });

  it.each([
    ['recall', 'is no bar'],
    ['recall=0.5', 'is no bar'],
    ['recall>=high', 'is no bar'],
    ['recal>=0.5', 'there is no metric "recal"; there are right'],
    ['noWorseThan', 'is no bar'],
  ])('that says %s is refused', (text, message) => {
    expect(() => parseGate(text)).toThrow(message);
  });

  it('on a metric that is none names all that there are', () => {
    let message = '';
    try {
      parseGate('recal>=0.5');
    } catch (error) {
      message = String(error);
    }
    for (const name of ['right, allNeeded', 'recall@8', 'time;', 'pass^1', 'flipRate']) expect(message).toContain(name);
  });

  it('does not hold it against a run that it reads more', async () => {
    const reading = (read: number) =>
      Array.from({ length: 12 }, (_, place) => {
        const usage = { selection: { ...NO_USAGE, read }, planning: NO_USAGE, schemaTokens: { all: 100, loaded: 10 } };
        return aRecord({ id: `c${place}`, usage });
      });
    const lean = await aRun(reading(10));
    expect(await judge(`noWorseThan=${lean.path}`, reading(20))).toMatchObject([{ passed: true }]);
  });

  it('may bar pass^k, and nothing at all', () => {
    expect(parseGate('pass^3>=0.5')).toHaveLength(1);
    expect(parseGate('')).toEqual([]);
  });
});
