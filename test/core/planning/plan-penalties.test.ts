import { describe, expect, it } from '@jest/globals';
import { planPenalties } from '../../../src/core/planning/plan-penalties.js';
import { NOTHING_STATED, statedByKind } from '../../../src/core/planning/unused-values.js';

const START = '{"kind":"plan","steps":[{"id":"s1","tool":"find","arguments":{';
const REQUIRED: Readonly<Record<string, readonly string[]>> = { '': ['name'], area: ['north'], 'areas.*': ['north'] };
const requiredAt = (tool: string, path: readonly string[]) => (tool === 'find' ? REQUIRED[path.join('.')] : []);
const NOTHING = { requiredAt, likely: [], due: [] };
type Needed = Partial<Parameters<typeof planPenalties>[0]>;
const penalties = (rest: string, needed: Needed) => planPenalties({ ...NOTHING, ...needed }).at(START + rest);
const next = (rest: string, likely: readonly string[] = []) =>
  penalties(rest, { likely })
    .filter(({ nats }) => nats === 2)
    .map(({ beginning }) => beginning);
/** How a plan would end at once. */
const end = (rest: string, due: readonly string[], stated = NOTHING_STATED) =>
  penalties(rest, { due, stated })
    .filter(({ nats }) => nats === 5)
    .map(({ beginning }) => beginning);

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
  ])('is %s', (_, rest, expected) => {
    expect(next(rest)).toEqual(expected);
  });

  it.each([
    ['in the last argument', '"name":"x', ['",', '"}},']],
    ['behind the last argument', '"name":"x"', [',', '}},']],
    ['in an object', '"name":"x","area":{"north":1', [',', '},', '}}},']],
    ['behind the step', '"name":"x"}}', [',', '},']],
  ])('is a further step when all likely tools are there: %s', (_, rest, expected) => {
    expect(next(rest, ['find'])).toEqual(expected);
  });

  it('is no further step while a likely tool is not there', () => {
    expect(next('"name":"x"}}', ['find', 'read'])).toEqual([]);
  });

  it('is no step where nothing is known of likely tools', () => {
    expect(next('"name":"x"}}', [])).toEqual([]);
  });
});

describe('the end of a plan', () => {
  const DUE = ['find', 'read'];

  it.each([
    ['in the last argument', '"name":"x', ['"}}]']],
    ['behind the last argument', '"name":"x"', ['}}]']],
    ['in an object', '"name":"x","area":{"north":1', ['}}}]']],
    ['behind the arguments or the step', '"name":"x"}', [']', '}]']],
  ])('comes too early while a due tool is not there: %s', (_, rest, expected) => {
    expect(end(rest, DUE)).toEqual(expected);
  });

  it('comes when all due tools are there, or as many steps', () => {
    const second = (tool: string) => `"name":"x"}},{"id":"s2","tool":"${tool}","arguments":{}}`;
    expect(end(second('read'), DUE)).toEqual([]);
    expect(end(second('find'), DUE)).toEqual([]);
    expect(end(second('find'), [...DUE, 'write'])).toEqual([']', '}]']);
    expect(end('"name":"x"}}', [])).toEqual([]);
  });

  it('counts steps, not arguments that are named tool', () => {
    expect(end('"name":"x","tool":"hammer"}}', ['find', 'read'])).toEqual([']', '}]']);
  });

  it('is told behind a step only', () => {
    expect(end('"name":"x"}},{"id":"s2"', ['find', 'read'])).toEqual([]);
    expect(next('"name":"x"}},{"id":"s2"', ['find'])).toEqual([]);
  });

  it('is told from the end of what stands inside the arguments', () => {
    expect(end('"name":"x","tags":["a"', DUE)).toEqual([']}}]']);
  });

  it('comes too early while one of several things is not there, wherever it stands outside of arguments', () => {
    const stated = statedByKind('Rooms s1, s2 and s3', []);
    const second = (values: string) => `"name":"s1"}},{"id":"s2","tool":"s3","arguments":{${values}`;
    expect(end('"name":"s1"}}', [], stated)).toEqual([']', '}]']);
    expect(end(second('"name":"s2"}}'), [], stated)).toEqual([']', '}]']);
    expect(end(second('"names":["s2","s3"'), [], stated)).toEqual([]);
  });

  it('comes behind a step that found no use for what is left', () => {
    const stated = statedByKind('Rooms for 70 people', []);
    expect(end('"name":"rooms"}}', [], stated)).toEqual([']', '}]']);
    expect(end('"name":"rooms"}},{"id":"s2","tool":"find","arguments":{"name":"more"}}', [], stated)).toEqual([]);
  });

  it('comes too early also where all likely tools are there', () => {
    const needed = { likely: ['find'], stated: statedByKind('Rooms A1 and A2', []) };
    expect(penalties('"name":"A1"}}', needed)).toEqual([
      { beginning: ']', nats: 5 },
      { beginning: '}]', nats: 5 },
    ]);
  });
});

it('has an id of its own for all that changes it besides the tools', () => {
  const idOf = (needed: Needed) => planPenalties({ ...NOTHING, ...needed }).id;
  expect(idOf({ due: ['find'] })).toBe(idOf({ due: ['find'] }));
  const different = [{}, { due: ['find'] }, { likely: ['find'] }, { stated: statedByKind('A1, A2', []) }].map(idOf);
  expect(new Set(different).size).toBe(different.length);
});
