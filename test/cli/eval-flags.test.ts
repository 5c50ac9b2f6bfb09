/** Flags of winnow eval: folders and queues that are refused, which cases are done, how each is put and judged. */

import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { tuneCommand } from '../../src/cli/commands/tune.js';
import { defaultPromptPath } from '../../src/core/prompts/prompts.js';
import type { Behaviour } from '../support/scripted-server.js';
import { answerJson, fail } from '../support/server-behaviours.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { cases, type EvalSetup, setUpEval } from './eval-setup.js';
import { runEval } from './run-eval.js';

/** What the flags of `winnow eval` change: which cases are done, how each is put to the model, and how it is judged. */
describe('the flags of a run', () => {
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
      const [first, other] = [await sample('1'), await sample('3')];
      expect([first.length, other.length]).toEqual([3, 3]);
      expect(other).not.toEqual(first);
    });

    it('may begin with the mark that some editors write', async () => {
      const file = join(setup.folder, 'set.cases.jsonl');
      writeFileSync(file, `\uFEFF${readFileSync(file, 'utf8')}`);
      expect((await evaluated(...SELECT)).ids).toHaveLength(8);
    });

    it('are refused where they are not UTF-8, by file and line', async () => {
      const file = join(setup.folder, 'set.cases.jsonl');
      writeFileSync(file, Buffer.from(`${JSON.stringify(cases[0])}\n{"id": "\u00e9t\u00e9"}\n`, 'latin1'));
      const { error } = await runEval(setup.words(SELECT));
      expect(String(error)).toContain(`${file}:2 is not UTF-8 text: save the file as UTF-8.`);
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
      await evaluated(...SELECT, '--distractors', '2');
      const shown = bodies().map((body) => new Set(body.match(/tool_\d/gu)).size);
      expect(shown).toEqual(cases.map(() => 3));
    });

    it('with the day that is given, also where the run goes on without it', async () => {
      const day = '2025-01-02';
      setup.instead = (_, index) => (index === 1 ? fail(401, 'no key') : undefined);
      const out = join(setup.folder, 'day');
      await runEval(setup.words(['--out', out, '--limit', '1', '--today', day]));
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
      const [usual, own] = [
        await evaluated(...SELECT),
        await evaluated(...SELECT, '--set', `prompts.select-tools=${file}`),
      ];
      expect(bodies().map((body) => body.includes('Be brave.'))).toEqual([...cases, ...cases].map((_, at) => at >= 8));
      const hashesIn = ({ out }: { out: string }): Record<string, string> =>
        JSON.parse(readFileSync(join(out, 'run.json'), 'utf8')).promptHashes;
      const shown = [usual, own].map(hashesIn).map((all) => [all['select-tools'], all['plan-steps']]);
      expect(shown[1]?.[0]).not.toBe(shown[0]?.[0]);
      expect(shown[1]?.[1]).toBe(shown[0]?.[1]);
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
});

