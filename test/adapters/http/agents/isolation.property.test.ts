import { expect, it } from '@jest/globals';
import { checkPairs } from './isolation-model.js';

// A thousand of them: test/bench/isolation.mjs.
it('any two users, whatever they ask, get the answers that each would get alone', async () => {
  const { commands, done, foreign } = await checkPairs(20);
  // Both must come up often, or nothing is tested.
  expect(done).toBeGreaterThan(commands / 4);
  expect(foreign).toBeGreaterThan(commands / 20);
}, 300_000);
