/** The report of the bench: its bars, its summary and how it is rendered. */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { noUsage } from '../../../src/core/model/model.js';
import { judgeBars, PEERS } from './bars.js';
import { renderFailures } from './failures.js';
import type { Outcome } from './outcome.js';
import { noSpent } from './remembered-model.js';
import { type RunFacts, renderEstimate, renderReport } from './render.js';
import { anOutcome, outcomesOf } from './setup.js';
import { duelsOf, summarise } from './summary.js';

describe('the bars', () => {
  const recalls = (set: string, contestant: string, values: readonly number[]) =>
    outcomesOf(
      set,
      contestant,
      values.map((recall) => ({ recall })),
    );
  /** All peers alike. */
  const peers = (set: string, values: readonly number[]) => PEERS.flatMap((peer) => recalls(set, peer, values));

  function verdictOn(bar: RegExp, outcomes: readonly Outcome[]) {
    const found = judgeBars(outcomes).filter((one) => bar.test(one.bar));
    expect(found).toHaveLength(1);
    return found[0];
  }

  describe('the bar of recall against the best peer', () => {
    const RATIO = /^restbench: recall at least 1.3 times/u;
    it.each([
      ['is reached at 1.3 times', [0.65, 0.65], [0.5, 0.5], true],
      ['is missed below', [0.6, 0.65], [0.5, 0.5], false],
      ['is reached where the peers find nothing', [0.1, 0], [0, 0], true],
    ])('%s', (_, ours, theirs, reached) => {
      const verdict = verdictOn(RATIO, [...recalls('restbench', 'winnow', ours), ...peers('restbench', theirs)]);
      expect(verdict?.reached).toBe(reached);
    });

    it('looks at the best of the peers, and names it with the figures', () => {
      const outcomes = [
        ...recalls('restbench', 'winnow', [0.9, 0.7]),
        ...peers('restbench', [0.1, 0.1]),
        ...recalls('restbench', 'bm25', [0.8, 0.4]),
      ];
      expect(verdictOn(RATIO, outcomes)).toEqual({
        bar: 'restbench: recall at least 1.3 times that of the best peer',
        reached: true,
        figure: '1.33 times: 0.800 against 0.600 of bm25, 2 cases',
      });
    });

    it('is left open where a peer was not measured, unless it is missed already', () => {
      const withKeywords = (recall: number) => [
        ...recalls('restbench', 'winnow', [0.8]),
        ...recalls('restbench', 'keywords', [recall]),
      ];
      expect(verdictOn(RATIO, withKeywords(0.1))).toMatchObject({
        reached: undefined,
        figure: expect.stringMatching(/not measured: langchain, langchain-shown, bm25$/u),
      });
      expect(verdictOn(RATIO, withKeywords(0.7))?.reached).toBe(false);
      expect(verdictOn(RATIO, [])).toMatchObject({ reached: undefined, figure: 'not measured' });
    });

    it('compares the cases that both have', () => {
      const outcomes = [...recalls('restbench', 'winnow', [0.65, 0, 0]), ...peers('restbench', [0.5])];
      expect(verdictOn(RATIO, outcomes)).toMatchObject({ reached: true, figure: expect.stringContaining('1 cases') });
    });
  });

  describe('the bar of every set', () => {
    it('asks for more than each peer has', () => {
      const ABOVE = /^bfcl: recall above every peer/u;
      expect(verdictOn(ABOVE, [...recalls('bfcl', 'winnow', [0.8]), ...peers('bfcl', [0.7])])?.reached).toBe(true);
      expect(verdictOn(ABOVE, [...recalls('bfcl', 'winnow', [0.8]), ...peers('bfcl', [0.8])])?.reached).toBe(false);
    });
  });

  describe('the bar of answers', () => {
    const NEVER = /^never an unanswered request/u;
    it('is missed by one request of Winnow without an answer, on whatever set', () => {
      const lost = anOutcome({ set: 'nestful', status: 'unanswered', reason: 'plan_invalid: x' });
      const answered = recalls('restbench', 'winnow', [1, 1]);
      expect(verdictOn(NEVER, answered)).toMatchObject({ reached: true, figure: '0 of 2' });
      expect(verdictOn(NEVER, [...answered, lost])).toMatchObject({ reached: false, figure: '1 of 3' });
    });

    it('leaves requests of others, and errors of the model, out', () => {
      const outcomes = [
        ...recalls('restbench', 'winnow', [1]),
        anOutcome({ id: 'c7', contestant: 'langchain', status: 'unanswered', reason: 'x' }),
        anOutcome({ id: 'c8', status: 'error', reason: 'x', scores: {} }),
      ];
      expect(verdictOn(NEVER, outcomes)).toMatchObject({ reached: true, figure: '0 of 1' });
    });
  });

  describe('the bar of abstentions', () => {
    it.each([
      [[1, 0], [0, 1], true],
      [[1, 0], [1, 1], false],
    ])('of %j against %j with all tools bound is reached: %p', (ours, theirs, reached) => {
      const abstentions = (contestant: string, values: number[]) =>
        outcomesOf(
          'irrelevance',
          contestant,
          values.map((abstention) => ({ abstention })),
        );
      const outcomes = [...abstentions('winnow', ours), ...abstentions('all-bound', theirs)];
      expect(verdictOn(/^irrelevance: at least as many/u, outcomes)?.reached).toBe(reached);
    });
  });

  describe('the bar of schema tokens', () => {
    it.each([
      [150, true],
      [151, false],
    ])('of %d loaded of 1,000 is reached: %p', (loaded, reached) => {
      const verdict = verdictOn(/^metatool: schema tokens at least 85 %/u, [
        anOutcome({ set: 'metatool', schemaTokens: { all: 1_000, loaded } }),
      ]);
      expect(verdict?.reached).toBe(reached);
    });

    it.each(['irrelevance', 'nestful-given'])('is not set on %s, where a case has few tools', (set) => {
      expect(judgeBars([anOutcome({ set })]).some(({ bar }) => bar.includes('schema tokens'))).toBe(false);
    });
  });
});

