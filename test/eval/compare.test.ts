/** Comparisons of two runs: of cases, of steps, and as JUnit. */
import { appendFileSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { XMLParser, XMLValidator } from 'fast-xml-parser';
import { renderHistory } from '../../src/cli/render-comparison.js';
import type { Step } from '../../src/core/result.js';
import { compareRuns } from '../../src/eval/compare.js';
import type { CompareOptions } from '../../src/eval/compare-steps.js';
import { judgeGate, parseGate } from '../../src/eval/gate.js';
import { readHistory } from '../../src/eval/history.js';
import { scorePlan } from '../../src/eval/plan-scores.js';
import type { CaseRecord, ExpectedStep } from '../../src/eval/record.js';
import { writeComparisonJUnit } from '../../src/eval/write-comparison-junit.js';
import { aFolder, anError, aRecord, aRun, type aStart, steps } from './setup.js';

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

  it.each(['chosenRecall', 'top1', 'mrr', 'nodeF1', 'argumentValueF1', 'kind'])('looks at %s too', async (name) => {
    const scored = (...values: number[]) =>
      values.map((value, place) => aRecord({ id: `c${place}`, scores: { right: 1, recall: 1, [name]: value } }));
    const good = await aRun(scored(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1));
    const [worse] = await judge(`noWorseThan=${good.path}`, scored(1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0));
    expect(worse).toMatchObject({
      passed: false,
      found: expect.stringMatching(new RegExp(`^${name} -0\\.7500 `, 'u')),
    });
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

/** What a record tells of a plan beside the expected one; that it agrees with the scores is how these are made. */
const wanted = (
  tool: string,
  values: Record<string, unknown> = {},
  more: Partial<ExpectedStep> = {},
): ExpectedStep => ({ tool, arguments: values, ...more });

function compare(expected: readonly ExpectedStep[], got: readonly Step[], options: Partial<CompareOptions> = {}) {
  const tools = expected.map(({ tool }) => tool);
  return scorePlan({ tools, steps: [...expected], edges: [] }, got, { ignoreCase: false, ...options }).comparison;
}

describe('steps side by side', () => {
  it('are those of one tool that agree best over all, and what is left over stands alone', () => {
    const { steps: pairs } = compare(
      [wanted('find', { name: 'a' }), wanted('find', { name: 'b', kind: 'RR' }), wanted('read')],
      steps(['find', { name: 'b', kind: 'RR' }], ['find', { name: 'x' }], ['draw']),
    );
    expect(pairs.map(({ expected, got }) => [expected, got])).toEqual([
      [0, 1],
      [1, 0],
      [2, undefined],
      [undefined, 2],
    ]);
  });

  it('do not take the step that another one fits better', () => {
    const half = wanted('find', { name: 'b', kind: 'PP' });
    const { steps: pairs } = compare(
      [half, wanted('find', { name: 'b', kind: 'RR' })],
      steps(['find', { name: 'b', kind: 'RR' }], ['find', { name: 'c', kind: 'XX' }]),
    );
    expect(pairs.map(({ expected, got }) => [expected, got])).toEqual([
      [0, 1],
      [1, 0],
    ]);
  });

  it('are those of the alternative that the plan was judged by', () => {
    const expected: CaseRecord['expected'] = {
      tools: ['find', 'read'],
      alternatives: [['list'], ['find', 'look']],
      steps: [wanted('find'), wanted('read', { code: '$0.code' })],
    };
    const { comparison } = scorePlan(expected, steps(['find'], ['look', { code: 1 }]), { ignoreCase: false });
    expect(comparison).toEqual({
      alternative: 1,
      steps: [
        { expected: 0, got: 0, arguments: {} },
        { expected: 1, got: 1, arguments: { code: 'unjudged' } },
      ],
    });
  });
});

describe('arguments side by side', () => {
  const verdictOf = (expected: ExpectedStep, values: Record<string, unknown>, options: Partial<CompareOptions> = {}) =>
    compare([expected], steps(['t', values]), options).steps[0]?.arguments.a;

  it.each<[string, ExpectedStep, Record<string, unknown>, string]>([
    ['the same value', wanted('t', { a: { x: 1, y: [2] } }), { a: { y: [2], x: 1 } }, 'same'],
    ['another value', wanted('t', { a: 1 }), { a: 2 }, 'different'],
    ['one that counts too', wanted('t', { a: 'x' }, { argumentsAnyOf: { a: ['x', 'y'] } }), { a: 'y' }, 'accepted'],
    ['the number as a text', wanted('t', { a: 24 }), { a: '24' }, 'form'],
    ['the day written otherwise', wanted('t', { a: '2026-07-21' }), { a: 'July 21, 2026' }, 'form'],
    ['the text in another case', wanted('t', { a: 'Lake' }), { a: 'LAKE' }, 'different'],
    ['none', wanted('t', { a: 1 }), {}, 'missing'],
    ['none, where it may be left out', wanted('t', { a: 1 }, { argumentsAnyOf: { a: ['', 1] } }), {}, 'optional'],
    ['one too many', wanted('t'), { a: 1 }, 'extra'],
    ['one more that is allowed', wanted('t', {}, { argumentsAnyOf: { a: ['', 'RR'] } }), { a: 'RR' }, 'accepted'],
    ['one that nobody judges', wanted('t', {}, { argumentsUnknown: true }), { a: 1 }, 'unjudged'],
    ['a price that looks like a reference', wanted('t', { a: '$1.50' }), { a: '$1.50' }, 'same'],
  ])('say of %s what the scores count', (_, expected, values, verdict) => {
    expect(verdictOf(expected, values)).toBe(verdict);
  });

  it('count letter case and defaults as the case and the catalogue have them', () => {
    expect(verdictOf(wanted('t', { a: 'Lake' }), { a: 'LAKE' }, { ignoreCase: true })).toBe('form');
    const defaultOf = () => 7;
    expect(verdictOf(wanted('t', { a: 7 }), {}, { defaultOf })).toBe('default');
    expect(verdictOf(wanted('t'), { a: 7 }, { defaultOf })).toBe('default');
    expect(verdictOf(wanted('t', { a: 8 }), {}, { defaultOf })).toBe('missing');
  });

  it.each([
    ['to the same step in another order', '${s2.code}', 'same'],
    ['to the same field below another one', '${s2.data[0].code}', 'same'],
    ['to another step', '${s1.code}', 'different'],
    ['to another field', '${s2.name}', 'different'],
    ['to no step', '${s9.code}', 'different'],
  ])('have references compared: %s', (_, reference, verdict) => {
    const { steps: pairs } = compare(
      [wanted('find'), wanted('list'), wanted('read', { code: '$0.code' })],
      steps(['list'], ['find'], ['read', { code: reference }]),
    );
    expect(pairs[2]?.arguments.code).toBe(verdict);
  });
});

describe('a comparison as JUnit', () => {
  const parser = new XMLParser({
    ignoreAttributes: false,
    attributeNamePrefix: '@',
    isArray: (name) => /^test(?:suite|case)$/u.test(name),
  });

  const records = (values: Readonly<Record<string, number>>) =>
    Object.entries(values).map(([id, right]) => aRecord({ id, scores: { right } }));

  async function written(before: Record<string, number>, after: Record<string, number>, name = 'set') {
    const first = await aRun(records(before), { name });
    const second = await aRun(records(after));
    const comparison = await compareRuns(first.path, second.path);
    const gate = [{ bar: 'recall>=0.9', passed: false, found: 'recall is 0.5' }];
    const out = join(aFolder(), 'compared.xml');
    writeComparisonJUnit({ comparison, gate, out });
    return readFileSync(out, 'utf8');
  }

  describe('a comparison for build servers', () => {
    it('fails what was lost, tells what was won, counts the rest, and has the bars', async () => {
      const text = await written({ lost: 1, won: 0, both: 1, none: 0 }, { lost: 0, won: 1, both: 1, none: 0 });
      const [compared, gate] = parser.parse(text).testsuites.testsuite;
      expect(compared).toMatchObject({
        '@name': expect.stringContaining('4 cases in both'),
        '@tests': '2',
        '@failures': '1',
        testcase: [{ '@name': 'lost', failure: { '@type': 'lost' } }, { '@name': 'won' }],
      });
      expect(compared.testcase[1]).not.toHaveProperty('failure');
      expect(gate).toMatchObject({ '@name': 'gate', '@failures': '1' });
    });

    it('is well formed with any text', async () => {
      const odd = '<b>&"\'</testcase>';
      expect(XMLValidator.validate(await written({ [odd]: 1 }, { [odd]: 0 }, odd))).toBe(true);
    });
  });
});
