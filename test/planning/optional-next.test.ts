import { describe, expect, it } from '@jest/globals';
import { optionalNext } from '../../src/planning/optional-next.js';

const START = '{"kind":"plan","steps":[{"id":"s1","tool":"find","arguments":{';
const REQUIRED: Readonly<Record<string, readonly string[]>> = { '': ['name'], area: ['north'], 'areas.*': ['north'] };
const requiredAt = (tool: string, path: readonly string[]) => (tool === 'find' ? REQUIRED[path.join('.')] : []);
const next = (rest: string, likely: readonly string[] = ['find', 'read']) =>
  optionalNext(START + rest, { requiredAt, likely });

describe('what may be left out of a plan', () => {
  it.each([
    ['nothing before the required arguments', '"limit":1', []],
    ['a further argument behind a text', '"name":"Paris', ['",']],
    ['a further argument behind a number', '"name":"x","limit":1', [',']],
    ['not a further item of a list', '"name":"x","tags":["a', ['"],']],
    ['nothing before what an object has to hold', '"area":{"south":1', []],
    ['a further property of an object', '"area":{"north":1', [',']],
    ['… and of the object around it', '"name":"x","area":{"north":1', [',', '},']],
    ['a further property behind a list', '"area":{"north":1,"towns":["a', ['"],']],
    ['a further property of an object in a list', '"areas":[{"north":1', [',']],
    ['not a further object of a list', '"areas":[{"north":1}', []],
    ['nothing in an object of any properties', '"labels":{"a":"b', []],
    ['nothing behind the first of two likely tools', '"name":"x"}}', []],
  ])('is %s', (_, rest, expected) => {
    expect(next(rest)).toEqual(expected);
  });

  it.each([
    ['in the last argument', '"name":"x', ['",', '"}},']],
    ['behind the last argument', '"name":"x"', [',', '}},']],
    ['in an object', '"name":"x","area":{"north":1', [',', '},', '}}},']],
    ['behind the step', '"name":"x"}}', ['},', ',']],
  ])('is a further step when all likely tools are there: %s', (_, rest, expected) => {
    expect(next(rest, ['find'])).toEqual(expected);
  });

  it('is no step where nothing is known of likely tools', () => {
    expect(next('"name":"x"}}', [])).toEqual([]);
  });
});
