import { describe, expect, it } from '@jest/globals';
import type { CompletionRequest } from '../../../src/core/model/model.js';
import { createBudget } from '../../../src/evaluation/tune/budget.js';
import { createScriptedModel } from '../../support/scripted-model.js';

const REQUEST: CompletionRequest = { stage: 'selection', prompt: { system: 's', user: 'u' }, maxTokens: 10 };

describe('a budget of calls', () => {
  it('does not make the call that would be one too many, and says so', async () => {
    const inner = createScriptedModel({ answers: ['a', 'b'] });
    const budget = createBudget({ milliseconds: 1_000, calls: 2, now: () => 0 });
    const model = budget.meter(inner);
    await model.complete(REQUEST);
    expect(budget.isOver()).toBe(false);
    await model.complete(REQUEST);
    expect([budget.isOver(), budget.exhausted.aborted]).toEqual([true, false]);
    await expect(model.complete(REQUEST)).rejects.toMatchObject({
      code: 'cancelled',
      message: expect.stringContaining('2 model calls'),
    });
    expect(budget.exhausted.aborted).toBe(true);
    inner.assertDone();
  });

  it('counts a rank reading as one, and what an earlier process spent', async () => {
    const inner = createScriptedModel({ readers: [{ probabilities: new Map() }] });
    const budget = createBudget({ milliseconds: 1_000, calls: 5, now: () => 0 });
    const reader = await budget.meter(inner).openReader?.({ prompt: REQUEST.prompt, opening: '"' });
    await reader?.close();
    budget.recall(3, 0);
    expect(budget.spent().calls).toBe(4);
    expect([budget.isOver(), budget.isOver({ calls: 1, milliseconds: 0 })]).toEqual([false, true]);
  });
});

describe('a budget of time', () => {
  it('goes on from the time of an earlier process', () => {
    let time = 100;
    const budget = createBudget({ milliseconds: 1_000, now: () => time });
    budget.recall(0, 700);
    time = 300;
    expect(budget.spent().milliseconds).toBe(900);
    expect([budget.isOver(), budget.isOver({ calls: 0, milliseconds: 100 })]).toEqual([false, true]);
  });
});