/** What `--out` and `--resume` refuse, in `winnow eval` and in `winnow tune`, before anything runs. */
describe('the folder of a run', () => {
  let setup: EvalSetup;
  beforeEach(async () => {
    setup = await setUpEval();
    process.env.WINNOW_CACHE = join(setup.folder, 'cache');
    writeFileSync(join(setup.folder, 'file'), '');
  });
  afterEach(async () => {
    delete process.env.WINNOW_CACHE;
    await setup.close();
  });

  /** The exit code and the message; the model was not asked. */
  async function refusal(command: string, ...more: string[]) {
    const { exitCode, error } = await runEval([command, ...setup.words().slice(1), ...more]);
    expect([exitCode, setup.server.requests.length]).toEqual([2, 0]);
    return String(error).replaceAll(`${setup.folder}/`, '');
  }

  describe.each(['eval', 'tune'])('winnow %s', (command) => {
    it.each([
      ['a file', 'file', "--out file: the folder can't be made"],
      ['below a file', 'file/run/a', "--out file/run/a: the folder can't be made"],
    ])('refuses a folder that is %s', async (_, out, message) => {
      expect(await refusal(command, '--out', join(setup.folder, out))).toContain(message);
    });

    // A folder of the kernel, where also the superuser can make no file.
    it.runIf(existsSync('/sys/kernel'))('refuses a folder that is there and can not be written', async () => {
      const refused = await refusal(command, '--out', '/sys/kernel');
      expect(refused).toMatch(/^WinnowError: --out \/sys\/kernel: can't be written \(E[A-Z]+: .+\)\.$/u);
    });

    it('refuses a folder without a name', async () => {
      expect(await refusal(command, '--out', '')).toContain("--out : the folder can't be made");
    });

    it('refuses a day that is none, naming the flag', async () => {
      for (const day of ['2025-13-40', '2025-02-29', '2025-1-2', 'today', '']) {
        expect(await refusal(command, '--today', day)).toContain(
          `option '--today <date>' argument '${day}' is invalid. must be a day of the calendar, YYYY-MM-DD.`,
        );
      }
    });
  });

  it('of winnow eval is refused where there is no run to go on with, and no folder is made', async () => {
    const typo = join(setup.folder, 'rnu');
    expect(await refusal('eval', '--out', typo, '--resume')).toContain('There is no run in rnu to go on with.');
    expect(existsSync(typo)).toBe(false);
    expect(await refusal('eval', '--out', setup.folder, '--resume')).toContain('There is no run in ');
  });

  it('tells in the help of tune what may be written for its budget', () => {
    expect(tuneCommand().helpInformation()).toMatch(/--budget <time>[^-]*\(default:\s+30m\)/u);
  });

  it('goes on where an earlier process ended before the first case', async () => {
    mkdirSync(setup.out);
    writeFileSync(join(setup.out, '.lock.1'), '');
    const { exitCode, error } = await runEval(setup.words(['--resume', '--limit', '1', '--only', 'select']));
    expect([exitCode, error]).toEqual([0, undefined]);
  });

  it('takes no run of the one command for a folder of the other', async () => {
    await runEval(setup.words(['--limit', '1', '--only', 'select']));
    const before = readdirSync(setup.out);
    const isThere = [2, expect.stringMatching(/There is a run in .* already/u)];
    const other = await runEval(['tune', ...setup.words().slice(1)]);
    expect([other.exitCode, String(other.error)]).toEqual(isThere);
    expect(readdirSync(setup.out)).toEqual(before);
    const tuned = join(setup.folder, 'tuned');
    mkdirSync(tuned);
    writeFileSync(join(tuned, 'report.json'), '');
    const { exitCode, error } = await runEval(setup.words(['--out', tuned]));
    expect([exitCode, String(error)]).toEqual(isThere);
  });
});

async function refusalOf(words: readonly string[]): Promise<string> {
  const { error } = await runEval(words);
  return error === undefined ? 'nothing' : String(error);
}

const queue = ['--queue', 'redis://127.0.0.1:1'];

describe('refused, before anything is loaded', () => {
  it.each<[string, string[], string]>([
    [
      'cases at once, which are a matter of the worker',
      ['eval', ...queue, '-j', '2'],
      '--jobs does not go with --queue',
    ],
    [
      'a model server, which a worker has',
      ['eval', ...queue, '--base-url', 'http://127.0.0.1:1/v1'],
      '--base-url does not go with --queue',
    ],
    ['a worker without a queue', ['worker'], "required option '--queue <url>' not specified"],
    ['a worker without tools', ['worker', ...queue], 'give --suite SET or --catalog SOURCE'],
    ['a name in place of a file', ['tune', '--set', 'prompts.select-tools=no.md'], 'The prompt file no.md can'],
  ])('%s', async (_, words, message) => {
    expect(await refusalOf(words)).toContain(message);
  });
});

it('takes the variables of an MCP configuration at a worker as everywhere', async () => {
  const folder = temporaryFolder();
  const catalog = join(folder, 'mcp.json');
  writeFileSync(catalog, JSON.stringify({ mcpServers: { there: { url: '${WORKER_TEST_URL}' } } }));
  process.env.WORKER_TEST_URL = 'http://127.0.0.1:1/mcp';
  const model = ['--base-url', 'http://127.0.0.1:1/v1', '--model', 'm'];
  const refusal = await refusalOf(['worker', ...queue, ...model, '--catalog', `mcp:${catalog}`]);
  delete process.env.WORKER_TEST_URL;
  expect(refusal).toContain('mcp.json#there');
  expect(refusal).not.toContain('is not set');
});
