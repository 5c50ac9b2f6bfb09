import { expect, it } from '@jest/globals';
import { isNeverConnected, isUntrusted } from '../../src/core/errors.js';

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
