import { describe, expect, it } from '@jest/globals';
import { needsOf } from '../../../../src/core/selection/producers/needs.js';
import { handleStem, identifierWords, mannerOf } from '../../../../src/core/selection/producers/vocabulary.js';
import { makeTool, needing } from '../setup.js';

const nowhere = { produced: new Map(), nouns: new Set<string>() };

function needOf(argument: string, schema: Record<string, unknown> = { type: 'string' }) {
  const tool = makeTool('some_tool', { inputSchema: { type: 'object', properties: { [argument]: schema } } });
  return needsOf(tool, nowhere)[0];
}

describe('a handle', () => {
  it.each(['movie_id', 'movieId', 'movie-ids', 'id', 'documentUri', 'session_token', 'stationCode', 'order_ref'])(
    'is known by its name: %s',
    (argument) => {
      expect(needOf(argument)?.argument).toBe(argument);
    },
  );

  it.each(['query', 'name', 'country_code', 'zip_code', 'api_key', 'page_token', 'promo_code', 'code', 'video'])(
    'is not %s, which a user can say',
    (argument) => {
      expect(needOf(argument)).toBeUndefined();
    },
  );

  it.each([
    ['one of a list', { type: 'string', enum: ['a', 'b'] }],
    ['a constant', { const: 'a' }],
    ['given by default', { type: 'string', default: 'me' }],
    ['a date', { type: 'string', format: 'date' }],
    ['yes or no', { type: 'boolean' }],
  ])('is not an id that is %s', (_, schema) => {
    expect(needOf('thing_id', schema)).toBeUndefined();
  });

  it('is a plain word too, where another tool returns it and the description says so', () => {
    const tool = makeTool('read', {
      inputSchema: { type: 'object', properties: { spot: { type: 'string', description: 'As returned by find.' } } },
    });
    const produced = (by: string) => ({ ...nowhere, produced: new Map([['spot', new Set([by])]]) });
    expect(needsOf(tool, produced('find'))).toHaveLength(1);
    expect(needsOf(tool, produced('read'))).toEqual([]);
    const silent = makeTool('read', { inputSchema: needing('spot') });
    expect(needsOf(silent, produced('find'))).toEqual([]);
  });

  it.each([
    ['its name', 'movie_id', {}, ['movie']],
    ['the description', 'id', { description: 'The ID of the album.' }, ['album']],
    ['the path', 'id', { title: 'GET /albums/{id}/tracks' }, ['album']],
  ])(
    'tells by %s whose it is',
    (_, argument, { title, description }: { title?: string; description?: string }, found) => {
      const properties = { [argument]: { type: 'string', ...(description ? { description } : {}) } };
      const entry = { inputSchema: { type: 'object', properties }, ...(title ? { title } : {}) };
      const nouns = new Set(['album', 'movie', 'track']);
      expect(needsOf(makeTool('some_tool', entry), { ...nowhere, nouns })[0]?.entities).toEqual(found);
    },
  );

  it('is required or not', () => {
    const schema = {
      type: 'object',
      properties: { a_id: { type: 'string' }, b_id: { type: 'string' } },
      required: ['b_id'],
    };
    const needs = needsOf(makeTool('some_tool', { inputSchema: schema }), nowhere);
    expect(needs.map(({ argument, required }) => [argument, required])).toEqual([
      ['a_id', false],
      ['b_id', true],
    ]);
  });
});

describe('words of names', () => {
  it('are singular and lower case', () => {
    expect(identifierWords('listFilmTags')).toEqual(['list', 'film', 'tag']);
  });

  it.each([
    ['search_movie', '', false],
    ['get_user', '', false],
    ['create_user', '', true],
    ['user_delete', '', true],
    ['thing', 'Searches the catalogue.', false],
    ['thing', 'Deletes the user.', true],
    ['thing', 'A thing.', false],
  ])('%s (%s) writes: %s', (name, description, expected) => {
    expect(mannerOf(name, description) === 'write').toBe(expected);
  });

  // A name that only ends with the letters of a known word is a handle as any other.
  it.each(['resource_uri', 'homepage_id', 'supermarket_id'])('%s is a handle', (argument) => {
    expect(handleStem(argument)).toBeDefined();
  });

  // What may be known as a code or a token is a handle as an id.
  it.each(['page_id', 'post_id', 'area_id'])('%s is a handle', (argument) => {
    expect(handleStem(argument)).toBeDefined();
  });
});