const spent = (milliseconds: number, read: number) => ({
  ...noSpent(),
  answers: 1,
  milliseconds,
  usage: { ...noUsage(), read },
});

describe('a row', () => {
  it('holds the means of one contestant on one set, with an interval around each', () => {
    const scores = [1, 0, 1, 0, 1, 0, 1, 0].map((recall) => ({ recall, allNeeded: 1 }));
    const [row, ...others] = summarise(outcomesOf('restbench', 'winnow', scores));
    expect(others).toEqual([]);
    expect(row).toMatchObject({ set: 'restbench', contestant: 'winnow', cases: 8 });
    expect(row?.metrics.allNeeded).toMatchObject({ mean: 1, low: expect.closeTo(0.676, 3), high: 1, count: 8 });
    const { mean = 0, low = 1, high = 0 } = row?.metrics.recall ?? {};
    expect(mean).toBe(0.5);
    expect([low < 0.5, high > 0.5, low >= 0, high <= 1]).toEqual([true, true, true, true]);
  });

  it('counts the unanswered as cases, and errors and what does not fit as none', () => {
    const outcomes = [
      anOutcome({ id: 'a', scores: { recall: 1 } }),
      anOutcome({ id: 'b', status: 'unanswered', reason: 'threw', scores: { recall: 0 } }),
      anOutcome({ id: 'c', status: 'unanswered', reason: 'threw', scores: { recall: 0 } }),
      anOutcome({ id: 'd', status: 'error', reason: 'HTTP 500', scores: {} }),
      anOutcome({ id: 'e', status: 'does-not-fit', neededTokens: 20_000, scores: {} }),
      anOutcome({ id: 'f', mode: 'fallback', scores: { recall: 1 } }),
    ];
    expect(summarise(outcomes)[0]).toMatchObject({
      cases: 4,
      metrics: { recall: { mean: 0.5 } },
      unanswered: { threw: 2 },
      errors: { 'HTTP 500': 1 },
      modes: { fallback: 1 },
      doesNotFit: 1,
      neededTokens: 20_000,
    });
  });

  it('tells the seconds and tokens of those whose cost is known', () => {
    const outcomes = [spent(1_000, 10), spent(9_000, 30), spent(2_000, 20), { ...noSpent(), answers: 2, unpriced: 1 }];
    const [row] = summarise(outcomes.map((one, place) => anOutcome({ id: `c${place}`, spent: one })));
    expect(row).toMatchObject({ seconds: 2, tokens: { read: 20, cached: 0, written: 0 } });
    expect(summarise([anOutcome()])[0]).toMatchObject({ seconds: undefined, tokens: undefined });
  });
});

