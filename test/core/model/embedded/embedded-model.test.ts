/** The embedded model on a runtime without weights; with real ones in `embedded.model.test.ts`. */

import { getEventListeners } from 'node:events';
import { mkdtemp, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createNameTrie, probabilityOf } from '../../../../src/core/model/choices.js';
import { createModelOn, endsInLoop } from '../../../../src/core/model/embedded/embedded-model.js';
import type { Model, Prompt, ReaderRequest, Token, TokenReader } from '../../../../src/core/model/model.js';
import { chatText, createFakeRuntime, type FakeRuntimeOptions } from '../../../support/fake-runtime.js';
import { describeModelContract } from '../contract.js';

let folder: string;
let modelFile: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'winnow-embedded-'));
  modelFile = join(folder, 'weights.gguf');
  await writeFile(modelFile, 'weights');
});
afterAll(() => rm(folder, { recursive: true }));

let folders = 0;
function open({
  prefixFolder = join(folder, `${++folders}`),
  ...options
}: FakeRuntimeOptions & { prefixFolder?: string } = {}) {
  const { runtime, log } = createFakeRuntime(options);
  return { log, model: createModelOn(runtime, { modelFile, prefixFolder }) };
}

const FRUIT = '{"fruit": "banana"}';
const answerFruit = (prompt: string) => (prompt.includes('long answers') ? 'one two three' : FRUIT);
describeModelContract('the embedded model', async () => open({ answer: answerFruit, contextSize: 2_000 }).model);

const SYSTEM = 'You choose tools. '.repeat(60);
const prompt = (user: string): Prompt => ({ system: SYSTEM, user });
const STABLE = chatText(prompt('')).indexOf('<u>') + '<u>'.length;
const OPENING = '{"fruit": "';

async function read(model: Model, user: string, more: Partial<ReaderRequest> = {}) {
  const reader = await model.openReader?.({ prompt: prompt(user), opening: OPENING, ...more });
  if (!reader) throw new Error('the embedded model has a reader');
  await reader.weigh([], reader.tokenize('b'));
  await reader.close();
  return reader.usage();
}

describe('the prefix on disk', () => {
  let prefixFolder: string;
  beforeEach(async () => {
    prefixFolder = await mkdtemp(join(folder, 'prefixes-'));
  });

  it('is read once, and after a restart not at all', async () => {
    const first = open({ prefixFolder, answer: answerFruit });
    expect((await read(first.model, 'one')).read).toBeGreaterThan(STABLE);
    expect(first.log).toContain(`saved ${STABLE}`);
    const second = open({ prefixFolder, answer: answerFruit });
    const usage = await read(second.model, 'two');
    expect(usage).toMatchObject({ cached: STABLE, read: chatText(prompt('two')).length + OPENING.length - STABLE });
  });

  it('is followed by the rest of the prompt in one batch', async () => {
    const { log, model } = open({ prefixFolder, answer: answerFruit });
    await read(model, 'one');
    const rest = chatText(prompt('one')).length + OPENING.length - STABLE;
    expect(log.slice(log.indexOf(`saved ${STABLE}`) + 1)).toEqual([`read ${rest}`]);
  });

  it('holds what the user part begins with, where that is stable, too', async () => {
    const lead = 'Tools: one, two. ';
    const led = (words: string) => ({ prompt: { system: SYSTEM, user: lead + words, lead } });
    const first = open({ prefixFolder, answer: answerFruit });
    await read(first.model, '', led('one'));
    expect(first.log).toContain(`saved ${STABLE + lead.length}`);
    const { log, model } = open({ prefixFolder, answer: answerFruit });
    const rest = chatText(prompt('two')).length + OPENING.length - STABLE;
    expect(await read(model, '', led('two'))).toMatchObject({ cached: STABLE + lead.length, read: rest });
    expect(await read(model, '', led('six'))).toMatchObject({ cached: STABLE + lead.length, read: rest });
    expect(log.filter((line) => line.startsWith('loaded'))).toHaveLength(1);
    const others = open({ prefixFolder, answer: answerFruit });
    expect(
      await read(others.model, '', { prompt: { system: SYSTEM, user: 'Tool: four', lead: 'Tool: ' } }),
    ).toMatchObject({
      cached: STABLE,
    });
  });

  it.each([
    ['in memory', (held: Model) => held],
    ['of an earlier run', () => open({ prefixFolder, answer: answerFruit }).model],
  ])('is not the first to go when it is in use: %s', async (_, next) => {
    const { model } = open({ prefixFolder, answer: answerFruit });
    await read(model, 'one');
    const [state = ''] = (await readdir(prefixFolder)).filter((name) => name.endsWith('.state'));
    await utimes(join(prefixFolder, state), 1, 1);
    await read(next(model), 'two');
    expect((await stat(join(prefixFolder, state))).mtimeMs).toBeGreaterThan(Date.now() - 60_000);
  });

  it('is not that of another version of the runtime: a state may be laid out differently there', async () => {
    await read(open({ prefixFolder, version: 'fake 1', answer: answerFruit }).model, 'one');
    const upgraded = open({ prefixFolder, version: 'fake 2', answer: answerFruit });
    expect(await read(upgraded.model, 'one')).toMatchObject({ cached: 0 });
    expect(upgraded.log.filter((line) => line.startsWith('loaded'))).toEqual([]);
  });
});

