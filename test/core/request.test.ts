import { describe, expect, it } from '@jest/globals';
import { searchText } from '../../src/core/prompts/context.js';
import { parseRequest } from '../../src/core/request.js';

const many = (count: number) => Array.from({ length: count }, (_, place) => `n${place}`);

describe('a request is refused with the field that is too large', () => {
  it.each([
    ['message', { message: 'x'.repeat(100_001) }],
    ['intent', { intent: 'x'.repeat(2_001) }],
    ['entities', { entities: { a: 'x'.repeat(50_001) } }],
    ['entities', { entities: Object.fromEntries(many(201).map((name) => [name, 1])) }],
    ['allow', { allow: many(10_001) }],
    ['deny', { deny: many(10_001) }],
    ['require', { require: many(10_001) }],
  ])('%s', (field, more) => {
    expect(() => parseRequest({ message: 'x', ...more })).toThrow(`The request is not usable: ${field}: `);
  });
});

describe('what keywords are looked for in', () => {
  it('is the whole of a message of 4,000 characters, and the beginning of a longer one', () => {
    const message = `delete ${'x'.repeat(3_989)} end`;
    expect(searchText({ message })).toContain(' end');
    expect(searchText({ message: `${message} pasted` })).not.toContain('pasted');
  });

  it('is of earlier messages their beginnings', () => {
    const history = [{ role: 'user' as const, content: `delete ${'x'.repeat(5_000)}` }];
    expect(searchText({ message: 'do it', history }).length).toBeLessThan(4_100);
  });
});
