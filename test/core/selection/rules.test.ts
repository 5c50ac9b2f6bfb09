import { describe, expect, it } from '@jest/globals';
import type { Rule } from '../../../src/core/catalog/rule.js';
import { type PlanRequest, parseRequest } from '../../../src/core/request.js';
import { matchingRules } from '../../../src/core/selection/rules.js';

const REQUEST: PlanRequest = {
  message: 'Write the REPORT 水位',
  intent: 'report',
  entities: { object: '盘石头', empty: null, blank: ' ', none: [], zero: 0 },
};

describe('a rule', () => {
  it.each<[Rule['when'], boolean]>([
    [{ entities: ['object'] }, true],
    [{ entities: ['object', 'other'] }, false],
    [{ entities: ['empty'] }, false],
    [{ entities: ['blank'] }, false],
    [{ entities: ['none'] }, false],
    [{ entities: ['zero'] }, true],
    [{ intent: 'report' }, true],
    [{ intent: ['query', 'report'] }, true],
    [{ intent: 'Report' }, false],
    [{ intent: 'query' }, false],
    [{ message: 'report' }, true],
    [{ message: '^report' }, false],
    [{ message: '水(位|库)' }, true],
    [{ entities: ['object'], intent: 'report', message: 'write' }, true],
    [{ entities: ['object'], intent: 'report', message: 'read' }, false],
  ])('with %j matches: %s', (when, expected) => {
    expect(matchingRules([{ name: 'r', when }], parseRequest(REQUEST))).toHaveLength(expected ? 1 : 0);
  });

  it.each([
    ['(a+)+$', `${'a'.repeat(60)}!`],
    ['^\\s*(.*)\\s*x$', `x${' '.repeat(50_000)}y`],
    [`^${'(a|a)'.repeat(28)}$`, `${'a'.repeat(28)}b`],
    [`^${'(aa?)'.repeat(40)}$`, `${'a'.repeat(60)}b`],
  ])('whose pattern %s would run for ever does not match, and holds nobody up', (message, text) => {
    expect(matchingRules([{ name: 'r', when: { message } }], parseRequest({ message: text }))).toEqual([]);
  });

  it('behind many that would each run for ever is not tried any more: they have one budget', () => {
    const away = Array.from({ length: 40 }, (_, at) => ({ name: `r${at}`, when: { message: `(a+)+$|${at}` } }));
    const request = parseRequest({ message: `${'a'.repeat(60)}!` });
    const last = { name: 'last', when: { message: '(?:a|b)+!' } };
    expect(matchingRules([last], request)).toEqual([last]);
    expect(matchingRules([...away, last], request)).toEqual([]);
  });

  it('beside one whose pattern would run for ever matches all the same', () => {
    const rules = ['(a+)+$', '(?:b|c)+|d', '!'].map((message) => ({ name: message, when: { message } }));
    const matched = matchingRules(rules, parseRequest({ message: `c${'a'.repeat(60)}!` }));
    expect(matched.map(({ name }) => name)).toEqual(['(?:b|c)+|d', '!']);
  });

  it('finds its words in a long message, in letters of either case', () => {
    const long = parseRequest({ message: `${'x '.repeat(5_000)} the REPORT of today` });
    expect(matchingRules([{ name: 'r', when: { message: '(?:the )+report' } }], long)).toHaveLength(1);
  });

  it('never matches by what an object inherits', () => {
    const rule = { name: 'r', when: { entities: ['constructor'] } };
    expect(matchingRules([rule], parseRequest({ message: 'x' }))).toEqual([]);
  });

  it('without its condition in the request does not match', () => {
    const rules = [
      { name: 'r', when: { intent: 'report' } },
      { name: 's', when: { entities: ['object'] } },
    ];
    expect(matchingRules(rules, parseRequest({ message: 'x' }))).toEqual([]);
  });
});
