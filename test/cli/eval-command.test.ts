import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ERROR_TABLE } from '../../src/core/errors.js';
import { aRecord, aRun } from '../eval/setup.js';
import { answerJson, fail } from '../support/server-behaviours.js';
import { ALL_KEYS, cases, type EvalSetup, setUpEval } from './eval-setup.js';
import { runEval as run } from './run-eval.js';

let setup: EvalSetup;
beforeEach(async () => {
  setup = await setUpEval();
  process.env.WINNOW_CACHE = join(setup.folder, 'cache');
});
afterEach(async () => {
  delete process.env.WINNOW_CACHE;
  await setup.close();
});

const evaluate = (more: readonly string[] = []) => run(setup.words(more));
const asked = () => setup.server.requests.length;

describe('a run', () => {
  it('prints its metrics, and leaves its files', async () => {
    const { exitCode, stdout, stderr } = await evaluate(['-j', '2']);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^run {2}8 cases\nm\n/u);
    expect(stdout).toMatch(/Steps \(node F1\) +nodeF1 +1\.000/u);
    expect(stderr).toContain('eval 8/8');
    expect(await setup.keys()).toEqual(ALL_KEYS);
    const settings = { options: { fillTokens: 0, passthroughTools: 0 }, only: 'all', filter: { seed: 1 } };
    expect(await setup.summary()).toMatchObject({ interrupted: false, counts: { done: 8, right: 8 }, settings });
    expect(existsSync(join(setup.out, 'report.html'))).toBe(true);
    expect(existsSync(join(setup.out, '.lock'))).toBe(false);
  });

  it('keeps errors of the server apart from wrong answers, and does those cases again where the run goes on', async () => {
    setup.instead = (place) => (place === 3 ? fail(401, 'no key') : undefined);
    expect((await evaluate()).stdout).toContain('1 errors of the server, not counted as answers');
    expect((await setup.summary()).counts).toEqual({ done: 8, answered: 7, errors: 1, right: 7, wrong: 0 });
    setup.instead = () => undefined;
    const before = asked();
    const retried = await evaluate(['--resume']);
    expect(retried.stderr).toMatch(/^7 of 8 are done already\.\neval 8\/8 .*, right 1\.000$/mu);
    expect(asked()).toBe(before + 2);
    expect((await setup.summary()).counts).toEqual({ done: 8, answered: 8, errors: 0, right: 8, wrong: 0 });
    expect(await setup.keys()).toEqual(ALL_KEYS);
  });

  it('says why cases have no answer, and fails as the model did where none has one', async () => {
    setup.instead = (place) => (place === 3 ? fail(401, 'no key') : undefined);
    const { stdout, exitCode } = await evaluate();
    expect([stdout, exitCode]).toEqual([expect.stringMatching(/^1 × model_refused: .+$/mu), 0]);
    const selected = await evaluate(['--only', 'select', '--out', join(setup.folder, 'selected'), '--no-cache']);
    expect(selected.stdout).toMatch(/^1 × model_refused: The server at .+$/mu);
    setup.instead = () => fail(401, 'no key');
    const none = await evaluate(['--limit', '2', '--out', join(setup.folder, 'none'), '--no-cache']);
    expect(none.stdout).toMatch(/^2 × model_refused: .+$/mu);
    expect([none.exitCode, none.error]).toEqual([ERROR_TABLE.model_refused.exitCode, undefined]);
  });

  it('asks the model only what was never asked, but for its repeats', async () => {
    const other = (name: string, ...more: string[]) => evaluate(['--out', join(setup.folder, name), ...more]);
    await evaluate();
    expect(asked()).toBe(16);
    const { stdout } = await other('second', '--repeat', '3', '--json');
    expect(asked()).toBe(16 + 32);
    const names: string[] = JSON.parse(stdout).metrics.map(({ name }: { name: string }) => name);
    expect(names).toEqual(expect.arrayContaining(['pass^1', 'pass^3', 'flipRate']));
    await other('third', '--no-cache', '--limit', '1');
    expect(asked()).toBe(16 + 32 + 2);
  });

  it('goes on at another address of the server; what one server answered is not taken for the word of another', async () => {
    const other = await setUpEval();
    const elsewhere = ['--base-url', other.server.baseUrl];
    try {
      await evaluate(['--limit', '2']);
      expect(asked()).toBe(4);
      const { exitCode } = await evaluate(['--limit', '2', '--resume', ...elsewhere]);
      expect([exitCode, asked(), other.server.requests.length]).toEqual([0, 4, 0]);
      await evaluate(['--limit', '2', '--out', join(setup.folder, 'second'), ...elsewhere]);
      expect([asked(), other.server.requests.length]).toEqual([4, 4]);
      const written = [
        readFileSync(join(setup.out, 'run.json'), 'utf8'),
        ...readdirSync(process.env.WINNOW_CACHE ?? ''),
      ];
      expect(written.join()).not.toContain('127.0.0.1');
    } finally {
      await other.close();
    }
  });

  it('has plans written by the model for planning, as a run of both: named, remembered and repeated so', async () => {
    const plannedBy = (name: string) => {
      const config = join(setup.folder, `${name}.yaml`);
      writeFileSync(config, `planningModel: { name: ${name} }\n`);
      return ['--config', config];
    };
    const words = plannedBy('large');
    expect(await evaluate(words)).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('m + large') });
    const models = setup.server.requests.map(({ body }) => body.model);
    expect(models.filter((name) => name === 'm')).toHaveLength(8);
    expect(models.filter((name) => name === 'large')).toHaveLength(8);
    const [first] = readFileSync(join(setup.out, 'cases.jsonl'), 'utf8').split('\n');
    const record = JSON.parse(first ?? '');
    expect(record.calls.map(({ stage }: { stage: string }) => stage)).toEqual(['selection', 'planning']);
    const again = asked();
    await evaluate([...words, '--out', join(setup.folder, 'again')]);
    expect(asked()).toBe(again);
    const other = await evaluate([...plannedBy('larger'), '--resume']);
    expect(String(other.error)).toContain('m + larger');
  });
});

