import { describe, expect, it } from '@jest/globals';
import { judgeBars, PEERS } from './bars.js';
import type { Outcome } from './outcome.js';
import { anOutcome, outcomesOf } from './setup.js';

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
