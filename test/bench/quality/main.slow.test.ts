import { describe, expect, it } from '@jest/globals';
import { WinnowError } from '../../../src/core/errors.js';
import type { Prompt } from '../../../src/core/model/model.js';
import { contestantsOf } from './contestants.js';
import { aBenchmarkFolder, aModel, NAMES, rightAnswer, runQuality } from './setup.js';

const MAIN = contestantsOf(['first', 'peer']).map(({ id }) => id);

describe('bench:quality', () => {
  it('measures every main contestant, and another time asks the model nothing', async () => {
    const folder = aBenchmarkFolder();
    const args = ['--sets', 'restbench,irrelevance', '--contestants', 'first,peer'];
    const first = await runQuality({ folder, model: aModel(), args });
    for (const id of MAIN) {
      expect([id, first.mean('restbench', id, 'recall')]).toEqual([id, 1]);
      expect([id, first.mean('irrelevance', id, 'abstention')]).toEqual([id, 1]);
    }
    const again = aModel();
    const second = await runQuality({ folder, model: again, args });
    expect(again.calls).toEqual([]);
    expect(again.readerCalls.every(({ prompt }) => prompt.user === 'x')).toBe(true);
    expect(second.stdout).toBe(first.stdout);
  });

  it('lets the same planner write the plans behind every choice', async () => {
    const model = aModel();
    const args = ['--sets', 'nestful', '--contestants', 'first,peer'];
    const run = await runQuality({ folder: aBenchmarkFolder(), model, args });
    for (const id of MAIN) {
      const figures = (['recall', 'valid', 'nodeF1', 'argumentValueF1', 'planExact'] as const).map((metric) =>
        run.mean('nestful', id, metric),
      );
      expect([id, ...figures]).toEqual([id, 1, 1, 1, 1, 1]);
    }
    const planned = model.calls.filter(({ schema }) => schema?.name === 'plan');
    expect(planned.length).toBeGreaterThanOrEqual(4);
    // Only LangChain's selection and the plans are asked for: no agent writes calls of its own here.
    expect(model.calls.every(({ schema }) => schema)).toBe(true);
  });

  it('puts to the planner no more than a contestant chose, and counts what it chose, not what was called', async () => {
    const model = aModel();
    const args = ['--sets', 'nestful', '--contestants', 'keywords,langchain'];
    const run = await runQuality({ folder: aBenchmarkFolder(), model, args });
    const plans = model.calls.filter(({ schema }) => schema?.name === 'plan');
    expect(plans.length).toBeGreaterThanOrEqual(4);
    for (const { prompt } of plans) expect(prompt.system).not.toContain('other_');
    const first = run.outcomes.filter(({ id }) => id === 'p0').map(({ contestant, tools }) => [contestant, tools]);
    expect(first).toEqual([
      ['keywords', ['read_level', 'read_rain']],
      ['langchain', ['read_level']],
    ]);
  });

  it('judges planning alone with the needed tools given, by Winnow only', async () => {
    const run = await runQuality({ folder: aBenchmarkFolder(), model: aModel(), args: ['--sets', 'nestful-given'] });
    const contestants = new Set(run.outcomes.map(({ contestant }) => contestant));
    expect(contestants).toEqual(new Set(['winnow']));
    expect(run.outcomes.map(({ tools, missing }) => [tools.length, missing])).toEqual(Array(4).fill([8, []]));
    expect(run.mean('nestful-given', 'winnow', 'planExact')).toBe(1);
    expect(run.stderr).toContain('nestful-given, langchain: not measured, nothing is to be selected');
  });

  it('shows the model of LangChain nothing, names, or names with descriptions', async () => {
    const model = aModel();
    const contestants = ['langchain', 'langchain-shown', 'langchain-described'];
    const args = ['--sets', 'restbench', '--sample', '1', '--contestants', contestants.join(',')];
    await runQuality({ folder: aBenchmarkFolder(), model, args });
    const seen = model.calls.map(({ prompt: { system } }) => [
      system.includes('"send_mail"'),
      system.includes('Does send mail.'),
    ]);
    expect(seen).toEqual([
      [false, false],
      [true, false],
      [true, true],
    ]);
    const names = model.calls.map(({ schema }) => NAMES.every((name) => JSON.stringify(schema).includes(name)));
    expect(names).toEqual([true, true, true]);
  });

  it.each([3, 5])('hands on at most %d tools, whoever chooses and however many the model names', async (most) => {
    const model = aModel(
      (request) => ('tools' in Object(request.schema?.schema.properties) ? JSON.stringify({ tools: NAMES }) : ''),
      () => NAMES[0],
    );
    const contestants = ['winnow', 'langchain', 'langchain-shown', 'langchain-described'];
    const args = ['--sets', 'restbench', '--max-tools', String(most), '--contestants', contestants.join(',')];
    const { outcomes } = await runQuality({ folder: aBenchmarkFolder(), model, args });
    const mostOf = (id: string) =>
      Math.max(...outcomes.filter((one) => one.contestant === id).map(({ tools }) => tools.length));
    expect(contestants.map((id) => [id, mostOf(id)])).toEqual(contestants.map((id) => [id, most]));
  });

  it('counts what LangChain throws as unanswered, with the reason', async () => {
    const model = aModel((request) =>
      'tools' in Object(request.schema?.schema.properties) ? '{"tools":["made_up"]}' : rightAnswer(request),
    );
    const args = ['--sets', 'restbench', '--contestants', 'langchain'];
    const run = await runQuality({ folder: aBenchmarkFolder(), model, args });
    expect(run.outcomes.map(({ status, scores }) => [status, scores.recall])).toEqual(Array(6).fill(['unanswered', 0]));
    expect(run.stdout).toMatch(/restbench, langchain: 6 without an answer: \S+/u);
  });

  it.each([
    ['a loop', 'loop', 'answered', 1, ' 6 answered with a list that ran in a loop'],
    [
      'its bound',
      'length',
      'unanswered',
      0,
      ' 6 without an answer: Could not parse response content as the length limit',
    ],
  ] as const)('lets LangChain have a list that ends in %s only where no server would have cut it', async (...row) => {
    const [, finish, status, recall, told] = row;
    const model = aModel((request) => ({
      text: rightAnswer(request).replace(/\["(.*)"\]\}$/u, '["$1","$1","$1","$1","$1'),
      finish,
      usage: { calls: 1, read: 20, cached: 0, written: 60 },
    }));
    const args = ['--sets', 'restbench', '--contestants', 'langchain'];
    const run = await runQuality({ folder: aBenchmarkFolder(), model, args });
    expect(run.outcomes.map((one) => [one.status, one.scores.recall])).toEqual(Array(6).fill([status, recall]));
    expect(run.stdout).toContain(`restbench, langchain:${told}`);
  });

  it('counts a call of a tool that does not exist as no abstention', async () => {
    const model = aModel((request) => (request.schema ? rightAnswer(request) : '{"name": "made_up", "arguments": {}}'));
    const args = ['--sets', 'irrelevance', '--contestants', 'all-bound,keywords'];
    const run = await runQuality({ folder: aBenchmarkFolder(), model, args });
    expect(run.mean('irrelevance', 'all-bound', 'abstention')).toBe(0);
    expect(run.outcomes.every(({ tools }) => !tools.includes('made_up'))).toBe(true);
  });

  it.each(['winnow', 'winnow-list', 'langchain', 'all-bound'])(
    'counts an error of the model nowhere, also where %s hides it, and asks again another time',
    async (contestant) => {
      const folder = aBenchmarkFolder();
      const args = ['--sets', 'restbench', '--contestants', contestant];
      const down = aModel(() => new WinnowError('model_failed', 'HTTP 500'));
      const broken = { ...down, openReader: () => Promise.reject(new WinnowError('model_failed', 'HTTP 500')) };
      const failed = await runQuality({ folder, model: broken, args });
      expect(failed.outcomes.map(({ status }) => status)).toEqual(Array(6).fill('error'));
      expect(failed.stdout).toContain(
        `${contestant}: 6 errors of the model, which count nowhere: model_failed: HTTP 500`,
      );
      const mended = await runQuality({ folder, model: aModel(), args });
      expect([failed.isWhole, mended.isWhole]).toEqual([false, true]);
      expect(mended.mean('restbench', contestant, 'recall')).toBe(1);
    },
  );

  it('gives a contestant up after ten errors in a row, and goes on with the next', async () => {
    const model = aModel((request) =>
      request.schema ? rightAnswer(request) : new WinnowError('model_failed', 'HTTP 500'),
    );
    const args = ['--sets', 'hydrology', '--sample', '12', '--contestants', 'keywords,all-bound,langchain'];
    const run = await runQuality({ folder: aBenchmarkFolder(), model, args });
    const count = (id: string) => run.outcomes.filter(({ contestant }) => contestant === id).length;
    expect([count('keywords'), count('langchain'), count('all-bound')]).toEqual([12, 12, 10]);
    expect(run.stderr).toContain('hydrology, all-bound: given up after 10 errors in a row');
  });

  it('ends early when it is told to, and the same command goes on', async () => {
    const folder = aBenchmarkFolder();
    const args = ['--sets', 'restbench', '--contestants', 'winnow-list,all-bound'];
    const stop = new AbortController();
    const cut = aModel((request) => {
      if (cut.calls.length === 4) stop.abort();
      return rightAnswer(request);
    });
    const run = await runQuality({ folder, model: cut, args, signal: stop.signal });
    expect(run.stderr).toContain('The same command goes on from here.');
    expect([run.isWhole, run.outcomes.length]).toEqual([false, 3]);
    const rest = aModel();
    const whole = await runQuality({ folder, model: rest, args });
    expect(whole.outcomes).toHaveLength(12);
    expect(rest.calls).toHaveLength(12 - 4);
  });

  it.each([
    ['restbench', 'no-rules', 'no rules there'],
    ['restbench', 'no-companions', 'no companions there'],
    ['restbench', 'names', 'the names do not fit'],
    ['irrelevance', 'list', 'selection is skipped: few tools'],
    ['nestful-given', 'no-fill', 'selection is skipped: few tools'],
  ])('does not measure on %s what would change nothing there: %s', async (set, part, why) => {
    const model = { ...aModel(), limits: { ...aModel().limits, contextTokens: 300 } };
    const args = ['--sets', set, '--contestants', `winnow-${part}`];
    const run = await runQuality({ folder: aBenchmarkFolder(), model, args });
    expect([run.outcomes, run.stderr]).toEqual([[], `${set}, winnow-${part}: not measured, ${why}\n`]);
  });

  it('lists the cases that are not right, with what is missing and what was chosen', async () => {
    const model = aModel((request) => (request.schema ? rightAnswer(request) : 'I can not.'));
    const args = ['--sets', 'restbench,nestful-given', '--contestants', 'all-bound,winnow', '--failures'];
    const run = await runQuality({ folder: aBenchmarkFolder(), model, args });
    const listed = run.stdout.slice(0, run.stdout.indexOf('\n\n'));
    expect(listed).toContain('restbench, all-bound, c0: Please read level\n  missing: read_level\n  chosen: \n');
    expect(listed).not.toContain('winnow');
  });

  it.each([
    [['--sets', 'nothing'], 'There is no set "nothing": use restbench,'],
    [['--contestants', 'nobody'], 'There is no contestant "nobody": use first, peer, part, winnow,'],
    [['--sample', '0'], '--sample 0: give a whole number from 1.'],
    [['--max-tools', 'x'], '--max-tools x: give a whole number from 1.'],
    [['--sets', 'stabletoolbench'], 'No set is left to measure.'],
  ])('refuses %j with a word', async (args, message) => {
    await expect(runQuality({ folder: aBenchmarkFolder(), model: aModel(), args })).rejects.toThrow(message);
  });
});

