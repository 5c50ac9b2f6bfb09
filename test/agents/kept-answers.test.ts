/** Requests that their caller sends twice: by one server, by two on one store, and by one that dies in between. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createKeptAnswers } from '../../src/agents/kept-answers.js';
import { openStore } from '../../src/agents/store/open-store.js';
import { type ErrorCode, WinnowError } from '../../src/core/errors.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const ASKED = { owner: 'ann', key: 'k-1', request: { path: 'a.txt' }, hasEffect: true };

async function setUp({ maxBytes = 1_000_000, file }: { maxBytes?: number; file?: string } = {}) {
  let now = Date.parse('2026-01-01T12:00:00Z');
  const store = await openStore(file === undefined ? undefined : { file });
  const answers = createKeptAnswers({ store, maxBytes, clock: () => new Date(now) });
  const done: string[] = [];
  const ask = (more: Partial<typeof ASKED> = {}, answer: unknown = { ok: true, output: 1 }) =>
    answers.once({ ...ASKED, ...more }, async () => {
      done.push(more.key ?? ASKED.key);
      if (answer instanceof Error) throw answer;
      return answer;
    });
  const pass = (milliseconds: number) => {
    now += milliseconds;
  };
  return { store, answers, ask, done, pass };
}

describe('a request with a key', () => {
  it('is done once, and its answer given again', async () => {
    const { ask, done } = await setUp();
    expect(await ask()).toEqual({ answer: { ok: true, output: 1 }, isReplayed: false });
    expect(await ask({}, 'never')).toEqual({ answer: { ok: true, output: 1 }, isReplayed: true });
    expect(done).toEqual(['k-1']);
  });

  it('is one of its owner alone', async () => {
    const { ask } = await setUp();
    await ask();
    expect(await ask({ owner: 'bob', request: { path: 'b.txt' } }, 'of bob')).toEqual({
      answer: 'of bob',
      isReplayed: false,
    });
  });

  it('is refused where the key stands for another one, also while that runs', async () => {
    const { ask, answers } = await setUp();
    const other = { request: { path: 'b.txt' } };
    await answers.once(ASKED, async () => {
      await expect(ask(other)).rejects.toMatchObject({ code: 'key_reused' });
    });
    await expect(ask(other)).rejects.toMatchObject({ code: 'key_reused' });
  });

  it('is refused while the first one runs', async () => {
    const { ask, answers } = await setUp();
    await answers.once(ASKED, async () => {
      await expect(ask()).rejects.toMatchObject({ code: 'conflict' });
    });
    expect((await ask()).isReplayed).toBe(true);
  });

  it('is not done again where the server died in the middle of it', async () => {
    const { ask, answers, done, pass } = await setUp();
    // It never ends, as in a process that is gone.
    await new Promise<void>((begun) => {
      void answers.once(ASKED, () => {
        begun();
        return new Promise(() => undefined);
      });
    });
    pass(59_000);
    await expect(ask()).rejects.toMatchObject({ code: 'conflict' });
    pass(2_000);
    await expect(ask()).rejects.toMatchObject({ code: 'outcome_unknown' });
    expect(done).toEqual([]);
  });

  it.each<[string, unknown, boolean]>([
    ['is kept: a success', { ok: true }, true],
    ['is kept: null', null, true],
    ['is kept: a tool that failed', { ok: false, code: 'tool_failed' }, true],
    ['is kept: a tool that may have run', { ok: false, code: 'timeout' }, true],
    ['frees the key: a wait for an approval', { ok: false, code: 'needs_approval' }, false],
    ['frees the key: arguments that are wrong', { ok: false, code: 'invalid_arguments' }, false],
  ])('whose answer %s', async (_, answer, isKept) => {
    const { ask, done } = await setUp();
    await ask({}, answer);
    expect([(await ask({}, 'second')).isReplayed, done.length]).toEqual([isKept, isKept ? 1 : 2]);
  });

  it.each<[ErrorCode, ErrorCode | undefined]>([
    ['invalid_request', undefined],
    ['not_found', undefined],
    ['quota_exceeded', undefined],
    ['overloaded', undefined],
    ['cancelled', 'outcome_unknown'],
    ['conflict', 'outcome_unknown'],
    ['store_failed', 'outcome_unknown'],
    ['internal', 'outcome_unknown'],
  ])('that failed with %s: the next one is answered %s', async (code, next) => {
    const { ask } = await setUp();
    await expect(ask({}, new WinnowError(code, 'x'))).rejects.toMatchObject({ code });
    const again = ask({}, 'second');
    if (next === undefined) expect(await again).toEqual({ answer: 'second', isReplayed: false });
    else await expect(again).rejects.toMatchObject({ code: next });
  });

  it('is refused where the owner has as much as is kept, and others are not', async () => {
    const { ask } = await setUp({ maxBytes: 2_000 });
    await ask({ key: 'big' }, 'x'.repeat(1_500));
    await expect(ask({ key: 'more' })).rejects.toMatchObject({
      code: 'quota_exceeded',
      message: expect.stringContaining('quotas.answerBytes'),
    });
    expect((await ask({ key: 'big' })).isReplayed).toBe(true);
    expect((await ask({ owner: 'bob' })).isReplayed).toBe(false);
  });

  it('is one for two servers on one store: of many at once one does it', async () => {
    const file = join(temporaryFolder(), 'agents.db');
    const servers = [await setUp({ file }), await setUp({ file })];
    const asked = Array.from({ length: 10 }, (_, place) => servers[place % 2]?.ask());
    const outcomes = await Promise.allSettled(asked);
    expect(servers.flatMap(({ done }) => done)).toEqual(['k-1']);
    for (const outcome of outcomes)
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'conflict' });
      else expect(outcome.value?.answer).toEqual({ ok: true, output: 1 });
    for (const { ask } of servers) expect((await ask()).isReplayed).toBe(true);
    for (const { store } of servers) await store.close();
  });

  it('leaves neither the key nor its answer in the store for others to read', async () => {
    const folder = temporaryFolder();
    const { ask, store } = await setUp({ file: join(folder, 'agents.db') });
    await ask({ key: 'key-of-ann' }, { ok: true, output: { token: 'hunter-22' } });
    await store.close();
    const bytes = Buffer.concat(readdirSync(folder).map((name) => readFileSync(join(folder, name))));
    expect(bytes.includes('ann')).toBe(true);
    for (const word of ['key-of-ann', 'hunter-22', 'token']) expect(bytes.includes(word)).toBe(false);
    const again = await setUp({ file: join(folder, 'agents.db') });
    expect((await again.ask({ key: 'key-of-ann' })).answer).toEqual({ ok: true, output: { token: 'hunter-22' } });
    await again.store.close();
  });

  it('leaves no hash in the store from which a short secret could be found', async () => {
    const { ask, store } = await setUp();
    await ask({ request: { path: '1234' } });
    const key = createHash('sha256').update('k-1').digest('hex');
    const claim = { owner: 'ann', key, requestHash: '', createdAt: '', until: '' };
    const kept = await store.answers.claim(claim, 1_000_000);
    const other = await setUp();
    await other.ask({ request: { path: '1234' } });
    expect(kept).toMatchObject({ requestHash: expect.stringMatching(/^[\da-f]{64}$/u) });
    expect(await other.store.answers.claim(claim, 1_000_000)).not.toMatchObject({
      requestHash: Object(kept).requestHash,
    });
  });
});
