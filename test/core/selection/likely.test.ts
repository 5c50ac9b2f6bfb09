import { describe, expect, it } from '@jest/globals';
import { parseRequest } from '../../../src/core/request.js';
import type { SelectedTool, Selection } from '../../../src/core/result.js';
import { likelyTools } from '../../../src/core/selection/likely.js';
import { makeTool, needing, returning, TOOLS, viewOf } from './setup.js';

const selectionOf = (mode: Selection['mode'], tools: readonly SelectedTool[]): Selection => ({
  mode,
  reason: '',
  tools: [...tools],
  dropped: [],
  leftOut: 0,
});
const all = (names: readonly string[]) => names.map((name): SelectedTool => ({ name, via: 'all' }));

describe('the tools that planning looks at first', () => {
  it('are the chosen ones where the model chose, in their order', () => {
    const tools: SelectedTool[] = [
      { name: 'find_hotel', via: 'model' },
      { name: 'read_mail', via: 'keyword', fill: true },
      { name: 'book_flight', via: 'companion' },
    ];
    const request = parseRequest({ message: 'read my mail' });
    expect(likelyTools({ view: viewOf(TOOLS), selection: selectionOf('selected', tools), request })).toEqual([
      'find_hotel',
      'book_flight',
    ]);
  });

  it('are else those that the request speaks of, in the order in which it does', () => {
    const view = viewOf(TOOLS);
    const names = view.tools.map((tool) => tool.name);
    const request = parseRequest({ message: 'brew a coffee, then play a song and read the weather report' });
    expect(likelyTools({ view, selection: selectionOf('passthrough', all(names)), request })).toEqual([
      'brew_coffee',
      'play_song',
      'weather_report',
    ]);
  });

  it('stand behind the tools that find what they need', () => {
    const view = viewOf([
      makeTool('parcel_weight', { inputSchema: needing('parcel_id') }),
      makeTool('find_parcel', { inputSchema: needing('sender'), outputSchema: returning('parcel_id') }),
      makeTool('brew_coffee'),
    ]);
    const request = parseRequest({ message: 'the weight of what Ada sent' });
    const selection = selectionOf('passthrough', all(['parcel_weight', 'find_parcel', 'brew_coffee']));
    expect(likelyTools({ view, selection, request })).toEqual(['find_parcel', 'parcel_weight']);
  });

  it('are without alternatives to better matches where the request speaks clearly of several things', () => {
    const tools = [
      makeTool('brew_coffee', { description: 'Brews a strong coffee for the guests.' }),
      makeTool('play_song', { description: 'Plays a song in the kitchen.' }),
      makeTool('song_charts', { description: 'Charts.' }),
    ];
    const likely = (message: string) => {
      const view = viewOf(tools);
      const selection = selectionOf('passthrough', all(view.tools.map((tool) => tool.name)));
      return likelyTools({ view, selection, request: parseRequest({ message }) });
    };
    expect(likely('coffee and a song')).toEqual(['brew_coffee', 'play_song']);
    expect(likely('a song in the kitchen')).toEqual(['play_song', 'song_charts']);
  });

  it('are only such as were handed on, and none where no word fits', () => {
    const view = viewOf(TOOLS);
    expect(
      likelyTools({
        view,
        selection: selectionOf('fallback', all(['read_mail'])),
        request: parseRequest({ message: 'play a song' }),
      }),
    ).toEqual([]);
    expect(
      likelyTools({
        view,
        selection: selectionOf('passthrough', all(['read_mail'])),
        request: parseRequest({ message: 'xyzzy' }),
      }),
    ).toEqual([]);
  });
});
