import { getEventListeners } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { orAborted } from '../../src/core/promises.js';

const never = new Promise<never>(() => {});

describe('work that may be broken off', () => {
  it.each<[string, () => Promise<unknown>]>([
    ['does not end', () => never],
    ['has ended', () => Promise.resolve('done')],
    ['fails', () => Promise.reject(new Error('late'))],
  ])('is not waited for when the signal has fired already: one that %s', async (_, work) => {
    await expect(orAborted(work(), AbortSignal.abort('enough'))).rejects.toBe('enough');
  });

  it('ends when the signal fires', async () => {
    const controller = new AbortController();
    const ended = orAborted(never, controller.signal);
    controller.abort('enough');
    await expect(ended).rejects.toBe('enough');
  });

  it('leaves no listener behind, however it ends', async () => {
    const { signal } = new AbortController();
    expect(await orAborted(Promise.resolve('done'), signal)).toBe('done');
    await expect(orAborted(Promise.reject(new Error('no')), signal)).rejects.toThrow('no');
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});
