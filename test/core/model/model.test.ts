import { describe, expect, it } from '@jest/globals';
import { WinnowError } from '../../../src/core/errors.js';
import { spentUsage, wrapModel } from '../../../src/core/model/model.js';
import { createScriptedModel } from '../../support/scripted-model.js';

const request = { stage: 'planning', prompt: { system: 's', user: 'u' }, maxTokens: 9 } as const;
const reading = { prompt: request.prompt, opening: '"' };
const readers = [{ probabilities: new Map([['a', 1]]) }];

describe('a model in front of another', () => {
  it('answers for it, and is the same in all else', async () => {
    const inner = createScriptedModel({ answers: ['inner'], readers });
    const told: string[] = [];
    const model = wrapModel(inner, {
      async complete(one) {
        told.push('complete');
        return { ...(await inner.complete(one)), text: 'outer' };
      },
      openReader(one, open) {
        told.push('openReader');
        return open(one);
      },
    });
    const { id, limits, preferredAnswer } = inner;
    expect(model).toMatchObject({ id, limits, preferredAnswer });
    expect(model.countTokens('some words')).toBe(inner.countTokens('some words'));
    expect((await model.complete(request)).text).toBe('outer');
    await (await model.openReader?.(reading))?.close();
    expect(told).toEqual(['complete', 'openReader']);
    await model.close();
    expect(inner.isClosed).toBe(true);
    inner.assertDone();
  });

  it('has no readers where the inner one has none', () => {
    const inner = createScriptedModel();
    const { complete } = inner;
    expect(wrapModel(inner, { complete, openReader: (one, open) => open(one) })).not.toHaveProperty('openReader');
  });
});

const FAILED = new WinnowError('model_failed', 'broken', {
  details: { usage: { calls: 3, read: 30, cached: 20, written: 10 } },
});

describe('what a failed call spent', () => {
  it('is what the error tells', () => {
    expect(spentUsage(FAILED)).toEqual({ calls: 3, read: 30, cached: 20, written: 10 });
  });

  it.each([new Error('x'), 'x', undefined, new WinnowError('internal', 'x')])(
    'is one call where %p tells nothing',
    (error) => {
      expect(spentUsage(error)).toEqual({ calls: 1, read: 0, cached: 0, written: 0 });
    },
  );
});
