import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { WinnowError } from '../../../src/core/errors.js';
import type { CompletionRequest, Model, TokenReader } from '../../../src/core/model/model.js';
import { createScriptedModel } from '../../support/scripted-model.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { rememberModel } from './remembered-model.js';
import { watchFailures } from './watched-model.js';

const aFile = () => join(temporaryFolder(), 'answers.jsonl');
const REQUEST: CompletionRequest = {
  stage: 'selection',
  prompt: { system: 'the tools', user: 'the request' },
  schema: { name: 'selection', schema: { type: 'object' } },
  maxTokens: 100,
};
const USAGE = { calls: 1, read: 30, cached: 4, written: 5 };
const LOGPROBS = [{ text: 'a', logprob: -0.5 }];
const answering = () => createScriptedModel({ id: 'm', answers: [{ text: 'a', usage: USAGE, logprobs: LOGPROBS }] });
const silent = () => createScriptedModel({ id: 'm', answers: [], readers: [] });

/** A reader of which one candidate is impossible. */
function readingModel(): Model {
  const reader: TokenReader = {
    tokenize: (text) => [...text].map((letter) => letter.codePointAt(0) ?? 0),
    weigh: async (path, candidates) => [path.length, ...candidates.slice(1).map(() => Number.NEGATIVE_INFINITY)],
    likeliest: async () => [],
    usage: () => ({ calls: 1, read: 7, cached: 0, written: 0 }),
    close: async () => {},
  };
  return { ...silent(), openReader: async () => reader };
}

describe('a remembered answer', () => {
  it('is that of the model, with its probabilities, and costs each time what it cost at first', async () => {
    const file = aFile();
    const first = rememberModel(answering(), file);
    const given = await first.model.complete(REQUEST);
    expect(first.takeSpent()).toMatchObject({ answers: 1, fresh: 1, unpriced: 0, usage: USAGE });
    first.close();
    const second = rememberModel(silent(), file);
    for (const _ of [1, 2]) {
      expect(await second.model.complete(REQUEST)).toEqual(given);
      expect(second.takeSpent()).toMatchObject({ answers: 1, fresh: 0, unpriced: 0, usage: USAGE });
    }
    expect(second.takeSpent()).toMatchObject({ answers: 0, usage: { read: 0 } });
    second.close();
  });

  it.each([
    ['prompt', { prompt: { system: 'the tools', user: 'another request' } }],
    ['schema', { schema: { name: 'selection', schema: { type: 'array' } } }],
    ['bound', { maxTokens: 101 }],
  ])('is asked anew for another %s', async (_, other) => {
    const remembered = rememberModel(createScriptedModel({ id: 'm', answers: ['a', 'b'] }), aFile());
    await remembered.model.complete(REQUEST);
    expect((await remembered.model.complete({ ...REQUEST, ...other })).text).toBe('b');
    remembered.close();
  });

  it('is read from the files that earlier measurements left, where nobody wrote down what it cost', async () => {
    const file = aFile();
    // The form of keys and lines must stay: hours of work lie in them.
    const line = { key: 'T7jvD91dOrNQ62c4ccIIrk', value: { text: 'from before', finish: 'stop', usage: USAGE } };
    writeFileSync(file, `${JSON.stringify(line)}\n`);
    const remembered = rememberModel(silent(), file);
    expect((await remembered.model.complete(REQUEST)).text).toBe('from before');
    expect(remembered.takeSpent()).toMatchObject({ answers: 1, fresh: 0, unpriced: 1, milliseconds: 0 });
    remembered.close();
  });

  it('is on the disk before anything else is asked, behind its cost', async () => {
    const file = aFile();
    const remembered = rememberModel(answering(), file);
    await remembered.model.complete(REQUEST);
    const keys = readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line): string => JSON.parse(line).key);
    expect(keys).toEqual([`${keys[1]}:cost`, keys[1]]);
    remembered.close();
  });
});

describe('a remembered weighing', () => {
  it('comes back with what is impossible, and opens no reader', async () => {
    const file = aFile();
    const read = async (model: Model) => {
      const remembered = rememberModel(model, file);
      const reader = await remembered.model.openReader?.({ prompt: REQUEST.prompt, opening: '"' });
      const weights = [await reader?.weigh([], [1, 2]), await reader?.weigh([1], [2, 3])];
      await reader?.close();
      remembered.close();
      return { weights, usage: reader?.usage(), spent: remembered.takeSpent() };
    };
    const first = await read(readingModel());
    expect(first.weights).toEqual([
      [0, Number.NEGATIVE_INFINITY],
      [1, Number.NEGATIVE_INFINITY],
    ]);
    expect(first.spent).toMatchObject({ answers: 2, fresh: 2, usage: { read: 7 } });
    const opened: string[] = [];
    const watched: Model = {
      ...readingModel(),
      openReader: async (request) => {
        opened.push(request.prompt.user);
        return readingModel().openReader?.(request) ?? Promise.reject(new Error('no reader'));
      },
    };
    const second = await read(watched);
    expect(second.weights).toEqual(first.weights);
    expect(second.usage).toEqual(first.usage);
    expect(second.spent).toMatchObject({ answers: 2, fresh: 0, usage: { read: 7 } });
    // One for the tokenizer, which knows no request.
    expect(opened).toEqual(['x']);
  });
});

describe('a failure', () => {
  const failing = (error: Error) => watchFailures(createScriptedModel({ answers: () => error, readers: () => error }));
  const refusal = (status: number) => new WinnowError('model_refused', `HTTP ${status}`, { details: { status } });

  it.each([
    ['a server that fails', new WinnowError('model_failed', 'HTTP 500')],
    ['a server that is not there', new WinnowError('model_unavailable', 'no server')],
    ['a key that is refused', refusal(401)],
    ['a model without a name', refusal(404)],
    ['anything unforeseen', new Error('the context is gone')],
  ])('of %s is told, whoever hides it, and once', async (_, error) => {
    const { model, takeFailure } = failing(error);
    await expect(model.complete(REQUEST)).rejects.toThrow(error.message);
    expect(takeFailure()?.message).toBe(error.message);
    expect(takeFailure()).toBeUndefined();
    await expect(model.openReader?.({ prompt: REQUEST.prompt, opening: '"' })).rejects.toThrow(error.message);
    expect(takeFailure()?.message).toBe(error.message);
  });

  it.each([
    ['a prompt that is too long', new WinnowError('context_exceeded', 'too long')],
    ['a schema that the server does not take', refusal(400)],
    ['the same in other words', refusal(422)],
  ])('of %s is the doing of who asked', async (_, error) => {
    const { model, takeFailure } = failing(error);
    await expect(model.complete(REQUEST)).rejects.toThrow(error.message);
    expect(takeFailure()).toBeUndefined();
  });

  it('in the middle of a reading is told when it is closed', async () => {
    const base = readingModel();
    const { model, takeFailure } = watchFailures({
      ...base,
      openReader: async (request) => {
        const reader = await base.openReader?.(request);
        if (!reader) throw new Error('no reader');
        return { ...reader, weigh: () => Promise.reject(new Error('cut')) };
      },
    });
    const reader = await model.openReader?.({ prompt: REQUEST.prompt, opening: '"' });
    await expect(reader?.weigh([], [1])).rejects.toThrow('cut');
    await reader?.close();
    expect(takeFailure()?.message).toBe('cut');
  });
});
