/** What evaluation keeps: runs, their outputs, the cache of answers. */

import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openStore } from '../../src/agents/store/open-store.js';
import type { CompletionRequest, Model } from '../../src/core/model/model.js';
import { createAnswerCache } from '../../src/eval/answer-cache.js';
import { writeOutputs } from '../../src/eval/outputs.js';
import { openRunStore, readSummary, runFile, withRun } from '../../src/eval/run-store.js';
import { createScriptedModel } from '../support/scripted-model.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { anError, aRecord, aRun, inRun, keysIn } from './setup.js';

describe('the store of a run', () => {
  it('knows what is done when it is opened again, and gives back the records as they were', async () => {
    const record = aRecord({ id: 'a', query: '盘石头 "水库"\u2028', scores: { right: 0, recall: null } });
    const { path } = await aRun([record, aRecord({ id: 'a', repeat: 1 }), aRecord({ id: 'b' })]);
    await inRun(path, async (store) => {
      expect(await store.doneKeys()).toEqual(new Set(['0 a', '1 a', '0 b']));
      expect(await store.records().next()).toEqual({ done: false, value: record });
    });
  });

  it('hands out any number of records in the order in which they came', async () => {
    const ids = Array.from({ length: 450 }, (_, place) => `c${place}`);
    const { path } = await aRun(ids.map((id) => aRecord({ id })));
    expect(await keysIn(path)).toEqual(ids.map((id) => `${id}#0`));
  });

  it('keeps a result once that a queue delivers twice', async () => {
    const path = temporaryFolder();
    const fresh = await inRun(path, async (store) => [
      await store.keep([aRecord({ id: 'a' }), aRecord({ id: 'b' })]),
      await store.keep([aRecord({ id: 'b' }), aRecord({ id: 'b', repeat: 1 })]),
    ]);
    expect(fresh.map((records) => records.map(({ id, repeat }) => `${id}#${repeat}`))).toEqual([
      ['a#0', 'b#0'],
      ['b#1'],
    ]);
    expect(await keysIn(path)).toEqual(['a#0', 'b#0', 'b#1']);
  });

  it('takes out cases with an error, to do them again', async () => {
    const { path } = await aRun([aRecord({ id: 'a' }), anError('b'), aRecord({ id: 'wrong', scores: { right: 0 } })]);
    await inRun(path, (store) => store.dropErrors());
    expect(await keysIn(path)).toEqual(['a#0', 'wrong#0']);
    await inRun(path, (store) => store.keep([aRecord({ id: 'b' })]));
    expect(await keysIn(path)).toEqual(['a#0', 'wrong#0', 'b#0']);
  });

  it('keeps the stable part of each prompt once, with the record that names it', async () => {
    const path = temporaryFolder();
    await inRun(path, async (store) => {
      store.keepPrompt('aa', 'text');
      expect(await store.prompts()).toEqual(new Map());
      await store.keep([aRecord()]);
    });
    await inRun(path, async (store) => {
      store.keepPrompt('aa', 'another text of this hash can not be');
      await store.keep([aRecord({ id: 'c2' })]);
      expect(await store.prompts()).toEqual(new Map([['aa', 'text']]));
    });
  });

  it('may be written by several processes at once', async () => {
    const path = temporaryFolder();
    const [one, other] = [await openRunStore(runFile(path)), await openRunStore(runFile(path))];
    const writes = Array.from({ length: 20 }, (_, place) =>
      (place % 2 ? one : other).keep([aRecord({ id: `c${place}` })]),
    );
    await Promise.all(writes);
    expect((await one.doneKeys()).size).toBe(20);
    await Promise.all([one.close(), other.close()]);
  });

  it('is whole in its one file when it is closed', async () => {
    const { path } = await aRun([aRecord()]);
    const copy = temporaryFolder();
    copyFileSync(runFile(path), runFile(copy));
    expect(await keysIn(copy)).toEqual(['c1#0']);
  });

  it('is refused with the path where it can not be opened', async () => {
    await expect(openRunStore('/dev/null/run.db')).rejects.toMatchObject({
      code: 'store_failed',
      message: expect.stringContaining('/dev/null/run.db'),
    });
  });
});

async function inDatabase(file: string, sql: string): Promise<void> {
  const { default: Database } = await import('libsql');
  const database = new Database(file);
  database.exec(sql);
  database.close();
}

