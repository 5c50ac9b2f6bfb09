/** What the flags of `winnow eval` change: which cases are done, how each is put to the model, and how it is judged. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { defaultPromptPath } from '../../src/core/prompts/prompt-template.js';
import type { Behaviour } from '../support/scripted-server.js';
import { answerJson, fail } from '../support/server-behaviours.js';
import { cases, type EvalSetup, setUpEval } from './eval-setup.js';
import { runEval } from './run-eval.js';

jest.setTimeout(30_000);

let setup: EvalSetup;
let runs: number;
beforeEach(async () => {
  setup = await setUpEval();
  runs = 0;
  process.env.WINNOW_CACHE = join(setup.folder, 'cache');
});
afterEach(async () => {
  delete process.env.WINNOW_CACHE;
  await setup.close();
});

const SELECT = ['--only', 'select'];
const bodies = () => setup.server.requests.map(({ body }) => JSON.stringify(body));
const rewriteCases = (change: (place: number) => Record<string, unknown>) =>
  writeFileSync(
    join(setup.folder, 'set.cases.jsonl'),
    cases.map((one, place) => `${JSON.stringify({ ...one, ...change(place) })}\n`).join(''),
  );

/** A run in a folder of its own. */
async function evaluated(...more: string[]) {
  runs += 1;
  const out = join(setup.folder, `run-${runs}`);
  const { exitCode, error, stdout } = await runEval(setup.words(['--out', out, '--json', ...more]));
  expect([exitCode, error]).toEqual([0, undefined]);
  const lines = readFileSync(join(out, 'cases.jsonl'), 'utf8').trim().split('\n');
  const ids = lines.map((line): string => JSON.parse(line).id);
  const { counts }: { counts: Record<string, number> } = JSON.parse(stdout);
  return { out, counts, ids };
}

describe('the cases of a run', () => {
  it('are a sample by its seed', async () => {
    const sample = async (seed: string) => (await evaluated(...SELECT, '--sample', '3', '--seed', seed)).ids;
    const first = await sample('1');
    expect(first).toHaveLength(3);
    expect(await sample('1')).toEqual(first);
    expect([await sample('2'), await sample('3')]).not.toEqual([first, first]);
  });

  it('are the first so many of a tag', async () => {
    rewriteCases((place) => ({ tags: [place % 2 === 0 ? 'even' : 'odd'] }));
    expect((await evaluated(...SELECT, '--tag', 'odd', '--limit', '3')).ids).toEqual(['c1', 'c3', 'c5']);
  });

  it('are those that another run got wrong, or could not get answered', async () => {
    const instead = [undefined, fail(401, 'no key'), answerJson({ selected_tools: [], reason: 'none' })];
    setup.instead = (place) => instead[place];
    const { out, counts } = await evaluated(...SELECT, '--no-cache');
    expect(counts).toMatchObject({ right: 6, wrong: 1, errors: 1 });
    setup.instead = () => undefined;
    expect((await evaluated(...SELECT, '--failing-of', out)).ids).toEqual(['c1', 'c2']);
  });
});

describe('a case is put to the model', () => {
  it('with its candidates alone and so many others', async () => {
    rewriteCases((place) => ({ candidates: [`tool_${place}`] }));
    await evaluated(...SELECT, '--candidates', 'only', '--distractors', '2');
    const shown = bodies().map((body) => new Set(body.match(/tool_\d/gu)).size);
    expect(shown).toEqual(cases.map(() => 3));
  });

  it('with the day that is given, also where the run goes on without it', async () => {
    const day = '2025-01-02';
    const { out } = await evaluated('--limit', '1', '--today', day);
    writeFileSync(join(out, 'cases.jsonl'), '');
    await runEval(setup.words(['--out', out, '--limit', '1', '--no-cache', '--resume']));
    const plans = bodies().filter((body) => !body.includes('selected_tools'));
    expect(plans.map((body) => body.includes(day))).toEqual([true, true]);
  });

  it('for its plan alone, where only that is judged', async () => {
    const { counts } = await evaluated('--only', 'plan');
    expect(counts).toMatchObject({ right: 8 });
    expect([bodies().length, bodies().some((body) => body.includes('selected_tools'))]).toEqual([8, false]);
  });

  it('in the words of another prompt file, which the run is marked with', async () => {
    const file = join(setup.folder, 'mine.md');
    const before = readFileSync(defaultPromptPath('select-tools'), 'utf8');
    writeFileSync(file, before.replace('<!-- system -->', '<!-- system -->\nBe brave.'));
    const [usual, own] = [await evaluated(...SELECT), await evaluated(...SELECT, '--prompt', `select-tools=${file}`)];
    expect(bodies().map((body) => body.includes('Be brave.'))).toEqual([...cases, ...cases].map((_, at) => at >= 8));
    const hashesIn = ({ out }: { out: string }): Record<string, string> =>
      JSON.parse(readFileSync(join(out, 'run.json'), 'utf8')).promptHashes;
    const shown = [usual, own].map(hashesIn).map((all) => [all['select-tools'], all['plan-steps']]);
    expect(shown[1]?.[0]).not.toBe(shown[0]?.[0]);
    expect(shown[1]?.[1]).toBe(shown[0]?.[1]);
    const { stdout } = await runEval(['eval', 'history', setup.folder]);
    for (const hashes of shown)
      expect(stdout).toMatch(new RegExp(hashes.map((hash) => ` ${hash?.slice(0, 8)} +`).join(''), 'u'));
  });

  it('beside others, as many as -j says', async () => {
    const waiting: (() => void)[] = [];
    const together: Behaviour = (request, response) => {
      const place = /do thing number (\d)/u.exec(JSON.stringify(request.body))?.[1];
      waiting.push(() => answerJson({ selected_tools: [`tool_${place}`], reason: 'r' })(request, response));
      if (waiting.length === 3) for (const answer of waiting) answer();
    };
    setup.instead = (place) => (place < 3 ? together : undefined);
    expect((await evaluated(...SELECT, '-j', '3')).counts).toMatchObject({ right: 8 });
  });
});

describe('a case is judged', () => {
  it('whatever upper and lower case values have, where that is said', async () => {
    setup.instead = (place, index) => {
      if (index % 2 === 0) return undefined;
      const step = { id: 's1', tool: `tool_${place}`, arguments: { x: `VALUE ${place}` } };
      return answerJson({ kind: 'plan', steps: [step] });
    };
    expect((await evaluated()).counts).toMatchObject({ right: 0, wrong: 8 });
    expect((await evaluated('--ignore-case')).counts).toMatchObject({ right: 8, wrong: 0 });
  });
});
