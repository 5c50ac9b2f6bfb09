/** The task of the example agent, done. */
import { describe, expect, it } from '@jest/globals';
import { runExample } from './run-example.js';

/** For machines that are busy with other things. */
const TIME_LIMIT_MS = 120_000;

describe('the example agent', () => {
  it(
    'searches, enables, is refused, gets an approval from somebody else and finishes its task',
    async () => {
      const { exitCode, text } = await runExample();
      expect(text).not.toContain('NO ');
      expect(text).toMatch(
        /tool_search[\s\S]*tool_enable[\s\S]*needs_approval[\s\S]*olga {3}approves file_delete[\s\S]*"deleted":true/,
      );
      expect(exitCode).toBe(0);
    },
    TIME_LIMIT_MS,
  );
});
