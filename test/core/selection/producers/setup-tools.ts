/** Tools as three kinds of sources give them: REST paths with ids, MCP servers with handles, and a chain. */

import type { Tool, ToolEntry } from '../../../../src/core/catalog/tool.js';
import { makeTool, needing, returning } from '../setup.js';

function endpoint(name: string, path: string, entry: Partial<ToolEntry>): Tool {
  return makeTool(name, { title: `GET ${path}`, ...entry });
}

function byId(argument: string): Record<string, unknown> {
  return { type: 'object', properties: { [argument]: { type: 'integer' } }, required: [argument] };
}

/** As an OpenAPI document without response schemas gives them. */
export const MOVIES = [
  endpoint('search_movie', '/search/movie', { description: 'Search for movies.', inputSchema: needing('query') }),
  endpoint('movie_credits', '/movie/{movie_id}/credits', {
    description: 'Get the cast and crew for a movie.',
    inputSchema: byId('movie_id'),
  }),
  endpoint('movie_similar', '/movie/{movie_id}/similar', {
    description: 'Get a list of similar movies.',
    inputSchema: byId('movie_id'),
  }),
  endpoint('search_person', '/search/person', { description: 'Search for people.', inputSchema: needing('query') }),
  endpoint('person_details', '/person/{person_id}', {
    description: 'Get the details of a person.',
    inputSchema: byId('person_id'),
  }),
  endpoint('genre_list', '/genre/movie/list', { description: 'Get the official genres.' }),
];

export const BROWSER = [
  makeTool('browser_open', {
    description: 'Opens a browser session.',
    risk: 'medium',
    inputSchema: needing('url'),
    outputSchema: returning('session_id'),
  }),
  makeTool('browser_click', {
    description: 'Clicks in a browser session.',
    inputSchema: needing('session_id', 'selector'),
  }),
  makeTool('read_file', { description: 'Reads a file.', inputSchema: needing('path') }),
];

export const CHAIN = [
  makeTool('find_city', { inputSchema: needing('name'), outputSchema: returning('city_id') }),
  makeTool('list_hotels', { inputSchema: needing('city_id'), outputSchema: returning('hotel_id') }),
  makeTool('hotel_prices', { inputSchema: needing('hotel_id'), outputSchema: returning('price') }),
];

/** Each needs what the other returns. */
export const CYCLE = [
  makeTool('alpha_details', { inputSchema: needing('beta_id'), outputSchema: returning('alpha_id') }),
  makeTool('beta_details', { inputSchema: needing('alpha_id'), outputSchema: returning('beta_id') }),
];

/** Five tools, each of which needs what the one before returns. */
export const LONG_CHAIN = ['red', 'green', 'blue', 'black', 'white'].map((colour, place, all) =>
  makeTool(`find_${colour}`, {
    inputSchema: place === 0 ? needing('name') : needing(`${all[place - 1]}_id`),
    outputSchema: returning(`${colour}_id`),
  }),
);
