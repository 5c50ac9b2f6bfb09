import { describe, expect, it } from '@jest/globals';
import { createScope } from '../../../../src/core/catalog/scope.js';
import { namesSomething } from '../../../../src/core/selection/producers/given-values.js';
import { loadFixture, makeTool, needing, returning, viewOf } from '../setup.js';
import { producersFor, suppliedFor } from './setup.js';
import { BROWSER, CHAIN, CYCLE, LONG_CHAIN, MOVIES } from './setup-tools.js';

const hydrology = createScope(await loadFixture('hydrology'))({});
const codingAgent = createScope(await loadFixture('coding-agent'))({});
const movies = viewOf(MOVIES);
const browser = viewOf(BROWSER);

describe('a missing producer is added', () => {
  it.each([
    [hydrology, 'query_reservoir_last', '盘石头水库当前水位', ['lookup_station_code']],
    [hydrology, 'query_auto_forecast_result', '最近的预报成果', ['get_latest_auto_forecast']],
    [codingAgent, 'lsp_hover', 'what is the type of this variable', ['lsp_open_file']],
    [codingAgent, 'debug_step', 'go on to the next line', ['debug_start']],
    [codingAgent, 'terminal_send', 'type ls into a shell', ['terminal_open']],
    [movies, 'movie_credits', 'Who played in "Arrival"?', ['search_movie']],
    [movies, 'person_details', 'Where was "Amy Adams" born?', ['search_person']],
    [browser, 'browser_click', 'click on the button', ['browser_open']],
  ])('%# before %2$s', (view, name, message, expected) => {
    expect(producersFor(view, name, message)).toEqual(expected);
  });

  it('says for which argument', () => {
    const [supplied] = suppliedFor(hydrology, 'query_reservoir_last', '盘石头水库当前水位');
    expect(supplied?.serves).toBe('query_reservoir_last.stcd');
  });

  it.each(['genre_list', 'search_movie'])('not for %s, which needs nothing that a user cannot say', (name) => {
    expect(producersFor(movies, name, 'something')).toEqual([]);
  });

  it('not for an optional argument', () => {
    const optional = makeTool('hotel_prices', { inputSchema: returning('hotel_id') });
    const view = viewOf([...CHAIN.slice(0, 2), optional]);
    expect(producersFor(view, 'hotel_prices', 'what do hotels cost')).toEqual([]);
  });

  it('prefers the one that suits the request where two are as good', () => {
    const view = viewOf([
      makeTool('list_parcels', { outputSchema: returning('parcel_id') }),
      makeTool('list_returns', { outputSchema: returning('parcel_id') }),
      makeTool('parcel_weight', { inputSchema: needing('parcel_id') }),
    ]);
    for (const favourite of ['list_parcels', 'list_returns']) {
      expect(producersFor(view, 'parcel_weight', 'how heavy is it', { favourites: [favourite] })).toEqual([favourite]);
    }
  });

  it('never one that writes where another reads', () => {
    const view = viewOf([
      makeTool('create_parcel', { risk: 'medium', outputSchema: returning('parcel_id') }),
      makeTool('list_parcels', { outputSchema: returning('parcel_id') }),
      makeTool('parcel_weight', { inputSchema: needing('parcel_id') }),
    ]);
    const asked = { favourites: ['create_parcel'] };
    expect(producersFor(view, 'parcel_weight', 'how heavy is it', asked)).toEqual(['list_parcels']);
  });
});

describe('no producer is added', () => {
  it.each([
    ['the entities hold the value', { message: '当前水位', entities: { stcd: '31006930' } }],
    ['the message holds a code', { message: '31006930 当前水位' }],
    ['an earlier message holds it', { message: '当前水位', history: [{ role: 'user', content: '站号 31006930' }] }],
  ] as const)('when %s', (_, request) => {
    const history = 'history' in request ? [...request.history] : [];
    expect(producersFor(hydrology, 'query_reservoir_last', { ...request, history })).toEqual([]);
  });

  it.each([
    [browser, 'browser_click', 'click in 3f2504e0-4f89-11d3-9a0c-0305e82c3301'],
    [codingAgent, 'debug_step', 'go on in session 7f3a9b21'],
    [codingAgent, 'lsp_hover', 'hover over line 3 of file:///workspace/src/app.ts'],
    [browser, 'read_file', 'read /etc/hosts'],
    [movies, 'movie_credits', 'who played in movie 550'],
    [movies, 'movie_credits', { message: 'who played in it', entities: { movie_id: 550 } }],
    [movies, 'movie_credits', { message: 'who played in it', entities: { movieId: 550 } }],
  ])('%# when the request holds the value for %2$s', (view, name, request) => {
    expect(producersFor(view, name, request)).toEqual([]);
  });

  it.each([{ movie_id: null }, { movie: 'Arrival' }])('all the same, when the entities say only %j', (entities) => {
    expect(producersFor(movies, 'movie_credits', { message: 'who played in it', entities })).toEqual(['search_movie']);
  });

  it.each([hydrology, codingAgent, movies])(
    '%# twice: what is present is never added, however well it suits',
    (view) => {
      const names = view.tools.map(({ name }) => name);
      for (const name of names)
        for (const favourite of names.filter((other) => other !== name)) {
          const asked = { present: [favourite], favourites: [favourite] };
          expect(producersFor(view, name, 'show me mine', asked)).not.toContain(favourite);
        }
    },
  );

  it('when a tool that is present provides it', () => {
    expect(producersFor(hydrology, 'query_reservoir_last', '水位', { present: ['list_stations'] })).toEqual([]);
  });
});

describe('chains', () => {
  it('are added whole, deepest first', () => {
    expect(suppliedFor(viewOf(CHAIN), 'hotel_prices', 'what do hotels in "Rome" cost')).toMatchObject([
      { tool: { name: 'find_city' }, serves: 'list_hotels.city_id' },
      { tool: { name: 'list_hotels' }, serves: 'hotel_prices.hotel_id' },
    ]);
    expect(producersFor(hydrology, 'start_manual_forecast', '淇门人工预报')).toEqual([
      'lookup_station_code',
      'list_forecast_schemes',
    ]);
  });

  it('stop where one of them is present', () => {
    expect(producersFor(viewOf(CHAIN), 'hotel_prices', 'hotels in "Rome"', { present: ['find_city'] })).toEqual([
      'list_hotels',
    ]);
  });

  it.each(['alpha_details', 'beta_details'])('that run in a circle end, without %s itself', (name) => {
    expect(producersFor(viewOf(CYCLE), name, 'tell me more')).not.toContain(name);
  });

  it('are not followed for ever', () => {
    const chain = producersFor(viewOf(LONG_CHAIN), 'find_white', 'find the white one');
    expect(chain).toEqual(['find_green', 'find_blue', 'find_black']);
  });
});

describe('a request that names something', () => {
  it.each([
    ['Who directed "Arrival"?', true],
    ['Songs of Amy Adams', true],
    ['盘石头水库水位', true],
    ['show me my playlists', false],
  ])('%s: %s', (text, expected) => {
    expect(namesSomething(text)).toBe(expected);
  });
});