describe('a database of something else', () => {
  /** Its bytes, and the names of the files beside it. */
  const stateOf = (path: string) => [readFileSync(runFile(path)).toString('base64'), readdirSync(path)];
  it.each<[string, (path: string) => Promise<unknown>]>([
    ['another program', (path) => inDatabase(runFile(path), 'create table bookmarks (url text)')],
    [
      'another program with a table of the same name',
      (path) => inDatabase(runFile(path), 'create table run (url text)'),
    ],
    ['a server of Winnow', async (path) => (await openStore({ file: runFile(path) })).close()],
  ])('stays as it is, and is refused: of %s', async (_, make) => {
    const path = temporaryFolder();
    await make(path);
    const before = stateOf(path);
    const refused = { code: 'store_failed', message: expect.stringContaining('is the database of another program') };
    await expect(readSummary(path)).rejects.toMatchObject(refused);
    await expect(openRunStore(runFile(path))).rejects.toMatchObject(refused);
    expect(stateOf(path)).toEqual(before);
  });

  it('stays empty where it is read, and becomes a run where one is written', async () => {
    const path = temporaryFolder();
    writeFileSync(runFile(path), '');
    await expect(readSummary(path)).rejects.toMatchObject({ code: 'not_found' });
    expect(stateOf(path)).toEqual(['', ['run.db']]);
    await inRun(path, (store) => store.keep([aRecord()]));
    expect(await keysIn(path)).toEqual(['c1#0']);
  });
});

describe('a damaged row', () => {
  it.each([
    ['a summary that is no JSON', `update run set summary = '{"name": "ru'`, /summary in .*run\.db is damaged/u],
    ['a summary of another form', `update run set summary = '{"format": 1}'`, /summary in .*run\.db is damaged/u],
    ['a case that is no JSON', `update cases set record = '{"id'`, /Case "c1" \(repeat 0\) in .*run\.db is damaged/u],
    ['a case of another form', `update cases set record = '{}'`, /Case "c1" \(repeat 0\) in .*run\.db is damaged/u],
  ])('is named with its file, and what can be done: %s', async (_, sql, message) => {
    const { path } = await aRun([aRecord()]);
    await inDatabase(runFile(path), sql);
    const reading = readSummary(path).then(() => keysIn(path));
    await expect(reading).rejects.toMatchObject({ code: 'store_failed', message: expect.stringMatching(message) });
    await expect(reading).rejects.toThrow('run the cases anew');
  });

  it('of the cache is asked again', async () => {
    const folder = temporaryFolder();
    const first = createAnswerCache(numbered(), { folder });
    await first.model.complete(ask('a'));
    await first.close();
    await inDatabase(join(folder, 'answers.db'), `update answers set value = '{"text'`);
    const again = createAnswerCache(createScriptedModel({ answers: ['new'] }), { folder });
    expect((await again.model.complete(ask('a'))).text).toBe('new');
    await again.close();
  });
});

describe('the summary of a run', () => {
  it('can be read again', async () => {
    const { path, summary } = await aRun([aRecord()]);
    expect(await readSummary(path)).toEqual(summary);
  });

  it('is refused where there is no run, one that has only begun, or one of another version', async () => {
    const path = temporaryFolder();
    await expect(readSummary(path)).rejects.toMatchObject({ code: 'not_found' });
    expect(existsSync(runFile(path))).toBe(false);
    await inRun(path, async () => undefined);
    await expect(readSummary(path)).rejects.toThrow('it ended before its first case');
    const { path: other, summary } = await aRun([aRecord()]);
    await withRun(other, (store) => store.saveSummary(Object.assign({ ...summary }, { format: 2 })));
    await expect(readSummary(other)).rejects.toThrow('another version of Winnow wrote it');
  });
});

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
    const folder = temporaryFolder();
    const first = createAnswerCache(numbered(), { folder });
    const silent = createScriptedModel();
    const second = createAnswerCache(silent, { folder });
    const given = await first.model.complete(ask('a'));
    expect(await first.model.complete(ask('a'))).toEqual(given);
    const request = ask('a');
    expect(await second.model.complete(request)).toEqual(given);
    expect(second.wasRemembered(request)).toBe(true);
    expect(silent.calls).toEqual([]);
    await Promise.all([first.close(), second.close()]);
  });

  it.each<[string, CompletionRequest]>([
    ['another request', ask('b')],
    ['another stable part', ask('a', { prompt: { system: 't', user: 'a' } })],
    ['a schema', ask('a', { schema: { name: 'x', schema: { type: 'object' } } })],
    ['another bound', ask('a', { maxTokens: 50 })],
  ])('asks anew for %s', async (_, other) => {
    const cache = createAnswerCache(numbered(), { folder: temporaryFolder() });
    expect(await textsOf(cache.model, [ask('a'), other])).toEqual(['answer 0', 'answer 1']);
    expect(cache.wasRemembered(other)).toBe(false);
    await cache.close();
  });

  it.each<[string, Parameters<typeof createScriptedModel>[0], Record<string, unknown>]>([
    ['another model', { id: 'other' }, {}],
    ['another context', { limits: { contextTokens: 999 } }, {}],
    ['another parameter', {}, { temperature: 1 }],
  ])('asks anew for %s', async (_, more, parameters) => {
    const folder = temporaryFolder();
    const first = createAnswerCache(numbered(), { folder });
    await first.model.complete(ask('a'));
    await first.close();
    const second = createAnswerCache(createScriptedModel({ ...more, answers: ['new'] }), { folder, parameters });
    expect((await second.model.complete(ask('a'))).text).toBe('new');
    await second.close();
  });

  it('does not remember failures, and heeds the signal before all else', async () => {
    const failing = createScriptedModel({ answers: [new Error('down'), 'up'] });
    const cache = createAnswerCache(failing, { folder: temporaryFolder() });
    await expect(cache.model.complete(ask('a'))).rejects.toThrow('down');
    expect((await cache.model.complete(ask('a'))).text).toBe('up');
    await expect(cache.model.complete(ask('a', { signal: AbortSignal.abort() }))).rejects.toMatchObject({
      code: 'cancelled',
    });
    await cache.close();
  });
});

