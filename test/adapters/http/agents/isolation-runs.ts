/** Random pairs of users, with what shows that they reach for one another's things at all. */
import { expect } from 'vitest';
import { checkPairs } from './isolation-model.js';

export async function checkIsolationRuns(runs: number): Promise<void> {
  const { commands, done, foreign } = await checkPairs(runs);
  // Both must come up often, or nothing is tested.
  expect(done).toBeGreaterThan(commands / 4);
  expect(foreign).toBeGreaterThan(commands / 20);
}
