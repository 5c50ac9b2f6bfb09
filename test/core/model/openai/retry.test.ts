import { describe, expect, it } from '@jest/globals';
import { readRetryAfterMs, retryDelayMs, retrying } from '../../../../src/core/model/openai/retry.js';
import { ServerFailure } from '../../../../src/core/model/openai/server-failure.js';

const FAILURE = new ServerFailure({ kind: 'network', code: 'ECONNRESET', message: 'cut' });

describe('retrying', () => {
  it('leaves its pause when the deadline is over, so that nothing keeps the process alive', async () => {
    const controller = new AbortController();
    const deadline = { signal: controller.signal, remainingMs: () => 1_000_000 };
    const pending = retrying({ maxRetries: 1, retryDelayMs: 500_000 }, deadline, async () => {
      setImmediate(() => controller.abort());
      throw FAILURE;
    });
    await expect(pending).rejects.toHaveProperty('name', 'AbortError');
  });

  it('throws the last failure when the retries are used up', async () => {
    const deadline = { signal: new AbortController().signal, remainingMs: () => 1_000_000 };
    let attempts = 0;
    const pending = retrying({ maxRetries: 2, retryDelayMs: 0 }, deadline, async () => {
      attempts += 1;
      throw FAILURE;
    });
    await expect(pending).rejects.toBe(FAILURE);
    expect(attempts).toBe(3);
  });
});

describe('the pause before a retry', () => {
  it('doubles, up to eight seconds', () => {
    expect([0, 1, 2, 3, 4, 9].map((retries) => retryDelayMs(retries, 500, 0))).toEqual([
      500, 1_000, 2_000, 4_000, 8_000, 8_000,
    ]);
  });

  it('is up to a quarter shorter by chance, so that those who failed together do not come back together', () => {
    expect([0, 0.5, 1].map((random) => retryDelayMs(0, 1_000, random))).toEqual([1_000, 875, 750]);
    const delays = Array.from({ length: 50 }, () => retryDelayMs(1, 1_000));
    expect(new Set(delays).size).toBeGreaterThan(1);
    for (const delay of delays) {
      expect(delay).toBeGreaterThanOrEqual(1_500);
      expect(delay).toBeLessThanOrEqual(2_000);
    }
  });
});

describe('Retry-After', () => {
  it.each([
    ['seconds', { 'retry-after': '2' }, 2_000],
    ['milliseconds, which are the more exact', { 'retry-after': '2', 'retry-after-ms': '1500' }, 1_500],
    ['a date that is past', { 'retry-after': 'Thu, 01 Jan 2015 00:00:00 GMT' }, 0],
    ['nothing', {}, undefined],
    ['something else', { 'retry-after': 'soon' }, undefined],
  ])('is read from %s', (_, headers, expected) => {
    expect(readRetryAfterMs(new Headers(Object.entries(headers)))).toBe(expected);
  });
});
