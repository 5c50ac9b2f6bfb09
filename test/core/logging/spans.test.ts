import { afterEach, describe, expect, it } from '@jest/globals';
import { SpanStatusCode, trace } from '@opentelemetry/api';
import { withSpan } from '../../../src/core/logging/spans.js';
import { recordSpans } from '../../support/record-spans.js';

describe('spans', () => {
  afterEach(() => trace.disable());

  it('hold the attributes of the beginning and of the end, and end with the work', async () => {
    const spans = recordSpans();
    const result = await withSpan('winnow.search', { 'winnow.top_k': 5 }, async (note) => {
      note.set({ 'winnow.matches': 2 });
      expect(spans[0]?.ended).toBe(0);
      return 'found';
    });
    expect(result).toBe('found');
    expect(spans).toEqual([
      { name: 'winnow.search', attributes: { 'winnow.top_k': 5, 'winnow.matches': 2 }, exceptions: [], ended: 1 },
    ]);
  });

  it('are marked by an error, which goes on', async () => {
    const spans = recordSpans();
    const error = new Error('broken');
    await expect(withSpan('winnow.call', {}, () => Promise.reject(error))).rejects.toBe(error);
    expect(spans).toMatchObject([{ exceptions: [error], status: SpanStatusCode.ERROR, ended: 1 }]);
  });

  it('cost nothing but the work where nobody traces', async () => {
    expect(await withSpan('winnow.plan', {}, async () => 7)).toBe(7);
  });
});
