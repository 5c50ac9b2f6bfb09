/** The task of the example agent, not done: what it says of itself is true. */
import { describe, expect, it } from '@jest/globals';
import { runExample } from './run-example.js';

/** For machines that are busy with other things. */
const TIME_LIMIT_MS = 120_000;

describe('the example agent', () => {
  it(
    'finds out that its task is not done where nobody approves',
    async () => {
      const { exitCode, text } = await runExample('--no-operator');
      expect(text).toContain('NO   the file is gone, and no other');
      expect(exitCode).toBe(1);
    },
    TIME_LIMIT_MS,
  );
});
