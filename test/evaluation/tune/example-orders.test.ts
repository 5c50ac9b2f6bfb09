import { describe, expect, it } from '@jest/globals';
import { exampleOrders } from '../../../src/evaluation/tune/example-orders.js';
import { createPromptGate } from '../../../src/evaluation/tune/prompt-gate.js';
import { toCandidate } from '../../../src/evaluation/tune/variant.js';

const admitter = { gate: createPromptGate({ training: [], withheld: [], known: [] }), growth: () => 0, maxGrowth: 0 };

function orders(examples: readonly string[], { count = 6, seed = 1 } = {}): string[] {
  const draft = { name: 'select-tools' as const, instructions: '<!-- examples -->\n\nTools:', examples, user: 'u' };
  const caseIds = examples.map((example) => `case ${example}`);
  const base = toCandidate({ kind: 'base', about: 'as it was', draft, options: {}, caseIds }, admitter);
  if (!base.ok) throw new Error(base.issues.join());
  return exampleOrders({ ...admitter, best: base.variant, count, seed }).map((one) => {
    if (!one.ok) throw new Error(one.issues.join());
    expect([...one.variant.draft.examples].sort()).toEqual([...examples].sort());
    expect(one.variant.caseIds).toEqual(caseIds);
    return one.variant.draft.examples.join('');
  });
}

describe('the order of worked examples', () => {
  it('has no other with less than two of them', () => {
    expect([orders([]), orders(['a'])]).toEqual([[], []]);
  });

  it('is tried from the last to the first, and by chance; each order once, and never the present one', () => {
    expect(orders(['a', 'b'])).toEqual(['ba']);
    const found = orders(['a', 'b', 'c', 'd', 'e'], { count: 5 });
    expect(found[0]).toBe('edcba');
    expect(found).toHaveLength(5);
    expect(new Set([...found, 'abcde']).size).toBe(6);
  });

  it('is another by chance in each round, and the same when a run is done again', () => {
    const five = ['a', 'b', 'c', 'd', 'e'];
    expect(orders(five, { seed: 2 })).toEqual(orders(five, { seed: 2 }));
    expect(orders(five, { seed: 3 })).not.toEqual(orders(five, { seed: 2 }));
  });
});
