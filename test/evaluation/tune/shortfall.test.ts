import { describe, expect, it } from '@jest/globals';
import type { EvaluationCase } from '../../../src/evaluation/case.js';
import { createBudget } from '../../../src/evaluation/tune/budget.js';
import { shortfallOf } from '../../../src/evaluation/tune/shortfall.js';

const MINUTE = 60_000;
const casesOf = (length: number) => Array.from({ length }, (_, place) => ({ id: `c${place}` }) as EvaluationCase);
/** 3 x 30 + 2 x (40 + 30) measurements for one decision. */
const split = { training: casesOf(30), choosing: casesOf(40), heldBack: casesOf(30) };

function told(minutes: number, { seconds = 6, kept = 0 }: { seconds?: number; kept?: number } = {}) {
  const budget = createBudget({ milliseconds: minutes * MINUTE, now: () => 0 });
  return shortfallOf(
    { budget, split, reserve: { calls: 0, milliseconds: kept * MINUTE } },
    { milliseconds: seconds * 1_000 },
  );
}

describe('a budget for tuning', () => {
  it('that does for one decision is not spoken of', () => {
    expect(told(23)).toBeUndefined();
  });

  it('that does not is told with what is missing, and with how many cases it would do for', () => {
    expect(told(10)).toBe(
      'a decision takes about 23 minutes more; what is left is 10 minutes: give a larger --budget, or about 43 of the 100 cases by --sample',
    );
  });

  it('is what other prompts leave of it', () => {
    expect(told(23, { kept: 13 })).toBe(told(10));
  });

  it('that would do for a handful of cases only must be larger', () => {
    expect(told(1)).toBe(
      'a decision takes about 23 minutes more; what is left is 1 minute: it does for about 4 of the 100 cases, which show hardly any gain: give a larger --budget',
    );
  });
});
