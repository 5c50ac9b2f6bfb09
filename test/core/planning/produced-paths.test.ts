import { describe, expect, it } from '@jest/globals';
import { pathsFor, producedPaths } from '../../../src/core/planning/produced-paths.js';
import { createTool } from '../../support/create-tool.js';

const LIST = { type: 'array', items: { type: 'object', properties: { id: { type: 'integer' } } } };
const search = createTool(
  'search',
  {},
  {
    type: 'object',
    properties: { total: { type: 'integer' }, items: LIST, 'odd.name': { type: 'string' }, "a 'b'": {} },
  },
);
const names = (...tools: Parameters<typeof producedPaths>[0][number][]) =>
  producedPaths(tools)?.map(({ path }) => path);

describe('the fields that tools return', () => {
  it('are all that a reference can name, into objects and lists', () => {
    expect(names(search)).toEqual(['total', 'items', 'items[0]', 'items[0].id', "['odd.name']"]);
  });

  it('of a result that is itself a list begin with an index', () => {
    expect(names(createTool('list', {}, LIST))).toEqual(['[0]', '[0].id']);
  });

  it('of several tools stand once each', () => {
    const count = createTool(
      'count',
      {},
      { type: 'object', properties: { total: { type: 'integer' }, at: { type: 'string' } } },
    );
    expect(names(search, count)).toEqual(['total', 'items', 'items[0]', 'items[0].id', "['odd.name']", 'at']);
  });

  it.each([
    ['no output schema', undefined],
    ['an output schema that names no field', { type: 'object' }],
    ['a plain text', { type: 'string' }],
  ])('are unknown as soon as one tool has %s', (_, output) => {
    expect(producedPaths([search, createTool('untold', {}, output)])).toBeUndefined();
  });

  it('are unknown where there are too many to list', () => {
    const many = Object.fromEntries(Array.from({ length: 201 }, (_, index) => [`f${index}`, { type: 'string' }]));
    expect(producedPaths([createTool('wide', {}, { type: 'object', properties: many })])).toBeUndefined();
  });

  it('are narrowed to those of a fitting type', () => {
    const paths = producedPaths([search]);
    expect(pathsFor({ type: 'number' }, paths)).toEqual(['total', 'items[0].id']);
    expect(pathsFor({ type: 'array' }, paths)).toEqual(['items']);
    expect(pathsFor({ type: 'boolean' }, paths)).toEqual([]);
    expect(pathsFor({ type: 'boolean' }, undefined)).toBeUndefined();
  });

  it('of two tools with one name and two types count for both types', () => {
    const other = createTool('other', {}, { type: 'object', properties: { total: { type: 'string' } } });
    expect(pathsFor({ type: 'string' }, producedPaths([search, other]))).toEqual(["['odd.name']", 'total']);
  });
});
