/** The tools of the tests are tested too: a script that forgives would make other tests pass with nothing there. */
import { describe, expect, it } from 'vitest';
import type { CompletionRequest, Token } from '../../src/core/model/model.js';
import { createScriptedModel } from './scripted-model.js';

const REQUEST: CompletionRequest = { stage: 'selection', prompt: { system: 's', user: 'u' }, maxTokens: 10 };
const READER = { prompt: REQUEST.prompt, opening: '["' };

describe('the scripted model', () => {
  it('answers in order and records the calls', async () => {
    const model = createScriptedModel({ answers: ['a', { text: 'b', finish: 'length' }] });
    expect(await model.complete(REQUEST)).toMatchObject({ text: 'a', finish: 'stop' });
    expect(await model.complete(REQUEST)).toMatchObject({ text: 'b', finish: 'length' });
    expect(model.calls).toEqual([REQUEST, REQUEST]);
    model.assertDone();
  });

  it('fails when it is asked too often, and says so later as well', async () => {
    const model = createScriptedModel();
    await expect(model.complete(REQUEST)).rejects.toThrow('asked for answer 1, but has none');
    expect(() => model.assertDone()).toThrow('0 answers were scripted, 1 asked for');
  });

  it('fails when it is asked too little', () => {
    expect(() => createScriptedModel({ answers: ['a'] }).assertDone()).toThrow('1 answers were scripted, 0 asked for');
  });

  it('fails when a reader is left open', async () => {
    const model = createScriptedModel({ readers: [{ probabilities: new Map() }] });
    const reader = await model.openReader?.(READER);
    expect(() => model.assertDone()).toThrow('readers closed');
    await reader?.close();
    model.assertDone();
  });

  it.each(['character', 'piece'] as const)(
    'weighs by %s so that the best path spells the likeliest name',
    async (tokenizeBy) => {
      const probabilities = new Map([
        ['get_user', 0.5],
        ['get_all', 0.3],
        ['list', 0.2],
      ]);
      const model = createScriptedModel({ readers: [{ probabilities, tokenizeBy }] });
      const reader = await model.openReader?.(READER);
      if (reader === undefined) throw new Error('no reader');
      const names = [...probabilities.keys()].map((name) => reader.tokenize(`${name}"`));
      const path: Token[] = [];
      for (;;) {
        const candidates = names
          .filter((name) => path.every((token, index) => name[index] === token))
          .flatMap((name) => name.slice(path.length, path.length + 1));
        if (candidates.length === 0) break;
        const weights = await reader.weigh(path, candidates);
        path.push(candidates[weights.indexOf(Math.max(...weights))] ?? '');
      }
      expect(path).toEqual(reader.tokenize('get_user"'));
    },
  );
});
