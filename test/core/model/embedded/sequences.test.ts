import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { createMutex, type Mutex } from '../../../../src/core/model/embedded/sequences.js';

/** Passes through: holds the place while it works. */
const pass = <T>(mutex: Mutex, signal: AbortSignal | undefined, work: () => Promise<T>) =>
  mutex.hold(signal, (release) => work().finally(release));

const tick = () => new Promise((resolve) => setImmediate(resolve));

describe('the mutex of the embedded model', () => {
  it('lets one pass at a time, in the order of arrival', async () => {
    const mutex = createMutex();
    const order: string[] = [];
    const work = (name: string) => async () => {
      order.push(`${name} in`);
      await tick();
      order.push(`${name} out`);
    };
    await Promise.all(['a', 'b', 'c'].map((name) => pass(mutex, undefined, work(name))));
    expect(order).toEqual(['a in', 'a out', 'b in', 'b out', 'c in', 'c out']);
  });

  it('lets the next one pass after a failure', async () => {
    const mutex = createMutex();
    await expect(pass(mutex, undefined, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    await expect(pass(mutex, undefined, () => Promise.resolve(1))).resolves.toBe(1);
  });

  it('releases a cancelled caller at once, keeps the order for the others and leaves no listener', async () => {
    const mutex = createMutex();
    const enter = (signal?: AbortSignal) => mutex.hold(signal, async (release) => release);
    const release = await enter();
    const cancel = new AbortController();
    const waiting = enter(cancel.signal);
    const next = enter();
    cancel.abort();
    await expect(waiting).rejects.toMatchObject({ code: 'cancelled' });
    expect(getEventListeners(cancel.signal, 'abort')).toHaveLength(0);
    release();
    (await next)();
  });

  it('tells who is cancelled inside at once, and keeps the place until the work has ended', async () => {
    const mutex = createMutex();
    const cancel = new AbortController();
    let end: () => void = () => {};
    const inside = pass(mutex, cancel.signal, () => new Promise<void>((resolve) => (end = resolve)));
    await tick();
    cancel.abort();
    await expect(inside).rejects.toMatchObject({ code: 'cancelled' });
    let passed = false;
    const next = pass(mutex, undefined, async () => {
      passed = true;
    });
    await tick();
    expect(passed).toBe(false);
    end();
    await next;
    expect(passed).toBe(true);
  });

  it('lets the result of the work hold the place, until it leaves', async () => {
    const mutex = createMutex();
    const release = await mutex.hold(undefined, async (release) => release);
    const next = pass(mutex, undefined, async () => 'passed');
    const first = await Promise.race([next, tick().then(() => 'waits')]);
    release();
    expect([first, await next]).toEqual(['waits', 'passed']);
  });

  it.each([
    ['ends well', (end: () => void) => end],
    ['fails', (_: () => void, fail: (error: Error) => void) => () => fail(new Error('broken'))],
  ])('gives the place of a cancelled holder back as soon as the work %s', async (_, endBy) => {
    const mutex = createMutex();
    const cancel = new AbortController();
    let end: () => void = () => {};
    const work = () =>
      new Promise<void>((resolve, reject) => {
        end = endBy(resolve, reject);
      });
    const inside = mutex.hold(cancel.signal, work);
    await tick();
    cancel.abort();
    await expect(inside).rejects.toMatchObject({ code: 'cancelled' });
    expect(getEventListeners(cancel.signal, 'abort')).toHaveLength(0);
    const next = pass(mutex, undefined, async () => 'passed');
    const first = await Promise.race([next, tick().then(() => 'waits')]);
    end();
    expect([first, await next]).toEqual(['waits', 'passed']);
  });

  it('gives the place of a holder whose work failed back', async () => {
    const mutex = createMutex();
    await expect(mutex.hold(undefined, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    await expect(pass(mutex, undefined, async () => 'passed')).resolves.toBe('passed');
  });

  it('refuses newcomers when it is closed', async () => {
    const mutex = createMutex();
    await mutex.close();
    await expect(pass(mutex, undefined, async () => 1)).rejects.toMatchObject({ code: 'model_unavailable' });
  });
});
