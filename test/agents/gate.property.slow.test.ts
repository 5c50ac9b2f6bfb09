import { describe, expect, it } from 'vitest';
import { checkSequences } from './gate-model.js';
import { checkMoving } from './moving-model.js';

describe('any sequence of search, enable, disable, turn, call, approve and expire', () => {
  // A million of them: test/bench/policy-property.mjs.
  it('runs exactly the calls that the reference allows', async () => {
    const { calls, ran, approved } = await checkSequences(300);
    // Both answers must come up often, or nothing is tested.
    expect(ran).toBeGreaterThan(calls / 20);
    expect(ran).toBeLessThan(calls / 2);
    expect(approved).toBeGreaterThan(10);
  }, 240_000);
});

describe('any sequence of calls and grants among tools that are renamed, moved, changed and added', () => {
  it('runs nothing denied, nothing unapproved, and nothing whose precondition another tool met', async () => {
    const { calls, acted } = await checkMoving(150);
    expect(acted).toBeGreaterThan(calls / 100);
  }, 240_000);
});