describe('the sets that come with the package', () => {
  it.each(['hydrology', 'coding-agent', 'assistant'])(
    'are measured with the tools that each user of %s sees',
    async (set) => {
      const args = ['--sets', set, '--sample', '30', '--contestants', 'winnow,winnow-no-rules,keywords'];
      const firstOf = ({ system }: Prompt) => /^- (\S+?)[ :]/mu.exec(system)?.[1] ?? 'none';
      const run = await runQuality({ folder: aBenchmarkFolder(), model: aModel(rightAnswer, firstOf), args });
      const abstentions = run.outcomes.filter(({ scores }) => scores.abstention !== undefined);
      expect(abstentions.length).toBeGreaterThan(0);
      expect(abstentions.every(({ scores }) => scores.recall === undefined)).toBe(true);
      expect(run.outcomes.every(({ scores }) => Object.keys(scores).length > 0)).toBe(true);
      const most = (id: string) =>
        Math.max(...run.outcomes.filter((one) => one.contestant === id).map(({ tools }) => tools.length));
      expect([most('winnow'), most('keywords')]).toEqual([8, 8]);
      expect(run.stderr).toContain(`${set}: `);
      expect(run.mean(set, 'keywords', 'recall')).toBeGreaterThan(0.4);
    },
  );
});
