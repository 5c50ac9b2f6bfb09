import { describe, expect, it } from '@jest/globals';
import { optionalNext } from '../../src/planning/optional-next.js';

const START = '{"kind":"plan","steps":[{"id":"s1","tool":"find","arguments":{';
const requiredOf = (tool: string) => (tool === 'find' ? ['name'] : []);
const next = (rest: string, likely: readonly string[] = ['find', 'read']) =>
  optionalNext(START + rest, { requiredOf, likely });

describe('what may be left out of a plan', () => {
  it.each([
    ['nothing before the required arguments', '"limit":1', []],
    ['a further argument behind a text', '"name":"Paris', ['",']],
    ['a further argument behind a number', '"name":"x","limit":1', [',']],
    ['nothing inside a list', '"name":"x","tags":["a', []],
    ['nothing behind the first of two likely tools', '"name":"x"}}', []],
  ])('is %s', (_, rest, expected) => {
    expect(next(rest)).toEqual(expected);
  });

  it.each([
    ['in the last argument', '"name":"x', ['",', '"}},']],
    ['behind the last argument', '"name":"x"', [',', '}},']],
    ['behind the step', '"name":"x"}}', ['},', ',']],
  ])('is a further step when all likely tools are there: %s', (_, rest, expected) => {
    expect(next(rest, ['find'])).toEqual(expected);
  });

  it('is no step where nothing is known of likely tools', () => {
    expect(next('"name":"x"}}', [])).toEqual([]);
  });
});
