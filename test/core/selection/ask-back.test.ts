import { describe, expect, it } from '@jest/globals';
import type { SelectedTool } from '../../../src/core/result.js';
import { askBack } from '../../../src/core/selection/ask-back.js';
import { makeTool, viewOf } from './setup.js';

const view = viewOf([makeTool('river_level', { title: 'Level of a\nriver' }), makeTool('rain_sum')]);
const CHOSEN: SelectedTool[] = [
  { name: 'river_level', via: 'model' },
  { name: 'rain_sum', via: 'keyword', fill: true },
];
const ask = (request: Parameters<typeof askBack>[0], tools: readonly SelectedTool[] = CHOSEN) =>
  askBack(request, { mode: 'selected', reason: '', tools: [...tools], dropped: [], leftOut: 0 }, view);

describe('the question back', () => {
  it.each([
    ['the level', undefined, 'Which of these do you mean: Level of a river?'],
    ['现在的水位', undefined, '您指的是哪一项：Level of a river？'],
    ['show 盘石头 level', undefined, 'Which of these do you mean: Level of a river?'],
    ['東京の水位を教えてください', undefined, 'Which of these do you mean: Level of a river?'],
    ['the level', 'zh-CN', '您指的是哪一项：Level of a river？'],
    ['现在的水位', 'en', 'Which of these do you mean: Level of a river?'],
  ])('on "%s" with the locale %s is asked in a language that is known', (message, locale, question) => {
    expect(ask({ message, locale })).toBe(question);
  });

  it('names what fills free room where nothing was chosen', () => {
    expect(ask({ message: 'x' }, CHOSEN.slice(1))).toBe('Which of these do you mean: rain_sum?');
  });
});
