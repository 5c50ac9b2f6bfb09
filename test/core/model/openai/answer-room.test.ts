import { describe, expect, it } from '@jest/globals';
import { answerRoom } from '../../../../src/core/model/openai/answer-room.js';
import { answer } from '../../../support/server-behaviours.js';
import { errorOf, PLAIN, startModel } from './setup.js';

/** About 700 tokens. */
const prompt = { system: 'word '.repeat(600), user: 'word '.repeat(100) };

describe('the room for an answer', () => {
  it.each([
    ['what was asked for where it fits', 10_000, 300],
    ['what was asked for where it fits with the margin', 1_090, 300],
    ['what the context leaves, less a margin, since the server may count higher', 1_000, 214],
    ['the least that an answer needs where the margin would take it', 780, 64],
  ])('is %s', (_, contextTokens, expected) => {
    expect(answerRoom({ prompt, maxTokens: 300 }, contextTokens)).toBe(expected);
  });

  it('is no more than was asked for, however little that is', () => {
    expect(answerRoom({ prompt, maxTokens: 1 }, 701)).toBe(1);
  });

  it('is not there in a context that ends behind the prompt', () => {
    expect(() => answerRoom({ prompt, maxTokens: 300 }, 763)).toThrow(
      expect.objectContaining({ code: 'context_exceeded', details: { tokens: 700, contextTokens: 763 } }),
    );
  });

  it('is what the server is asked for, and a prompt that leaves none is not sent', async () => {
    const { server, model } = await startModel([answer('yes')], { contextTokens: 1_000 });
    await model.complete({ ...PLAIN, prompt, maxTokens: 300 });
    expect(server.requests[0]?.body).toMatchObject({ max_tokens: 214 });
    const longer = { ...prompt, user: 'word '.repeat(350) };
    const error = await errorOf(model.complete({ ...PLAIN, prompt: longer, maxTokens: 300 }));
    expect(error).toMatchObject({ code: 'context_exceeded', details: { usage: { calls: 0 } } });
    server.assertDone();
  });
});
