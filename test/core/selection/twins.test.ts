import { describe, expect, it } from '@jest/globals';
import type { Tool } from '../../../src/core/catalog/tool.js';
import type { OptionsInput } from '../../../src/core/config/options.js';
import { findTwins, liftMeant } from '../../../src/core/selection/twins.js';
import { createScriptedModel } from '../../support/scripted-model.js';
import { makeTool, namesOf, plannerOf } from './setup.js';

const movie = makeTool('person_movie_credits');
const tv = makeTool('person_tv_credits');
const house = makeTool('list_house_credits');
const TOOLS = [movie, tv, house];

function twinsOf(...tools: Tool[]): Record<string, string[]> {
  return Object.fromEntries(
    [...findTwins(tools)].map(([tool, groups]) => [
      tool.name,
      groups
        .flat()
        .filter((other) => other !== tool)
        .map(({ name }) => name),
    ]),
  );
}

describe('twins', () => {
  it('are tools whose names are alike but for one word', () => {
    expect(twinsOf(...TOOLS)).toEqual({
      person_movie_credits: ['person_tv_credits'],
      person_tv_credits: ['person_movie_credits'],
    });
    expect(twinsOf(makeTool('getUserPosts'), makeTool('get_user_albums'))).toHaveProperty('getUserPosts', [
      'get_user_albums',
    ]);
  });

  it('share two words at least, in one order', () => {
    expect(twinsOf(makeTool('send_mail'), makeTool('send_sms'))).toEqual({});
    expect(twinsOf(makeTool('person_person_id'), makeTool('movie_movie_id'))).toEqual({});
    expect(twinsOf(makeTool('mail_list_read'), makeTool('list_mail_send'))).toEqual({});
  });
});

describe('the meant of twins', () => {
  const lift = (request: string, probabilities: Iterable<[Tool, number]>, tools: readonly Tool[] = TOOLS) =>
    Object.fromEntries(
      [...liftMeant(new Map(probabilities), { tools, wording: request })].map(([{ name }, p]) => [name, p]),
    );
  const MIXED_UP: [Tool, number][] = [
    [tv, 0.4],
    [movie, 0.01],
  ];

  it('is no less likely than the other, which stays where it is', () => {
    expect(lift('movies directed by her', MIXED_UP)).toEqual({ person_tv_credits: 0.4, person_movie_credits: 0.4 });
  });

  it('is lifted also where the model does not name it', () => {
    expect(lift('movies directed by her', [[tv, 0.4]])).toEqual({ person_tv_credits: 0.4, person_movie_credits: 0.4 });
  });

  it('is not known where the request calls both, or neither', () => {
    for (const request of ['her movies and tv shows', 'the works of her', 'the credits of a person'])
      expect(lift(request, MIXED_UP)).toEqual({ person_tv_credits: 0.4, person_movie_credits: 0.01 });
  });

  it('keeps a higher probability of its own', () => {
    expect(lift('her tv shows', MIXED_UP)).toEqual({ person_tv_credits: 0.4, person_movie_credits: 0.01 });
  });

  it('is called by keywords, titles and other names as well, in any language, not by its description', () => {
    const river = makeTool('query_river_last', { keywords: ['河道水位'] });
    const lake = makeTool('query_reservoir_last', { title: '水库水位' });
    const rain = makeTool('query_rain_last', { description: '水库的雨量' });
    const lifted = lift('盘石头水库当前水位', [[river, 0.5]], [river, lake, rain]);
    expect(lifted).toEqual({ query_river_last: 0.5, query_reservoir_last: 0.5 });
  });
});

describe('selection', () => {
  it('chooses the twin that the request means, and can leave that to the model', async () => {
    const select = async (options: OptionsInput) => {
      const script = { person_tv_credits: 0.6, person_movie_credits: 0.01 };
      const model = createScriptedModel({ readers: [{ probabilities: new Map(Object.entries(script)) }] });
      const planner = plannerOf({ model, tools: TOOLS, options: { core: 1, keywordWeight: 0.1, ...options } });
      return namesOf(await planner.select({ message: 'movies directed by her' }));
    };
    expect(await select({})).toEqual(['person_movie_credits']);
    expect(await select({ twins: false })).toEqual(['person_tv_credits']);
  });
});