describe('a duel', () => {
  const recalls = (contestant: string, values: readonly (number | undefined)[]): Outcome[] =>
    outcomesOf(
      'restbench',
      contestant,
      values.map((recall) => (recall === undefined ? {} : { recall })),
    );
  const duel = (outcomes: readonly Outcome[], peers: readonly string[]) =>
    duelsOf(outcomes, { set: 'restbench', metric: 'recall', peers });

  it('pairs the cases by their id, and leaves out those that only one has', () => {
    const theirs = recalls('bm25', [0.5, 0, 1, undefined]).reverse();
    const [one] = duel([...recalls('winnow', [1, 0, 0, 1]), ...theirs], ['bm25']);
    expect(one).toMatchObject({ peer: 'bm25', difference: { count: 3, higher: 1, lower: 1, equal: 1 } });
    expect(one?.ours).toBeCloseTo(1 / 3);
    expect(one?.theirs).toBeCloseTo(0.5);
    expect(one?.ratio).toBeCloseTo(2 / 3);
    expect(one?.difference.mean).toBeCloseTo(-1 / 6);
  });

  it('is won by the means of the pairs, whatever the values', () => {
    const score = fc.integer({ min: 0, max: 4 }).map((quarters) => quarters / 4);
    fc.assert(
      fc.property(fc.array(fc.tuple(score, score), { minLength: 1, maxLength: 30 }), (pairs) => {
        const [one] = duel(
          [
            ...recalls(
              'winnow',
              pairs.map(([own]) => own),
            ),
            ...recalls(
              'bm25',
              pairs.map(([, other]) => other),
            ),
          ],
          ['bm25'],
        );
        expect(one?.difference.mean).toBeCloseTo((one?.ours ?? 9) - (one?.theirs ?? 0));
        expect(one?.difference.low).toBeLessThanOrEqual((one?.difference.mean ?? 0) + 1e-9);
        expect(one?.difference.high).toBeGreaterThanOrEqual((one?.difference.mean ?? 0) - 1e-9);
      }),
      { numRuns: 20 },
    );
  });

  it('comes with the strongest first, without those who have no case in common', () => {
    const outcomes = [
      ...recalls('winnow', [1, 1]),
      ...recalls('keywords', [0.2, 0.2]),
      ...recalls('bm25', [0.4, 0.4]),
      ...recalls('langchain', [undefined, undefined]),
    ];
    expect(duel(outcomes, ['langchain', 'keywords', 'bm25']).map(({ peer }) => peer)).toEqual(['bm25', 'keywords']);
  });

  it('that all cases won is no certainty', () => {
    const [won] = duel([...recalls('winnow', [1, 1, 1, 1]), ...recalls('bm25', [0, 0, 0, 0])], ['bm25']);
    expect(won?.difference).toMatchObject({ mean: 1, low: expect.closeTo(0.02, 2), high: 1 });
  });

  it('has no ratio to nothing', () => {
    expect(duel([...recalls('winnow', [1]), ...recalls('bm25', [0])], ['bm25'])[0]?.ratio).toBeUndefined();
  });
});