describe('the cache of readings', () => {
  const request = { prompt: { system: 's', user: 'u' }, opening: '["' };
  const probabilities = new Map([
    ['get', 0.7],
    ['set', 0.3],
  ]);
  const aReader = () => createScriptedModel({ readers: () => ({ probabilities }) });
  const askedOf = (model: ReturnType<typeof aReader>) => model.readerCalls.filter(({ prompt }) => prompt.user === 'u');
  const weighAll = async (model: Model) => {
    const opened = await model.openReader?.(request);
    const tokens = ['get', 'set'].map((name) => opened?.tokenize(name)[0] ?? 0);
    const weights = await opened?.weigh([], tokens);
    const usage = opened?.usage();
    await opened?.close();
    return { weights, usage };
  };

  it('weighs again only what was not weighed, by tokens that mean the same in every process', async () => {
    const folder = temporaryFolder();
    const [first, second] = [aReader(), aReader()];
    const one = createAnswerCache(first, { folder });
    const known = await weighAll(one.model);
    const two = createAnswerCache(second, { folder });
    // Other names first: the second process must not number its tokens by the order in which it sees them.
    const opened = await two.model.openReader?.(request);
    opened?.tokenize('another name');
    await opened?.close();
    expect(await weighAll(two.model)).toEqual(known);
    expect([askedOf(first).length, askedOf(second).length]).toEqual([1, 0]);
    const more = await two.model.openReader?.(request);
    const path = more?.tokenize('get') ?? [];
    await more?.weigh(path, path);
    await more?.close();
    const silent = aReader();
    const three = createAnswerCache(silent, { folder });
    const again = await three.model.openReader?.(request);
    await again?.weigh(path, path);
    await again?.close();
    expect(await weighAll(three.model)).toMatchObject({ weights: known.weights });
    expect([askedOf(second).length, askedOf(silent).length]).toEqual([1, 0]);
    for (const cache of [one, two, three]) await cache.close();
  });

  it('keeps minus infinity', async () => {
    const folder = temporaryFolder();
    const bare = aReader();
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
      await cache.close();
    }
  });
});

it('an output that can not be written is told by its name', async () => {
  const { path, summary } = await aRun([aRecord()]);
  mkdirSync(join(path, 'cases.jsonl'));
  await expect(writeOutputs(path, summary)).rejects.toMatchObject({
    code: 'invalid_option',
    message: expect.stringMatching(/cases\.jsonl/u),
  });
});

describe('the outputs of a run', () => {
  it('are summary, records and the page, each whole', async () => {
    const { path, summary } = await aRun([aRecord({ id: 'case-one' })]);
    expect(await writeOutputs(path, summary)).toBe(join(path, 'report.html'));
    const read = (name: string) => readFileSync(join(path, name), 'utf8');
    expect(JSON.parse(read('run.json'))).toEqual(summary);
    expect(read('cases.jsonl')).toBe(`${JSON.stringify(aRecord({ id: 'case-one' }))}\n`);
    expect(read('report.html')).toMatch(/^<!doctype html>[\s\S]*"interrupted":false[\s\S]*<\/html>\s*$/iu);
  });
});
