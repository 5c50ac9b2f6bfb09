import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { loadSuites } from '../../src/cli/eval-suites.js';
import { renderTable } from '../../src/cli/output.js';
import { createEvaluationProgress } from '../../src/cli/progress.js';
import { renderComparison, renderRun, renderValue } from '../../src/cli/render-eval.js';
import { compareRuns } from '../../src/eval/compare.js';
import { anError, aRecord, aRun } from '../eval/setup.js';
import { temporaryFolder } from '../support/temporary-folder.js';

function progress(isTTY: boolean, { seconds = 1, ...more }: { total?: number; seconds?: number } = {}) {
  const stream = Object.assign(new PassThrough(), isTTY ? { isTTY } : {});
  const clock = { milliseconds: 0 };
  const made = createEvaluationProgress({ total: 20, stream, now: () => clock.milliseconds, ...more });
  const see = (record: Parameters<typeof made.see>[0]) => {
    clock.milliseconds += seconds * 1_000;
    made.see(record);
  };
  return { ...made, see, text: () => String(stream.read() ?? '') };
}

describe('the progress of a run', () => {
  it('is a line every tenth without a terminal, with rate, time left and what is found so far', () => {
    const { see, text } = progress(false);
    for (let place = 0; place < 20; place++)
      see(aRecord({ id: `c${place}`, scores: { right: place % 2, recall: 0.5 } }));
    const lines = text().trimEnd().split('\n');
    expect(lines).toHaveLength(10);
    expect(lines[0]).toBe('eval 2/20  60.0 cases/min, 18 s left, right 0.500');
    expect(lines[9]).toBe('eval 20/20  60.0 cases/min, right 0.500');
  });

  it('is a line a minute where a tenth takes longer', () => {
    const { see, text } = progress(false, { total: 1_000, seconds: 5 });
    for (let place = 0; place < 105; place++) see(aRecord({ id: `c${place}` }));
    const counts = text()
      .trimEnd()
      .split('\n')
      .map((line) => /^eval (\d+)\/1000 /u.exec(line)?.[1]);
    expect(counts).toEqual(['12', '24', '36', '48', '60', '72', '84', '96', '100']);
  });

  it('is a line written again on a terminal, with notices above it', () => {
    const { remember, see, note, stop, text } = progress(true);
    for (let place = 0; place < 10; place++) remember(aRecord({ id: `k${place}` }));
    see(anError('c1'));
    note('Waiting.');
    see(aRecord());
    stop();
    const written = text();
    expect(written).toContain('12/20');
    expect(written).toContain('1 errors');
    expect(written.indexOf('Waiting.')).toBeLessThan(written.indexOf('12/20'));
  });

  it('tells of a run that goes on what all of it found, and the rate of this process', () => {
    const { remember, see, text } = progress(false);
    for (let place = 0; place < 15; place++) remember(aRecord({ id: `k${place}`, scores: { right: 0, recall: 0.5 } }));
    remember(anError('e'));
    see(aRecord());
    expect(text()).toMatch(/^eval 17\/20 {2}60\.0 cases\/min, 3 s left/u);
    for (const id of ['c2', 'c3', 'c4']) see(aRecord({ id }));
    const [first, last] = text().trimEnd().split('\n');
    expect(first).toBe('eval 18/20  60.0 cases/min, 2 s left, right 0.118, 1 errors');
    expect(last).toMatch(/^eval 20\/20 {2}60\.0 cases\/min, right 0\.211, 1 errors$/u);
  });
});

describe('sets of cases', () => {
  const logger = { debug: () => undefined, warn: () => undefined };
  const context = { config: {}, logger, signal: undefined };
  const folder = temporaryFolder();
  const put = (path: string, content: unknown) => {
    mkdirSync(join(folder, path, '..'), { recursive: true });
    writeFileSync(join(folder, path), JSON.stringify(content));
    return join(folder, path);
  };
  const tools = [{ name: 'a', toolType: 'builtin' }];

  it('lie side by side, or in folders of cases and of catalogues', async () => {
    put('one.tools.json', tools);
    put('one.cases.jsonl', {});
    put('catalogs/two.json', tools);
    put('cases/two.jsonl', {});
    const suite = [join(folder, 'one'), join(folder, 'two')];
    const cases = [put('own.jsonl', {})];
    const suites = await loadSuites([...suite, ...cases], {
      ...context,
      config: { catalog: [join(folder, 'one.tools.json')] },
    });
    expect(suites.map(({ name, catalog }) => [name, catalog.tools.length])).toEqual([
      ['one', 1],
      ['two', 1],
      ['own', 1],
    ]);
    expect(suites[0]?.catalog).not.toBe(suites[1]?.catalog);
  });

  it('share a catalogue that is read once', async () => {
    const cases = [put('x.jsonl', {}), put('y.jsonl', {})];
    const [x, y] = await loadSuites(cases, { ...context, config: { catalog: [put('t.json', tools)] } });
    expect(x?.catalog).toBe(y?.catalog);
  });

  it('have names of their own', async () => {
    const cases = [put('a/same.jsonl', {}), put('b/same.cases.jsonl', {})];
    const loading = loadSuites(cases, { ...context, config: { catalog: [put('t.json', tools)] } });
    await expect(loading).rejects.toThrow('Two sets of cases are named "same"');
  });
});

