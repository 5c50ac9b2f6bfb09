import { describe, expect, it } from '@jest/globals';
import { readRetryAfterMs, retrying } from '../../../src/model/openai/retry.js';
import { ServerFailure } from '../../../src/model/openai/server-failure.js';

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
