/** The task of the example agent, done and not done: what it says of itself is true. */
import { describe, expect, it } from 'vitest';
import { runExample } from './run-example.js';

describe('the example agent', () => {
  it('searches, enables, is refused, gets an approval from somebody else and finishes its task', async () => {
    const { exitCode, text } = await runExample();
    expect(text).not.toContain('NO ');
    expect(text).toMatch(
      /tool_search[\s\S]*tool_enable[\s\S]*needs_approval[\s\S]*olga {3}approves file_delete[\s\S]*"deleted":true/,
    );
    expect(exitCode).toBe(0);
  });

  it('finds out that its task is not done where nobody approves', async () => {
    const { exitCode, text } = await runExample('--no-operator');
    expect(text).toContain('NO   the file is gone, and no other');
    expect(exitCode).toBe(1);
  });
});
