import { getEventListeners } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { isNeverConnected, isUntrusted, orAborted } from '../../src/core/errors.js';

it.each([
  ['EAI_AGAIN', true, false],
  ['ENOTFOUND', true, false],
  ['UND_ERR_CONNECT_TIMEOUT', true, false],
  ['CERT_HAS_EXPIRED', true, true],
  ['ERR_TLS_CERT_ALTNAME_INVALID', true, true],
  ['ERR_TLS_HANDSHAKE_TIMEOUT', true, false],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', true, true],
  ['ECONNRESET', false, false],
  ['ETIMEDOUT', false, false],
  ['UND_ERR_SOCKET', false, false],
  ['', false, false],
])('after %s, that there was no connection is %s', (code, isNever, isCertificate) => {
  expect([isNeverConnected(code), isUntrusted(code)]).toEqual([isNever, isCertificate]);
});

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