describe('a run for people', () => {
  it('has a column for each set where there are several', async () => {
    const suites = ['one', 'two'].map((name) => ({ name, catalog: 'c', tools: 1, caseHash: '' }));
    const records = [
      aRecord({ id: 'a', suite: 'one', scores: { right: 1, recall: 1 } }),
      aRecord({ id: 'b', suite: 'two', scores: { right: 0, recall: 0.5 }, cause: 'cap' }),
      anError('e'),
    ];
    const { summary } = await aRun(records, { suites, cases: 3, planned: 4 });
    const text = renderRun(summary);
    expect(text).toContain('run  3 cases, 1.3333333333333333 times each'.slice(0, 12));
    expect(text).toContain('1 not done, 1 errors of the server');
    expect(text).toMatch(/Selection +metric +mean +95 % +cases +one +two/u);
    expect(text).toMatch(/Recall of needed tools +recall +0\.750 +0\.500 – 1\.000 +2 +1\.000 +0\.500/u);
    expect(text).toMatch(/Not right because +cases\ncap +1\nerror +1/u);
  });

  it('has an interval beside each mean, also where all cases agree', async () => {
    const records = Array.from({ length: 10 }, (_, place) => aRecord({ id: `c${place}`, scores: { right: 1 } }));
    const { summary } = await aRun(records);
    expect(renderRun(summary)).toMatch(/ right +1\.000 +0\.722 – 1\.000 +10\n/u);
    expect(renderRun(summary)).toMatch(/ tokens\.read +0 +0 – 0 +10\n/u);
  });

  it('beside another one tells which cases were won and lost', async () => {
    const run = (...values: number[]) =>
      aRun(values.map((right, place) => aRecord({ id: `c${place}`, query: `ask\n${place}`, scores: { right } })));
    const [first, second] = [await run(0, 0, 0, 0, 0, 0, 1), await run(1, 1, 1, 1, 1, 1, 0)];
    const text = renderComparison(await compareRuns(first.path, second.path));
    expect(text).toContain("6 won, 1 lost; McNemar's exact p = 0.13");
    const won = [0, 1, 2, 3, 4, 5].map((place) => `  c${place}  ask ${place}\n`).join('');
    expect(text).toMatch(new RegExp(`\\n\\nWon\\n${won}\\nLost\\n  c6  ask 6$`, 'u'));
    expect(text).toMatch(/right +0\.143 +0\.857 +\+0\.714 +\S+ – \S+ +6 +1/u);
    expect(text).toMatch(/^tokens\.read +0 +0 [\s\S]*^time +9 ms +9 ms /mu);
  });

  it('beside another one cuts long requests, and names the first cases of many', async () => {
    const run = (right: number) =>
      aRun(Array.from({ length: 22 }, (_, c) => aRecord({ id: `c${c}`, query: '水'.repeat(90), scores: { right } })));
    const [first, second] = [await run(1), await run(0)];
    const text = renderComparison(await compareRuns(first.path, second.path));
    expect(text).toContain(`Lost\n  c0  ${'水'.repeat(79)}…\n`);
    expect(text).toMatch(/ {2}c19 .*\n {2}and 2 more \(--json names all\)$/u);
  });

  it.each([
    [0.5, 'fraction', '0.500'],
    [12_345.6, 'tokens', '12,346'],
    [999, 'milliseconds', '999 ms'],
    [61_500, 'milliseconds', '61.5 s'],
    [null, 'fraction', '–'],
  ] as const)('shows %d %s as %s', (value, unit, text) => {
    expect(renderValue(value, unit)).toBe(text);
  });

  it('keeps columns straight, also with Chinese names', () => {
    expect(
      renderTable(
        ['名称', 'n'],
        [
          ['水库', '10'],
          ['a', '5'],
        ],
      ),
    ).toBe('名称   n\n水库  10\na      5');
  });
});
