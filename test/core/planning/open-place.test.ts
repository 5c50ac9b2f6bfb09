import { describe, expect, it } from '@jest/globals';
import { openPlaceOf } from '../../../src/core/planning/open-place.js';

const START = '{"kind":"plan","steps":[{"id":"s1","tool":"find","arguments":{';

const top = (...written: string[]) => ({ path: [], written });

describe('the place in a plan that is not written to the end', () => {
  it.each([
    ['nothing yet', '', undefined],
    ['before the arguments', '{"kind":"plan","steps":[{"id":"s1","tool":"find"', undefined],
    ['a step that is complete', `${START}"name":"x"}}`, undefined],
    ['no argument yet', START, undefined],
  ])('is none: %s', (_, text, expected) => {
    expect(openPlaceOf(text)).toEqual(expected);
  });

  it.each([
    ['in a text', '"name":"Par', { argument: 'name', levels: [top('name')], inText: true }],
    ['in an empty text', '"name":"', { argument: 'name', levels: [top('name')], inText: true }],
    ['behind an escaped quote', '"name":"a \\"b', { argument: 'name', levels: [top('name')], inText: true }],
    ['behind a text', '"name":"Paris"', { argument: 'name', levels: [top('name')], inText: false }],
    ['in a number', '"name":"x","limit":1', { argument: 'limit', levels: [top('name', 'limit')], inText: false }],
    [
      'in a list',
      '"tags":["a',
      { argument: 'tags', levels: [top('tags'), { path: ['tags'], written: undefined }], inText: true },
    ],
    ['behind a list', '"tags":["a"]', { argument: 'tags', levels: [top('tags')], inText: false }],
    [
      'in an object',
      '"area":{"north":1',
      { argument: 'area', levels: [top('area'), { path: ['area'], written: ['north'] }], inText: false },
    ],
    [
      'in an object of a list',
      '"areas":[{"north":1},{"north":2,"south":3',
      {
        argument: 'areas',
        levels: [
          top('areas'),
          { path: ['areas'], written: undefined },
          { path: ['areas', '*'], written: ['north', 'south'] },
        ],
        inText: false,
      },
    ],
    ['behind text with brackets', '"q":"{[","n":2', { argument: 'n', levels: [top('q', 'n')], inText: false }],
  ])('is %s', (_, rest, expected) => {
    expect(openPlaceOf(START + rest)).toEqual({ tool: 'find', ...expected });
  });

  it('belongs to the last step', () => {
    const text = `${START}"name":"x"}},{"id":"s2","tool":"read","arguments":{"id":"\${s1.id}"`;
    expect(openPlaceOf(text)).toMatchObject({ tool: 'read', argument: 'id', levels: [top('id')] });
  });

  it('knows an argument that is called arguments', () => {
    expect(openPlaceOf(`${START}"arguments":{"a":1`)).toMatchObject({
      argument: 'arguments',
      levels: [top('arguments'), { path: ['arguments'], written: ['a'] }],
    });
  });
});
