import { appendFileSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type { CompletionRequest, Model } from '../../src/core/model/model.js';
import { createAnswerCache } from '../../src/eval/answer-cache.js';
import { createScriptedModel } from '../support/scripted-model.js';
import { aFolder } from './setup.js';

const ask = (user: string, more: Partial<CompletionRequest> = {}): CompletionRequest => ({
  stage: 'selection',
  prompt: { system: 's', user },
  maxTokens: 100,
  ...more,
});
const numbered = () => createScriptedModel({ answers: (_, index) => `answer ${index}` });

async function textsOf(model: Model, requests: readonly CompletionRequest[]): Promise<string[]> {
  const texts = [];
  for (const request of requests) texts.push((await model.complete(request)).text);
  return texts;
}

describe('the cache of answers', () => {
  it('does not ask again what was asked, also in another process', async () => {
    const folder = aFolder();
    const first = createAnswerCache(numbered(), { folder });
    const given = await first.model.complete(ask('a'));
    expect(await first.model.complete(ask('a'))).toEqual(given);
    first.close();
    const silent = createScriptedModel();
    const second = createAnswerCache(silent, { folder });
    const request = ask('a');
    expect(await second.model.complete(request)).toEqual(given);
    expect(second.wasRemembered(request)).toBe(true);
    expect(silent.calls).toEqual([]);
    second.close();
  });

  it.each<[string, CompletionRequest]>([
    ['another request', ask('b')],
    ['another stable part', ask('a', { prompt: { system: 't', user: 'a' } })],
    ['a schema', ask('a', { schema: { name: 'x', schema: { type: 'object' } } })],
    ['another bound', ask('a', { maxTokens: 50 })],
  ])('asks anew for %s', async (_, other) => {
    const cache = createAnswerCache(numbered(), { folder: aFolder() });
    expect(await textsOf(cache.model, [ask('a'), other])).toEqual(['answer 0', 'answer 1']);
    expect(cache.wasRemembered(other)).toBe(false);
    cache.close();
  });

  it.each<[string, () => Parameters<typeof createAnswerCache>]>([
    ['another model', () => [createScriptedModel({ id: 'other', answers: ['new'] }), { folder: '' }]],
    [
      'another context',
      () => [createScriptedModel({ limits: { contextTokens: 999 }, answers: ['new'] }), { folder: '' }],
    ],
    [
      'another parameter',
      () => [createScriptedModel({ answers: ['new'] }), { folder: '', parameters: { temperature: 1 } }],
    ],
  ])('asks anew for %s', async (_, make) => {
    const folder = aFolder();
    const first = createAnswerCache(numbered(), { folder });
    await first.model.complete(ask('a'));
    first.close();
    const [model, options] = make();
    const second = createAnswerCache(model, { ...options, folder });
    expect((await second.model.complete(ask('a'))).text).toBe('new');
    second.close();
  });

  it('sees what another process has added since', async () => {
    const folder = aFolder();
    const here = createAnswerCache(createScriptedModel(), { folder });
    const there = createAnswerCache(numbered(), { folder });
    await there.model.complete(ask('a'));
    expect((await here.model.complete(ask('a'))).text).toBe('answer 0');
    here.close();
    there.close();
  });

  it('loses nothing but the line that was cut by a kill', async () => {
    const folder = aFolder();
    const first = createAnswerCache(numbered(), { folder });
    await textsOf(first.model, [ask('a'), ask('b')]);
    const [name = ''] = readdirSync(folder);
    const lines = readFileSync(join(folder, name), 'utf8').split('\n');
    appendFileSync(join(folder, name), (lines.find((line) => line !== '') ?? '').slice(0, 50));
    await first.model.complete(ask('c'));
    first.close();
    const second = createAnswerCache(createScriptedModel(), { folder });
    expect(await textsOf(second.model, [ask('b'), ask('c')])).toEqual(['answer 1', 'answer 2']);
    second.close();
  });

  it('does not remember failures, and heeds the signal before all else', async () => {
    const failing = createScriptedModel({ answers: [new Error('down'), 'up'] });
    const cache = createAnswerCache(failing, { folder: aFolder() });
    await expect(cache.model.complete(ask('a'))).rejects.toThrow('down');
    expect((await cache.model.complete(ask('a'))).text).toBe('up');
    await expect(cache.model.complete(ask('a', { signal: AbortSignal.abort() }))).rejects.toMatchObject({
      code: 'cancelled',
    });
    cache.close();
  });
});

describe('the cache of readings', () => {
  const request = { prompt: { system: 's', user: 'u' }, opening: '["' };
  const reader = {
    probabilities: new Map([
      ['get', 0.7],
      ['set', 0.3],
    ]),
  };
  const weighAll = async (model: Model) => {
    const opened = await model.openReader?.(request);
    const [get = 0] = opened?.tokenize('get') ?? [];
    const [set = 0] = opened?.tokenize('set') ?? [];
    const weights = await opened?.weigh([], [get, set]);
    const usage = opened?.usage();
    await opened?.close();
    return { weights, usage };
  };

  it('weighs again only what was not weighed, by tokens that mean the same in every process', async () => {
    const folder = aFolder();
    const first = createScriptedModel({ readers: () => reader });
    const one = createAnswerCache(first, { folder });
    const known = await weighAll(one.model);
    one.close();
    // Other names first: the second process must not number its tokens by the order in which it sees them.
    const second = createScriptedModel({ readers: () => reader });
    const two = createAnswerCache(second, { folder });
    const opened = await two.model.openReader?.(request);
    opened?.tokenize('another name');
    await opened?.close();
    expect(await weighAll(two.model)).toEqual(known);
    expect(second.readerCalls.filter(({ prompt }) => prompt.user === 'u')).toEqual([]);
    expect(first.readerCalls.filter(({ prompt }) => prompt.user === 'u')).toHaveLength(1);
    two.close();
  });

  it('adds what is missing to what is known', async () => {
    const folder = aFolder();
    const model = createScriptedModel({ readers: () => reader });
    const cache = createAnswerCache(model, { folder });
    await weighAll(cache.model);
    const opened = await cache.model.openReader?.(request);
    const path = opened?.tokenize('get') ?? [];
    await opened?.weigh(path, path);
    await opened?.close();
    cache.close();
    const silent = createScriptedModel({ readers: () => reader });
    const again = createAnswerCache(silent, { folder });
    const reopened = await again.model.openReader?.(request);
    await reopened?.weigh([], [...(reopened.tokenize('get') ?? []), ...(reopened.tokenize('set') ?? [])]);
    await reopened?.weigh(path, path);
    await reopened?.close();
    expect(silent.readerCalls.filter(({ prompt }) => prompt.user === 'u')).toEqual([]);
    again.close();
  });

  it('keeps minus infinity', async () => {
    const folder = aFolder();
    const bare = createScriptedModel({ readers: () => reader });
    const model: Model = {
      ...bare,
      openReader: async (asked) => {
        const opened = await bare.openReader?.(asked);
        if (!opened) throw new Error('no reader');
        return { ...opened, weigh: async () => [Number.NEGATIVE_INFINITY, -1] };
      },
    };
    for (let round = 0; round < 2; round++) {
      const cache = createAnswerCache(model, { folder });
      expect((await weighAll(cache.model)).weights).toEqual([Number.NEGATIVE_INFINITY, -1]);
      cache.close();
    }
  });
});