describe('the prefix in memory', () => {
  it('of a plan is read from where its tools differ, where that of the selection comes back from disk', async () => {
    const prefixFolder = await mkdtemp(join(folder, 'prefixes-'));
    const { model } = open({ prefixFolder, answer: answerFruit });
    const shared = 'The same tools come first. '.repeat(40);
    const plan = (place: number) => `${shared}Tools of plan ${place}. ${`${place} `.repeat(300)}`;
    const ask = (system: string) => read(model, '', { prompt: { system, user: 'x' } });
    for (const place of [1, 2, 3]) {
      for (const system of [SYSTEM, 'Judge all. '.repeat(30)]) await ask(system);
      const { cached } = await ask(plan(place));
      if (place > 2) expect(cached).toBeGreaterThan(shared.length);
    }
    const { cached } = await ask(SYSTEM);
    expect(cached).toBe(STABLE);
  });
});

describe('a call that is cancelled', () => {
  /** Reading stands still at the second piece until `goOn` is called. */
  function openHeld(more: FakeRuntimeOptions = {}) {
    let goOn = () => {};
    const held = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    let arrive = () => {};
    const isHeld = new Promise<void>((resolve) => {
      arrive = resolve;
    });
    let pieces = 0;
    const onRead = async () => {
      pieces += 1;
      if (pieces !== 2) return;
      arrive();
      await held;
    };
    return { ...open({ answer: answerFruit, onRead, ...more }), goOn, isHeld };
  }

  const CALLS: readonly [string, (model: Model, signal: AbortSignal) => Promise<unknown>][] = [
    ['a reader', (model, signal) => read(model, 'one', { signal })],
    [
      'an answer',
      (model, signal) => model.complete({ stage: 'planning', prompt: prompt('one'), maxTokens: 99, signal }),
    ],
  ];

  it.each(CALLS)('while its prompt is read gets its error at once, with what was spent: %s', async (_, call) => {
    const { model, goOn, isHeld } = openHeld();
    const cancel = new AbortController();
    const pending = call(model, cancel.signal);
    await isHeld;
    cancel.abort();
    // Were the caller to wait for the piece, this would never end.
    await expect(pending).rejects.toMatchObject({
      code: 'cancelled',
      details: { usage: { calls: 1, read: 512, cached: 0, written: 0 } },
    });
    expect(getEventListeners(cancel.signal, 'abort')).toHaveLength(0);
    goOn();
  });

  it.each(CALLS)('keeps its place until the piece is read, and then gives it back: %s', async (_, call) => {
    const { model, log, goOn, isHeld } = openHeld();
    const cancel = new AbortController();
    const pending = call(model, cancel.signal);
    await isHeld;
    cancel.abort();
    await expect(pending).rejects.toMatchObject({ code: 'cancelled' });
    const next = read(model, 'two');
    for (let turn = 0; turn < 20; turn++) await nextTurn();
    expect(log).toEqual(['read 256']);
    goOn();
    // What the cancelled call had read before is not read again.
    expect(await next).toMatchObject({ cached: 512 });
    await model.close();
  });

  it('while it writes tells what was written', async () => {
    const cancel = new AbortController();
    const { model } = open({ answer: answerFruit, onWrite: (text) => void (text.length === 5 && cancel.abort()) });
    const pending = model.complete({ stage: 'planning', prompt: prompt('x'), maxTokens: 99, signal: cancel.signal });
    const { length } = chatText(prompt('x'));
    await expect(pending).rejects.toMatchObject({ details: { usage: { calls: 1, read: length, written: 5 } } });
  });

  it('that waits in the queue has spent nothing', async () => {
    const { model, goOn, isHeld } = openHeld();
    const first = read(model, 'one');
    await isHeld;
    const cancel = new AbortController();
    const second = read(model, 'two', { signal: cancel.signal });
    cancel.abort();
    await expect(second).rejects.toMatchObject({ code: 'cancelled', details: { usage: { calls: 0, read: 0 } } });
    goOn();
    await first;
  });
});

describe('closing', () => {
  it('gives the memory back once, when the call in progress has ended', async () => {
    const fake = createFakeRuntime({ answer: answerFruit });
    const model = createModelOn(fake.runtime, { modelFile, prefixFolder: join(folder, 'closing') });
    let closesWhileRead = -1;
    const reading = read(model, 'one').then(() => {
      closesWhileRead = fake.closes;
    });
    await Promise.all([reading, model.close(), model.close()]);
    expect([closesWhileRead, fake.closes]).toEqual([0, 1]);
  });
});

