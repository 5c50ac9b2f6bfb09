import { appendFileSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { renderHistory } from '../../src/cli/render-comparison.js';
import { compareRuns } from '../../src/evaluation/compare.js';
import { judgeGate, parseGate } from '../../src/evaluation/gate.js';
import { readHistory } from '../../src/evaluation/history.js';
import { aFolder, anError, aRecord, aRun, type aStart } from './setup.js';

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
    const names = message.split(/[,;]? /u);
    const some = ['recall', 'tokens.read', 'tokens.planning', 'pass^1', 'flipRate', 'found.WAY', 'tokens.WAY', 'model'];
    expect(names).toEqual(expect.arrayContaining(some));
    expect(names).not.toContain('tokens.model');
  });

  it('may bar pass^k, and nothing at all', () => {
    expect(parseGate('pass^3>=0.5')).toHaveLength(1);
    expect(parseGate('')).toEqual([]);
  });
});

describe('the history', () => {
  it('holds runs of the same cases together, oldest first, and tells what it can not read', async () => {
    const folder = aFolder();
    const put = async (name: string, more: Parameters<typeof aStart>[0]) => {
      const { path } = await aRun(right(1), { ...more, name });
      renameSync(path, join(folder, name));
    };
    const suite = { name: 'other', catalog: 'tools', tools: 3, caseHash: 'ee' };
    await put('b', { startedAt: '2026-11-22T09:00:00.000Z' });
    await put('a', { startedAt: '2026-11-22T10:00:00.000Z' });
    await put('c', { suites: [suite] });
    mkdirSync(join(folder, 'no-run'));
    await put('broken', {});
    writeFileSync(join(folder, 'broken', 'run.json'), '{}');
    const { groups, unreadable } = await readHistory(folder);
    expect(groups.map(({ suites, runs }) => [suites, runs.map(({ summary }) => summary.name)])).toEqual([
      ['set', ['b', 'a']],
      ['other', ['c']],
    ]);
    expect(unreadable).toEqual([expect.stringContaining('broken')]);
  });

  it('counts what a run has done that was killed before it wrote so', async () => {
    const folder = aFolder();
    const { path } = await aRun(right(1, 1, 0), { planned: 97, cases: 97 });
    const killed = JSON.parse(readFileSync(join(path, 'run.json'), 'utf8'));
    writeFileSync(join(path, 'run.json'), JSON.stringify({ ...killed, counts: { ...killed.counts, done: 0 } }));
    appendFileSync(join(path, 'cases.jsonl'), '{"id":"c9","rep');
    renameSync(path, join(folder, 'killed'));
    const { groups } = await readHistory(folder);
    expect(groups[0]?.runs[0]?.done).toBe(3);
    expect(renderHistory({ groups, unreadable: [] })).toContain(' 3 of 97');
  });

  it('of a folder that is not there is an error', async () => {
    await expect(readHistory('none')).rejects.toThrow('There is no folder of runs at none');
  });
});
