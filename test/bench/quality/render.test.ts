import { describe, expect, it } from '@jest/globals';
import { noUsage } from '../../../src/core/model/model.js';
import { renderFailures } from './failures.js';
import { noSpent } from './remembered-model.js';
import { type RunFacts, renderEstimate, renderReport } from './render.js';
import { anOutcome, outcomesOf } from './setup.js';

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
