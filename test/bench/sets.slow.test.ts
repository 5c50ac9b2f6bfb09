/** The scripts that measure sets, as a user starts them: on the fixtures, without a model. They need the build. */
import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';

const run = (...args: string[]) => execFileSync('node', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

it('a planner that makes no mistake has every case right', () => {
  const sets = ['hydrology', 'coding-agent', 'assistant', 'exclusions', 'first'];
  const table = run('test/bench/plans.mjs', '--dry', ...sets.flatMap((set) => ['--set', set]));
  for (const set of sets) expect(table).toMatch(new RegExp(`\\| ${set} \\| \\d+ \\| 1\\.000 `, 'u'));
});

it('both halves together are the whole set, and keywords find more with the words of a tool', () => {
  const rowOf = (...more: string[]) => {
    const table = run('test/bench/selection.mjs', '--set', 'coding-agent', '--selector', 'keywords', ...more);
    const [, , count = '', recall = ''] = table.split('\n')[2]?.split(' | ') ?? [];
    return { count: Number(count), recall: Number.parseFloat(recall) };
  };
  const [all, learn, measure] = ['all', 'learn', 'measure'].map((half) => rowOf('--half', half));
  expect((learn?.count ?? 0) + (measure?.count ?? 0)).toBe(all?.count);
  expect(all?.recall).toBeGreaterThan(0.8);
  expect(rowOf('--cases', '5')).toMatchObject({ count: 5 });
});

it.each([
  [['--set', 'unknown'], '--set unknown: use hydrology'],
  [['--set', 'hydrology', '--half', 'other'], '--half other: use learn, measure or all'],
  [['--set', 'hydrology', '--selector', 'none'], 'There is no selector "none": use winnow'],
])('%j is refused', (args, message) => {
  expect(() => run('test/bench/selection.mjs', '--selector', 'keywords', ...args)).toThrow(message);
});

it('a description with the words of the request is what the script measures', () => {
  const push = ['--push', 'not pushed', '--push', "the request's words"];
  const args = ['--set', 'coding-agent', '--cases', '5', '--selector', 'bm25', ...push];
  const table = run('test/bench/push-words.mjs', ...args);
  const first = table
    .split('\n')
    .slice(2, 4)
    .map((line) => Number.parseFloat(line.split(' | ')[6] ?? ''));
  expect(first).toEqual([0, 1]);
});
