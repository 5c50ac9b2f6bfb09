import { describe, expect, it } from '@jest/globals';
import { ruleSchema } from '../../../src/core/catalog/rule.js';

const issuesOf = (rule: unknown) =>
  ruleSchema.safeParse(rule).error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`) ?? [];

describe('a rule', () => {
  it.each([
    ['entities', { name: 'r', when: { entities: ['object'] }, first: ['a'] }],
    ['one intent', { name: 'r', when: { intent: 'forecast' }, last: ['a'] }],
    ['several intents', { name: 'r', when: { intent: ['forecast', 'warning'] }, include: ['a'] }],
    ['words of the message', { name: 'r', when: { message: '水位|level' }, include: ['a', 'b'] }],
    [
      'all of them',
      { name: 'r', when: { entities: ['o'], intent: 'i', message: 'm' }, first: ['a'], last: ['b'], include: ['c'] },
    ],
  ])('may look at %s', (_, rule) => {
    expect(ruleSchema.parse(rule)).toEqual(rule);
  });

  it.each([
    ['nothing that it adds', { name: 'r', when: { intent: 'i' } }, ': a rule needs first, last or include'],
    ['no name', { when: { intent: 'i' }, first: ['a'] }, 'name: '],
    ['an empty name', { name: '', when: { intent: 'i' }, first: ['a'] }, 'name: '],
    ['no condition', { name: 'r', first: ['a'] }, 'when: '],
    [
      'an empty condition, which would always hold',
      { name: 'r', when: {}, first: ['a'] },
      'when: a rule needs at least one condition',
    ],
    ['an unknown condition', { name: 'r', when: { user: 'ann' }, first: ['a'] }, 'when: '],
    ['an unknown place', { name: 'r', when: { intent: 'i' }, before: ['a'] }, ': '],
    ['no entity', { name: 'r', when: { entities: [] }, first: ['a'] }, 'when.entities: '],
    [
      'a broken regular expression',
      { name: 'r', when: { message: '(' }, first: ['a'] },
      'when.message: not a regular expression',
    ],
    ['an empty list of tools', { name: 'r', when: { intent: 'i' }, first: [] }, 'first: '],
    ['a tool without a name', { name: 'r', when: { intent: 'i' }, include: [''] }, 'include.0: '],
    ['a text for a list', { name: 'r', when: { intent: 'i' }, first: 'a' }, 'first: '],
  ])('is refused with %s', (_, rule, start) => {
    expect(issuesOf(rule)).toContainEqual(expect.stringContaining(start));
  });
});
