import { describe, expect, it } from 'vitest';
import { simulateHabits } from './simulate.js';

/** A small form of `test/bench/adaptation-simulation.mjs`: habits make search better for those who have them. */
describe('a hundred sessions of habits', () => {
  it('bring the tools that are meant to the top, and nothing else moves', async () => {
    const { before, after, plainBefore, plainAfter } = await simulateHabits({ sessions: 150, users: 5, seed: 7 });
    // Of forty queries: eight seeds gave 0.40 to 0.65 more at the top, 0.55 to 0.70 among the first three.
    expect(after.top1).toBeGreaterThan(before.top1 + 0.3);
    expect(after.top3).toBeGreaterThan(before.top3 + 0.4);
    expect(plainAfter.top3).toBeGreaterThanOrEqual(plainBefore.top3 - 0.02);
  });

  it('of one who poisons them leave the ranking of all others as it was', async () => {
    const { othersBefore, othersAfter, poisonedAfter } = await simulateHabits({
      sessions: 60,
      users: 3,
      seed: 11,
      poison: 200,
    });
    expect(othersAfter).toEqual(othersBefore);
    expect(poisonedAfter).toBe(true);
  });
});