describe('the page', () => {
  const FACTS: RunFacts = { model: 'small', sample: 40, seed: 1, maxTools: 8 };
  const recalls = (contestant: string, values: readonly number[]) =>
    outcomesOf(
      'restbench',
      contestant,
      values.map((recall) => ({ recall })),
    );

  describe('the report', () => {
    it('has a row a contestant in the order of the work, with the metrics that apply', () => {
      const outcomes = [...recalls('keywords', [0.5]), ...recalls('winnow', [1])];
      const lines = renderReport(outcomes, FACTS).split('\n');
      expect(lines[0]).toBe(
        'small, at most 8 tools handed on, 40 cases a set, seed 1; 95 % intervals in brackets (bootstrap; Wilson where all cases agree)',
      );
      expect(lines.slice(2, 8)).toEqual([
        '**RestBench**',
        '',
        '|  | cases | recall of the needed tools | unanswered | tools | schema tokens | s | tokens read + cached + written |',
        '| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |',
        '| Winnow | 1 | 1.000 (0.21–1.00) | 0 | 1.0 | 100 of 1,000 | - | - |',
        "| keywords alone, Winnow's index | 1 | 0.500 (0.50–0.50) | 0 | 1.0 | 100 of 1,000 | - | - |",
      ]);
    });

    it('says so where all cases are taken', () => {
      expect(renderReport([], { ...FACTS, sample: undefined })).toContain(', all cases;');
    });

    it('tells seconds and tokens where they are known', () => {
      const spent = { ...noSpent(), answers: 1, milliseconds: 7_400, usage: { ...noUsage(), read: 19, cached: 58 } };
      expect(renderReport([anOutcome({ spent })], FACTS)).toContain('| 7.4 | 19 + 58 + 0 |');
    });

    it('tells how many tokens are needed where nothing fits, and how many cases do not fit where some do', () => {
      const tooLarge = anOutcome({ contestant: 'all-bound', status: 'does-not-fit', neededTokens: 21_892, scores: {} });
      expect(renderReport([tooLarge], FACTS)).toContain('| all tools bound in one call | 0 | - | - | - | - | - |');
      const both = [...recalls('winnow', [1]), tooLarge];
      expect(renderReport(both, FACTS)).toContain('| 0 | does not fit (21,892 tokens) |');
      const some = [...recalls('all-bound', [1, 1]), { ...tooLarge, id: 'c9' }];
      expect(renderReport(some, FACTS)).toContain('| 2 (1 do not fit) | 1.000');
    });

    it('sets Winnow against each other, and judges the bars', () => {
      const report = renderReport([...recalls('winnow', [1, 1, 0]), ...recalls('bm25', [0, 1, 1])], FACTS);
      expect(report).toMatch(
        /\| RestBench \| recall of the needed tools \| 0\.667 \| bm25 \| 0\.667 \| .* \| 1\.00 \| 1, 1, 1 \|/u,
      );
      expect(report).toContain('- NOT reached: restbench: recall at least 1.3 times');
      expect(report).toContain('- ?: metatool: recall at least 1.3 times that of the best peer. not measured');
      expect(report).toContain('- reached: never an unanswered request. 0 of 3');
    });

    it('tells what went wrong on the way, each reason once', () => {
      const outcomes = [
        anOutcome({ id: 'a', status: 'unanswered', reason: 'too long' }),
        anOutcome({ id: 'b', status: 'unanswered', reason: 'too long' }),
        anOutcome({ id: 'c', status: 'error', reason: 'HTTP 500', scores: {} }),
        anOutcome({ id: 'd', mode: 'fallback' }),
      ];
      const [, troubles] = renderReport(outcomes, FACTS).split('**What went wrong on the way**\n\n');
      expect(troubles?.split('\n')).toEqual([
        '- restbench, winnow: 1 errors of the model, which count nowhere: HTTP 500',
        '- restbench, winnow: 2 without an answer: too long',
        '- restbench, winnow: 1 answered by the fallback',
      ]);
      expect(renderReport(recalls('winnow', [1]), FACTS)).not.toContain('went wrong');
    });
  });

  describe('an estimate', () => {
    it('is a mean with its interval, or a dash', () => {
      expect(renderEstimate({ mean: 0.8654, low: 0.791, high: 0.934, count: 40 })).toBe('0.865 (0.79–0.93)');
      expect(renderEstimate(undefined)).toBe('-');
    });
  });

  describe('the list of failures', () => {
    it.each([
      ['a needed tool is missing', { allNeeded: 0, recall: 0.5 }],
      ['something was called where nothing fits', { abstention: 0 }],
      ['a plan is not exact', { allNeeded: 1, planExact: 0 }],
    ])('has a case where %s', (_, scores) => {
      expect(renderFailures([anOutcome({ scores })])).toContain('restbench, winnow, c1: the level of the lake');
    });

    it.each([
      ['all needed tools are there', { allNeeded: 1, recall: 1 }],
      ['nothing was judged', {}],
      ['a plan is exact', { allNeeded: 1, planExact: 1 }],
    ])('has none where %s', (_, scores) => {
      expect(renderFailures([anOutcome({ scores })])).toBe('');
    });

    it('tells the expected plan beside the one that came, and what is wrong with it', () => {
      const step = { tool: 'read_level', arguments: { id: 1 } };
      const got = { ...step, id: 's1', arguments: { id: 2 }, purpose: '', dependsOn: [] };
      const plan = { expected: [{ ...step }], got: [got], fault: 'wrong-argument' as const };
      expect(
        renderFailures([anOutcome({ scores: { planExact: 0 }, plan, mode: 'selected' })])
          .split('\n')
          .slice(1),
      ).toEqual([
        '  chosen (selected): read_level',
        '  fault: wrong-argument',
        '  expected: read_level({"id":1})',
        '  got: read_level({"id":2})',
      ]);
    });

    it('tells why there is no answer', () => {
      const lost = anOutcome({
        status: 'unanswered',
        reason: 'threw',
        tools: [],
        missing: ['read_level'],
        scores: { allNeeded: 0 },
      });
      expect(renderFailures([lost]).split('\n').slice(1)).toEqual([
        '  unanswered: threw',
        '  missing: read_level',
        '  chosen: ',
      ]);
    });
  });
});
