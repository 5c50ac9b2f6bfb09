import { describe, expect, it } from 'vitest';
import { checkSequences } from './gate-model.js';
import { checkMoving } from './moving-model.js';

// Six times as many, and how often each answer comes up: gate.property.slow.test.ts.
describe('any sequence of search, enable, disable, turn, call, approve and expire', () => {
  it('runs exactly the calls that the reference allows', async () => {
    const { calls, ran } = await checkSequences(50);
    // Both answers must come up, or nothing is tested.
    expect(ran).toBeGreaterThan(calls / 40);
    expect(ran).toBeLessThan(calls / 2);
  }, 240_000);
});

describe('any sequence of calls and grants among tools that are renamed, moved, changed and added', () => {
  it('runs nothing denied, nothing unapproved, and nothing whose precondition another tool met', async () => {
    const { acted } = await checkMoving(30);
    expect(acted).toBeGreaterThan(0);
  }, 240_000);
});
