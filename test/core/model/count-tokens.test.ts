import { describe, expect, it } from '@jest/globals';
import { estimateTokens } from '../../../src/core/model/count-tokens.js';

describe('the estimate of tokens', () => {
  // The counts in the middle are those of o200k_base.
  it.each([
    ['nothing', '', 0, 0, 0],
    ['one space', ' ', 1, 1, 1],
    ['English', 'Get the latest water level of a reservoir by its station code.', 13, 13, 15],
    ['a name', 'query_reservoir_last', 5, 4, 6],
    ['Chinese', '查询盘石头水库最新水位和蓄水量', 14, 13, 16],
    ['JSON', '{"selected_tools": ["get_user"], "n": 12}', 13, 11, 17],
  ])('is near the count of a tokenizer for %s', (_, text, _real, least, most) => {
    expect(estimateTokens(text)).toBeGreaterThanOrEqual(least);
    expect(estimateTokens(text)).toBeLessThanOrEqual(most);
  });
});
