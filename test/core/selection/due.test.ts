import { describe, expect, it } from '@jest/globals';
import type { Tool } from '../../../src/core/catalog/tool.js';
import { parseRequest } from '../../../src/core/request.js';
import type { Selection } from '../../../src/core/result.js';
import { dueTools } from '../../../src/core/selection/due.js';
import { makeTool, needing, returning, TOOLS, viewOf } from './setup.js';

interface Given {
  tools?: readonly Tool[];
  offered?: readonly Tool[];
  mode?: Selection['mode'];
}

function due(message: string, { tools = TOOLS, offered = tools, mode = 'passthrough' }: Given = {}) {
  const selection: Selection = {
    mode,
    reason: '',
    tools: offered.map(({ name }) => ({ name, via: 'all' })),
    dropped: [],
    leftOut: 0,
  };
  return dueTools({ view: viewOf(tools), selection, request: parseRequest({ message }) });
}

describe('the tools without which a plan is not done', () => {
  it('are those that the request calls, each by a word of its own', () => {
    expect(due('brew a coffee, then play a song').sort()).toEqual(['brew_coffee', 'play_song']);
    expect(due('给我写一首诗')).toEqual([]);
  });

  it('are of several that the same words call only the best', () => {
    const tools = [makeTool('find_movie'), makeTool('find_movie_reviews'), makeTool('rent_movie_theater')];
    expect(due('find a movie', { tools })).toEqual(['find_movie']);
    expect(due('find a movie and its reviews', { tools })).toEqual(['find_movie_reviews']);
  });

  it('are called by name, alias, keyword or title: a description speaks of much else', () => {
    const tools = [
      makeTool('find_song'),
      makeTool('make_call', { description: 'Not for a poem.' }),
      makeTool('write_text', { keywords: ['poem'] }),
      makeTool('draw', { aliases: ['picture'] }),
    ];
    expect(due('a song, a poem and a picture', { tools }).sort()).toEqual(['draw', 'find_song', 'write_text']);
  });

  it('are called in another script by what their words mean', () => {
    expect(due('天气', { tools: [makeTool('get_weather'), makeTool('accept_order')] })).toEqual(['get_weather']);
  });

  it('are not called by a word that the description of a better match explains', () => {
    const tools = [makeTool('sonnet', { description: 'The oldest poem.' }), makeTool('poem')];
    expect(due('an old sonnet, a poem', { tools })).toEqual(['sonnet']);
    expect(due('an old sonnet, a poem', { tools: [makeTool('sonnet'), makeTool('poem')] })).toHaveLength(2);
  });

  it('are called by their action also in a request that speaks more of another, where it calls no other tool', () => {
    const loan = makeTool('loan_payment', {
      description: 'Monthly payment of a loan, by amount, rate and term of years.',
    });
    const message = 'The payment for a loan: the amount is 50000, the rate 3 %, the term 10 years. Then convert it.';
    const euros = makeTool('convert_currency', { description: 'Converts an amount.' });
    expect(due(message, { tools: [loan, euros, makeTool('years')] })).toEqual(['loan_payment', 'convert_currency']);
    expect(due(message, { tools: [loan, euros, makeTool('convert_units')] })).toEqual(['loan_payment']);
    const weather = makeTool('weather_forecast', { description: 'Rain and sunshine.' });
    expect(due(`${message} Near the weather station.`, { tools: [loan, weather] })).toEqual(['loan_payment']);
  });

  it('stand behind the tools that find what they need', () => {
    const tools = [
      makeTool('parcel_weight', { inputSchema: needing('parcel_id') }),
      makeTool('find_parcel', { inputSchema: needing('sender'), outputSchema: returning('parcel_id') }),
      makeTool('brew_coffee'),
    ];
    expect(due('the weight of what Ada sent', { tools })).toEqual(['find_parcel', 'parcel_weight']);
  });

  it('are none that was not handed on, and none where selection chose', () => {
    expect(due('play a song', { offered: TOOLS.filter(({ name }) => name !== 'play_song') })).toEqual([]);
    expect(due('play a song', { mode: 'selected' })).toEqual([]);
  });
});