describe('npm run eval', () => {
  it('measures the sets that come with the package', async () => {
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
    const words: string[] = scripts.eval.split('dist/cli/main.js ')[1]?.split(' ') ?? [];
    setup.instead = () => answerJson({ selected_tools: [], reason: 'nothing fits' });
    const server = ['--base-url', setup.server.baseUrl, '--model', 'm'];
    const { exitCode, error, stderr } = await run([...words, ...server, '--limit', '1', '--out', setup.out]);
    expect([exitCode, error]).toEqual([0, undefined]);
    expect(stderr).toContain('eval 3/3');
    const suites = ['hydrology', 'coding-agent', 'assistant'].map((name) => ({ name, counts: { done: 1, errors: 0 } }));
    expect(await setup.summary()).toMatchObject({ suites });
  });
});

describe('the commands of the page', () => {
  it('work in their order', async () => {
    const [, block = ''] = /^```sh\n(.*?)```/msu.exec(readFileSync('src/eval/README.md', 'utf8')) ?? [];
    const lines = [...block.matchAll(/^npx winnow (eval [^#\n]*)/gmu)].map(([, words = '']) => words);
    const outcomes = [];
    for (const line of lines) {
      const words = line.replaceAll('runs/', join(setup.folder, 'runs/')).replaceAll('"', '').trim().split(/\s+/u);
      const model = words.includes('--suite') ? ['--base-url', setup.server.baseUrl, '--model', 'm'] : [];
      setup.instead = () => answerJson({ selected_tools: [], reason: 'nothing fits' });
      const { exitCode, error, stdout } = await run([...words, ...model]);
      outcomes.push([exitCode, error]);
      if (words.includes('--gate')) expect(stdout).toMatch(/^failed {2}recall>=[\s\S]*^passed {2}noWorseThan=/mu);
    }
    expect(outcomes).toEqual([0, ERROR_TABLE.gate_failed.exitCode, 0].map((code) => [code, undefined]));
  });
});

describe('the examples of the help', () => {
  it('work one after the other', async () => {
    const lines = [...(await run(['eval', '--help'])).stdout.matchAll(/^ {2}winnow (eval --suite .*)/gmu)].map(
      ([, words = '']) => words,
    );
    setup.instead = () => answerJson({ selected_tools: [], reason: 'nothing fits' });
    const server = ['--base-url', setup.server.baseUrl, '--model', 'm'];
    const outcomes = [];
    for (const line of lines) {
      const words = line.replaceAll('runs/', join(setup.folder, 'runs/')).replaceAll('"', '').split(' ');
      const { exitCode, error } = await run([...words, ...server]);
      outcomes.push([exitCode, error]);
    }
    expect(outcomes).toEqual([0, ERROR_TABLE.gate_failed.exitCode].map((code) => [code, undefined]));
  });
});

describe('a gate', () => {
  it('gives the exit code, in a run, a report and a comparison', async () => {
    setup.instead = (place) => (place < 6 ? answerJson({ selected_tools: [], reason: 'none' }) : undefined);
    const bad = join(setup.folder, 'bad');
    const first = await evaluate(['--only', 'select', '--out', bad, '--gate', 'recall>=0.5']);
    expect(first.exitCode).toBe(ERROR_TABLE.gate_failed.exitCode);
    expect(first.stdout).toContain('failed  recall>=0.5: recall is 0.2500');
    setup.instead = () => undefined;
    const gate = `recall>=0.5,noWorseThan=${bad}`;
    expect((await evaluate(['--only', 'select', '--no-cache', '--gate', gate])).exitCode).toBe(0);
    expect((await run(['eval', 'report', bad, '--gate', 'recall>=0.2'])).exitCode).toBe(0);
    expect((await run(['eval', 'report', bad, '--gate', 'recall>=0.3'])).exitCode).toBe(
      ERROR_TABLE.gate_failed.exitCode,
    );
    const better = await run(['eval', 'compare', bad, setup.out]);
    expect(better).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining("6 won, 0 lost; McNemar's exact p = 0.031"),
    });
    const bars = ['--gate', `noWorseThan=${setup.out}`];
    const worse = await run(['eval', 'compare', setup.out, bad, ...bars]);
    expect(worse).toMatchObject({
      exitCode: ERROR_TABLE.gate_failed.exitCode,
      stdout: expect.stringMatching(/\n\nLost(?:\n {2}c[0-5] {2}\S.*){6}\n/u),
    });
  });
});

describe('a gate against another run', () => {
  it('is refused before the first case, where that run is not there or judged another stage', async () => {
    const gone = await evaluate(['--gate', 'noWorseThan=runs/gone']);
    expect([gone.exitCode, String(gone.error)]).toEqual([
      2,
      expect.stringContaining('--gate noWorseThan=runs/gone: There is no run in runs/gone'),
    ]);
    expect([asked(), existsSync(setup.out)]).toEqual([0, false]);
    const selected = join(setup.folder, 'selected');
    await evaluate(['--only', 'select', '--limit', '1', '--out', selected]);
    const before = asked();
    const other = await evaluate(['--gate', `noWorseThan=${selected}`]);
    expect([other.exitCode, asked(), existsSync(setup.out)]).toEqual([2, before, false]);
    expect(String(other.error)).toMatch(/that run judged selection only, this one both stages: what is right is not/u);
  });

  it('is refused also for a run that is there already', async () => {
    const [selected, planned] = await Promise.all(
      ['select', 'plan'].map(async (only) => (await aRun([aRecord()], { settings: { only } })).path),
    );
    const gate = ['--gate', `noWorseThan=${planned}`];
    for (const words of [
      ['report', selected ?? ''],
      ['compare', planned ?? '', selected ?? ''],
    ]) {
      const { exitCode, error } = await run(['eval', ...words, ...gate]);
      expect([exitCode, String(error)]).toEqual([2, expect.stringContaining('judged plans only')]);
    }
  });
});

describe('a folder without runs', () => {
  it.each<[string, (folder: string) => string[], string]>([
    ['report', (folder) => ['report', folder], ': it has no run.db'],
    ['compare', (folder) => ['compare', folder, folder], ': it has no run.db'],
  ])('is told in words: %s', async (_, words, message) => {
    const { stdout, exitCode, error } = await run(['eval', ...words(setup.folder)]);
    expect([stdout, exitCode]).toEqual(['', 2]);
    expect(String(error)).toContain(`There is no run in ${setup.folder}${message}`);
  });

  it('is like two runs without a common case: there is nothing to compare', async () => {
    const [one, other] = await Promise.all(['a', 'b'].map(async (id) => (await aRun([aRecord({ id })])).path));
    const { stdout, exitCode, error } = await run(['eval', 'compare', one ?? '', other ?? '']);
    expect([stdout, exitCode, String(error)]).toEqual(['', 2, expect.stringContaining('have no case in common')]);
  });
});

describe('refused, before a model is asked', () => {
  it.each<[string, string[], string]>([
    ['no cases', ['--base-url', 'http://a.example', '--model', 'm'], 'There are no cases'],
    ['cases without a catalogue', ['--suite', 'a.jsonl'], 'name the tools that the cases are about, by --catalog'],
    ['a set that is not there', ['--suite', 'none'], 'there is neither none.cases.jsonl with none.tools.json, nor'],
    [
      'tools beside a set, which brings its own',
      ['--suite', 'set', '--catalog', 'a.json'],
      '--catalog has no effect on',
    ],
    ['a share above 1', ['--gate', 'recall>=80'], '--gate recall>=80: recall is at most 1; write 80 % as 0.8'],
    [
      'more tries than are done',
      ['--repeat', '3', '--gate', 'pass^5>=0.5'],
      'it needs each case 5 times (--repeat 5), not 3',
    ],
    ['repeats that are not done', ['--gate', 'flipRate<=0.1'], 'it needs each case 2 times (--repeat 2), not 1'],
    ['a metric that does not exist', ['--gate', 'recal>=1'], 'there is no metric "recal"'],
    ['going on without a folder', ['--resume'], '--resume needs --out'],
    ['a stage that does not exist', ['--only', 'poem'], "argument 'poem' is invalid"],
    ['half a case at once', ['-j', '0.5'], 'must be a whole number above 0'],
    ['an option that does not exist', ['--set', 'maxTool=3'], 'maxTool'],
    ['a command that is none', ['comapre', 'a', 'b'], 'There is no command "winnow eval comapre"; near: compare'],
  ])('%s', async (_, words, message) => {
    const { exitCode, error } = await run(['eval', ...words]);
    expect([exitCode, String(error)]).toEqual([2, expect.stringContaining(message)]);
  });

  it.each<[string, string[], string]>([
    ['a bar of planning for selection alone', ['--only', 'select', '--gate', 'nodeF1>=0.5'], 'nodeF1>=0.5: a run of s'],
    ['a bar of selection for plans alone', ['--only', 'plan', '--gate', 'recall@8>=0.5'], 'recall@8>=0.5: a run of p'],
  ])('%s', async (_, words, message) => {
    const { exitCode, error } = await evaluate(words);
    expect([exitCode, String(error)]).toEqual([2, expect.stringContaining(`--gate ${message}`)]);
    expect([asked(), existsSync(setup.out)]).toEqual([0, false]);
  });

  it('a run over another one, and a run that goes on with other settings, each named', async () => {
    await evaluate(['--limit', '1']);
    expect(String((await evaluate(['--limit', '1'])).error)).toContain('There is a run in');
    const { exitCode, error } = await evaluate(['--limit', '2', '--resume', '--set', 'maxTools=5']);
    expect(exitCode).toBe(2);
    expect(String(error)).toContain('filter.limit: 1 there, 2 here; options.maxTools: 8 there, 5 here');
    expect(await setup.keys()).toEqual(['c0#0']);
  });

  it('a run that goes on with a model that is asked in another way, each setting named', async () => {
    const config = (text: string) => {
      const file = join(setup.folder, 'asked.yaml');
      writeFileSync(file, text);
      return ['--config', file];
    };
    await evaluate(['--limit', '1', ...config('model: { temperature: 0.5 }\nplanningModel: { temperature: 0.1 }\n')]);
    const changed = 'model: { extraBody: { seed: 7 }, contextTokens: 9000 }\nplanningModel: { temperature: 0.2 }\n';
    const { error } = await evaluate(['--limit', '2', '--resume', ...config(changed)]);
    const message = String(error);
    expect(message).toContain('asked.selection.temperature: 0.5 there, nothing here');
    expect(message).toContain('asked.planning.temperature: 0.1 there, 0.2 here');
    expect(message).toContain('asked.selection.contextTokens: nothing there, 9000 here');
    expect(message).toMatch(/asked\.selection\.extraBody: nothing there, "[\da-f]{16}" here/u);
  });

  it('a bad line, with its place', async () => {
    writeFileSync(join(setup.folder, 'set.cases.jsonl'), `${JSON.stringify(cases[0])}\n{"id":"c1","query":"q"}\n`);
    const { exitCode, error } = await evaluate();
    expect(exitCode).toBe(2);
    expect(String(error)).toMatch(/set\.cases\.jsonl:2 is no usable case: expectedTools: /u);
    expect(asked()).toBe(0);
  });
});
