/** What `--out` and `--resume` refuse, in `winnow eval` and in `winnow tune`, before anything runs. */
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { tuneCommand } from '../../src/cli/tune-command.js';
import { type EvalSetup, setUpEval } from './eval-setup.js';
import { runEval } from './run-eval.js';

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
    ['a file', 'file', '--out file: file is a file, and no folder.'],
    ['below a file', 'file/run/a', '--out file/run/a: file is a file, and no folder.'],
  ])('refuses a folder that is %s', async (_, out, message) => {
    expect(await refusal(command, '--out', join(setup.folder, out))).toContain(message);
  });

  it('refuses a folder without a name', async () => {
    expect(await refusal(command, '--out', '')).toContain('--out needs the name of a folder.');
  });

  it('refuses to go on where there is no run, and makes no folder there', async () => {
    const typo = join(setup.folder, 'rnu');
    expect(await refusal(command, '--out', typo, '--resume')).toContain('There is no run in rnu to go on with.');
    expect(existsSync(typo)).toBe(false);
    expect(await refusal(command, '--out', setup.folder, '--resume')).toContain('There is no run in ');
  });

  it('refuses a day that is none, naming the flag', async () => {
    for (const day of ['2025-13-40', '2025-02-29', '2025-1-2', 'today', '']) {
      expect(await refusal(command, '--today', day)).toContain(
        `option '--today <date>' argument '${day}' is invalid. must be a day of the calendar, YYYY-MM-DD.`,
      );
    }
  });
});

it('tells in the help of tune what may be written for its budget', () => {
  expect(tuneCommand().helpInformation()).toMatch(/--budget <time>[^-]*\(default: 30m\)/u);
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
  for (const more of [[], ['--resume']]) {
    const { exitCode, error } = await runEval(['tune', ...setup.words().slice(1), ...more]);
    expect([exitCode, String(error)]).toEqual([2, expect.stringContaining('There is a run of winnow eval in ')]);
  }
  expect(readdirSync(setup.out)).toEqual(before);
  const tuned = join(setup.folder, 'tuned');
  mkdirSync(tuned);
  writeFileSync(join(tuned, 'settings.json'), '{}');
  const { exitCode, error } = await runEval(setup.words(['--out', tuned]));
  expect([exitCode, String(error)]).toEqual([2, expect.stringContaining('There is a run of winnow tune in ')]);
});
