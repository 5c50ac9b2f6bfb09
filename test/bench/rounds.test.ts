import { describe, expect, it } from 'vitest';
import { renderResults } from './own-cost-table.mjs';
import { countFailures, messageOf, oneAfterTheOther, sideBySide } from './rounds.mjs';

/** The third request ends as LangChain's does where the server closes the connection that it takes. */
function losingOne() {
  let asked = 0;
  return countFailures(async () => {
    asked += 1;
    if (asked === 3) throw new TypeError('fetch failed', { cause: new Error('other side closed') });
  });
}

describe('a request of a measurement that fails', () => {
  it('is counted, and the others are timed', async () => {
    const { run, failures } = losingOne();
    const { ms, cpuMs } = await oneAfterTheOther(run, ['a', 'b'], 5);
    expect([ms, cpuMs].every(Number.isFinite)).toBe(true);
    expect(failures).toEqual({ count: 1, first: 'fetch failed: other side closed' });
  });

  it('is counted side by side as well', async () => {
    const { run, failures } = losingOne();
    expect(await sideBySide(run, ['a'], { total: 6, concurrency: 2 })).toBeGreaterThan(0);
    expect(failures.count).toBe(1);
  });

  it('leaves no figure where all fail', async () => {
    const { run, failures } = countFailures(() => Promise.reject('no'));
    expect(await oneAfterTheOther(run, ['a'], 2)).toEqual({ ms: Number.NaN, cpuMs: Number.NaN });
    expect(await sideBySide(run, ['a'], { total: 2, concurrency: 1 })).toBeNaN();
    expect(failures).toEqual({ count: 4, first: 'no' });
  });

  it('is told in words', () => expect(messageOf(undefined)).toBe('undefined'));

  it('stands below the tables, which have no figure for what was never measured', () => {
    const sent = { bytes: 1_000, tokens: Number.NaN };
    const spread = { median: 1, least: 1, most: 1 };
    const whole = { name: 'winnow', failures: { count: 0, first: undefined }, ms: spread };
    const broken = { name: 'langchain', failures: { count: 2, first: 'other side closed' } };
    const both = { first: sent, second: sent };
    const result = { label: '10 tools', contestants: [whole, broken], sent: { winnow: both, langchain: both } };
    const text = renderResults([result], { rounds: 1, requests: 1, concurrency: 1 });
    expect(text).toContain('Failed requests\n\n- langchain on 10 tools: 2 (first: other side closed)');
    expect(text).not.toContain('winnow on');
    expect(text).not.toContain('NaN');
  });
});
