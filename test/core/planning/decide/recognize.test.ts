import { describe, expect, it } from '@jest/globals';
import { recognize } from '../../../../src/core/planning/decide/recognize.js';

const now = new Date('2026-11-23T00:00:00');
const task = { text: 'a table for four tomorrow', timeCulture: 'en-us', numberCulture: 'en-us', now };

describe('days and numbers', () => {
  it('are read in a thread, texts at once one after the other', async () => {
    const [first, second] = await Promise.all([recognize(task), recognize({ ...task, timeCulture: undefined })]);
    expect(first.times.map(({ text, typeName }) => [text, typeName])).toEqual([['tomorrow', 'datetimeV2.date']]);
    expect(first.numbers.map(({ text, resolution }) => [text, resolution?.value])).toEqual([['four', '4']]);
    expect(second.times).toEqual([]);
    expect(second.numbers).toEqual(first.numbers);
  });

  it('that take too long say nothing, and others are read after them', async () => {
    const endless = { ...task, text: '1-'.repeat(1_000) };
    const [long, next] = await Promise.all([recognize(endless, { timeoutMs: 20 }), recognize(task)]);
    expect(long).toEqual({ times: [], numbers: [] });
    expect(next.numbers).toHaveLength(1);
  });
});