describe('a runtime that fails', () => {
  const broken = () => {
    let pieces = 0;
    return open({
      answer: answerFruit,
      onRead() {
        pieces += 1;
        if (pieces === 2) throw new Error('the context is gone');
      },
    });
  };

  it.each([
    ['a reader', (model: Model) => read(model, 'one')],
    ['an answer', (model: Model) => model.complete({ stage: 'planning', prompt: prompt('one'), maxTokens: 99 })],
  ])('is an error that tells what was spent, and the next call passes: %s', async (_, call) => {
    const { model } = broken();
    await expect(call(model)).rejects.toMatchObject({
      code: 'model_failed',
      message: expect.stringContaining('the context is gone'),
      details: { usage: { calls: 1, read: 512 } },
    });
    await expect(read(model, 'two')).resolves.toMatchObject({ calls: 1 });
  });
});

describe('evaluations of a reader', () => {
  /** What `use` makes the runtime evaluate, after the prompt. */
  async function evaluations(answer: string, user: string, use: (reader: TokenReader) => Promise<unknown>) {
    const { model, log } = open({ answer: () => answer });
    const reader = await model.openReader?.({ prompt: prompt(user), opening: OPENING });
    if (!reader) throw new Error('the embedded model has a reader');
    await reader.weigh([], reader.tokenize('b'));
    const before = log.length;
    const found = await use(reader);
    await reader.close();
    return { found, log: log.slice(before) };
  }
  const FRUITS = ['banana', 'bananas', 'banapple', 'bread'];

  it('are one for a whole name, and none for another name of which all places are known', async () => {
    const { found, log } = await evaluations(FRUIT, 'one', async (reader) => {
      const trie = createNameTrie(FRUITS, reader);
      const [banana, bread] = [probabilityOf('banana', trie, { reader, start: [] }), 'bread'];
      return [await banana, await probabilityOf(bread, trie, { reader, start: [] })];
    });
    expect(found).toEqual([expect.closeTo(1), expect.closeTo(0)]);
    expect(log).toEqual([expect.stringMatching(/^read \d+$/)]);
  });

  it('are of no place twice', async () => {
    const { log } = await evaluations(FRUIT, 'one', async (reader) => {
      const [b, r] = reader.tokenize('br');
      if (b === undefined || r === undefined) throw new Error('one token a sign');
      for (const path of [[b], [r], [b], [r], []]) await reader.weigh(path, reader.tokenize('a'));
    });
    expect(log).toHaveLength(3);
  });

  it('read again where a candidate was not weighed', async () => {
    const { found, log } = await evaluations(FRUIT, 'one', async (reader) => {
      const path = reader.tokenize('b');
      await reader.weigh(path, reader.tokenize('r'));
      return reader.weigh(path, reader.tokenize('ra'));
    });
    expect(found).toEqual([expect.closeTo(-20), expect.closeTo(0)]);
    expect(log).toHaveLength(1);
  });

  it.each([
    ['few where the text repeats the request', 'send the red bananas to Ann', 8],
    ['one a token where it does not', 'nothing of it', 24],
  ])('are %s', async (_, user, most) => {
    const text = 'the red bananas to Ann"}';
    const { found, log } = await evaluations(`{"fruit": "${text}`, user, async (reader) => {
      const path: Token[] = [];
      for (let isOpen = true; isOpen; ) {
        const [next] = await reader.likeliest(path, 1, true);
        if (next) path.push(next.token);
        isOpen = next !== undefined && path.length < text.length;
      }
      return reader.detokenize(path);
    });
    expect(found).toBe(text);
    expect(log.length).toBeLessThanOrEqual(most);
    expect(log.length).toBeGreaterThan(most / 2);
  });
});

const repeat = (block: readonly number[], times: number) => Array.from({ length: times }, () => block).flat();

describe('an answer that only repeats itself', () => {
  it.each([
    ['one token', [7], 32],
    ['a few tokens', [1, 2, 3], 12],
    ['a long block', Array.from({ length: 40 }, (_, place) => place), 4],
  ])('is seen: %s', (_, block, times) => {
    expect(endsInLoop([9, 9, 8, ...repeat(block, times)])).toBe(true);
  });

  it.each([
    ['too few rounds', repeat([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], 3)],
    ['too short', repeat([5], 31)],
    ['something new at the end', [...repeat([1, 2, 3], 20), 4]],
  ])('is not seen: %s', (_, tokens) => {
    expect(endsInLoop(tokens)).toBe(false);
  });

  it('is never seen in tokens that are all different', () => {
    fc.assert(fc.property(fc.uniqueArray(fc.nat(), { maxLength: 300 }), (tokens) => !endsInLoop(tokens)));
  });
});
