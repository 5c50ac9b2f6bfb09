import { getEventListeners } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { createTurnstile, type Turnstile } from '../../../../src/core/model/embedded/sequences.js';

/** Passes through: holds the place while it works. */
const pass = <T>(turnstile: Turnstile, signal: AbortSignal | undefined, work: () => Promise<T>) =>
  turnstile.hold(signal, (leave) => work().finally(leave));

const tick = () => new Promise((resolve) => setImmediate(resolve));

describe('the turnstile of the embedded model', () => {
  it('lets one pass at a time, in the order of arrival', async () => {
    const turnstile = createTurnstile();
    const order: string[] = [];
    const work = (name: string) => async () => {
      order.push(`${name} in`);
      await tick();
      order.push(`${name} out`);
    };
    await Promise.all(['a', 'b', 'c'].map((name) => pass(turnstile, undefined, work(name))));
    expect(order).toEqual(['a in', 'a out', 'b in', 'b out', 'c in', 'c out']);
  });

  it('lets the next one pass after a failure', async () => {
    const turnstile = createTurnstile();
    await expect(pass(turnstile, undefined, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    await expect(pass(turnstile, undefined, () => Promise.resolve(1))).resolves.toBe(1);
  });

  it('releases a cancelled caller at once, keeps the order for the others and leaves no listener', async () => {
    const turnstile = createTurnstile();
    const enter = (signal?: AbortSignal) => turnstile.hold(signal, async (leave) => leave);
    const leave = await enter();
    const cancel = new AbortController();
    const waiting = enter(cancel.signal);
    const next = enter();
    cancel.abort();
    await expect(waiting).rejects.toMatchObject({ code: 'cancelled' });
    expect(getEventListeners(cancel.signal, 'abort')).toHaveLength(0);
    leave();
    (await next)();
  });

  it('tells who is cancelled inside at once, and keeps the place until the work has ended', async () => {
    const turnstile = createTurnstile();
    const cancel = new AbortController();
    let end: () => void = () => {};
    const inside = pass(turnstile, cancel.signal, () => new Promise<void>((resolve) => (end = resolve)));
    await tick();
    cancel.abort();
    await expect(inside).rejects.toMatchObject({ code: 'cancelled' });
    let passed = false;
    const next = pass(turnstile, undefined, async () => {
      passed = true;
    });
    await tick();
    expect(passed).toBe(false);
    end();
    await next;
    expect(passed).toBe(true);
  });

  it('lets the result of the work hold the place, until it leaves', async () => {
    const turnstile = createTurnstile();
    const leave = await turnstile.hold(undefined, async (leave) => leave);
    const next = pass(turnstile, undefined, async () => 'passed');
    const first = await Promise.race([next, tick().then(() => 'waits')]);
    leave();
    expect([first, await next]).toEqual(['waits', 'passed']);
  });

  it.each([
    ['ends well', (end: () => void) => end],
    ['fails', (_: () => void, fail: (error: Error) => void) => () => fail(new Error('broken'))],
  ])('gives the place of a cancelled holder back as soon as the work %s', async (_, endBy) => {
    const turnstile = createTurnstile();
    const cancel = new AbortController();
    let end: () => void = () => {};
    const work = () =>
      new Promise<void>((resolve, reject) => {
        end = endBy(resolve, reject);
      });
    const inside = turnstile.hold(cancel.signal, work);
    await tick();
    cancel.abort();
    await expect(inside).rejects.toMatchObject({ code: 'cancelled' });
    expect(getEventListeners(cancel.signal, 'abort')).toHaveLength(0);
    const next = pass(turnstile, undefined, async () => 'passed');
    const first = await Promise.race([next, tick().then(() => 'waits')]);
    end();
    expect([first, await next]).toEqual(['waits', 'passed']);
  });

  it('gives the place of a holder whose work failed back', async () => {
    const turnstile = createTurnstile();
    await expect(turnstile.hold(undefined, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    await expect(pass(turnstile, undefined, async () => 'passed')).resolves.toBe('passed');
  });

  it('refuses newcomers when it is closed', async () => {
    const turnstile = createTurnstile();
    await turnstile.close();
    await expect(pass(turnstile, undefined, async () => 1)).rejects.toMatchObject({ code: 'model_unavailable' });
  });
});
