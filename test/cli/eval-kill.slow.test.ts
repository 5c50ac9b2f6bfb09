/** A run that is killed or interrupted, as a process of its own, goes on later: nothing is lost, nothing done twice. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ERROR_TABLE } from '../../src/core/errors.js';
import { createRandom } from '../../src/eval/random.js';
import { hang } from '../support/server-behaviours.js';
import { ALL_KEYS, cases, type EvalSetup, setUpEval } from './eval-setup.js';
import { runCli } from './run-cli.js';

let setup: EvalSetup;
beforeEach(async () => {
  setup = await setUpEval();
});
afterEach(() => setup.close());

type Kill = (signal: NodeJS.Signals) => void;

/** Begins a run; the process can be sent signals at once. */
function begin(more: readonly string[] = []) {
  let kill: Kill = () => undefined;
  const onStart = (given: Kill) => {
    kill = given;
  };
  const ended = runCli(setup.words(more), { env: { WINNOW_CACHE: join(setup.folder, 'cache') }, onStart });
  return { ended, kill };
}

describe('a run', () => {
  it('that was killed in the middle goes on: no case is done twice, none is missing', async () => {
    setup.instead = (place) => (place === 5 ? hang() : undefined);
    const { ended, kill } = begin();
    await setup.server.received(2 * 5 + 1);
    kill('SIGKILL');
    expect((await ended).exitCode).toBeNull();
    expect(await setup.keys()).toEqual(ALL_KEYS.slice(0, 5));
    expect((await setup.summary()).interrupted).toBe(true);
    setup.instead = () => undefined;
    const asked = setup.server.requests.length;
    const { exitCode, stderr } = await begin(['--resume']).ended;
    expect([exitCode, await setup.keys()]).toEqual([0, ALL_KEYS]);
    expect(stderr).toContain('5 of 8 are done already.');
    expect(setup.server.requests.length - asked).toBe(2 * 3);
    expect(await setup.summary()).toMatchObject({ interrupted: false, counts: { done: 8, right: 8 } });
  });

  it('that is killed again and again at any moment has each case and repeat once in the end', async () => {
    const random = createRandom(4);
    const many = Array.from({ length: 150 }, (_, place) => {
      const { query, ...one } = cases[place % cases.length] ?? { query: '' };
      return { ...one, id: `c${place}`, query: `${query}, for the time ${place}` };
    });
    writeFileSync(join(setup.folder, 'set.cases.jsonl'), many.map((one) => `${JSON.stringify(one)}\n`).join(''));
    setup.answerAfterMs = () => 20 + 40 * random();
    const words = ['-j', '4', '--repeat', '2'];
    const lives: { exitCode: number | null; done: number }[] = [];
    for (let life = 0; life < 5; life++) {
      const asked = setup.server.requests.length;
      const { ended, kill } = begin([...words, ...(life > 0 ? ['--resume'] : [])]);
      await Promise.race([setup.server.received(asked + 1), ended]);
      await delay(100 + 900 * random());
      kill('SIGKILL');
      lives.push({ exitCode: (await ended).exitCode, done: (await setup.keys()).length });
    }
    expect(lives.map(({ exitCode }) => exitCode)).toEqual([null, null, null, null, null]);
    expect(lives[4]?.done).toBeGreaterThan(lives[0]?.done ?? 0);
    expect((await begin([...words, '--resume']).ended).exitCode).toBe(0);
    expect(await setup.keys()).toEqual(many.flatMap(({ id }) => [`${id}#0`, `${id}#1`]).sort());
    expect(await setup.summary()).toMatchObject({ interrupted: false, counts: { done: 300, right: 300 } });
  });

  it('that is interrupted finishes the case under way, and goes on later', async () => {
    let kill: Kill = () => undefined;
    setup.instead = (_, index) => {
      if (index === 4) kill('SIGINT');
      return undefined;
    };
    const run = begin();
    kill = run.kill;
    const { exitCode, stderr } = await run.ended;
    expect(exitCode).toBe(ERROR_TABLE.cancelled.exitCode);
    expect(stderr).toMatch(/Finishing what is under way[\s\S]*Go on with --resume --out/u);
    expect(await setup.keys()).toEqual(ALL_KEYS.slice(0, 3));
    setup.instead = () => undefined;
    expect((await begin(['--resume']).ended).exitCode).toBe(0);
    expect(await setup.keys()).toEqual(ALL_KEYS);
  });

  it('that is interrupted twice ends at once, also in the middle of a case', async () => {
    setup.instead = (place) => (place === 2 ? hang() : undefined);
    const { ended, kill } = begin();
    await setup.server.received(5);
    // Two signals that come together may count as one.
    const signals = setInterval(() => kill('SIGINT'), 300);
    const { exitCode } = await ended;
    clearInterval(signals);
    expect(exitCode).toBe(ERROR_TABLE.cancelled.exitCode);
    expect(await setup.keys()).toEqual(ALL_KEYS.slice(0, 2));
    expect(await setup.summary()).toMatchObject({ interrupted: true, counts: { done: 2 } });
  });
});
