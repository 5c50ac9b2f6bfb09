import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createRedactor } from '../../../src/core/logging/redact.js';

describe('redaction', () => {
  it.each([
    'apiKey',
    'api_key',
    'OPENAI_API_KEY',
    'Authorization',
    'x-api-key',
    'token',
    'accessToken',
    'password',
    'db_password',
    'clientSecret',
    'secret',
    'Set-Cookie',
  ])('masks the value under %s at any depth', (name) => {
    expect(createRedactor()({ a: [{ [name]: 'hunter2', other: 1 }] })).toEqual({
      a: [{ [name]: '[masked]', other: 1 }],
    });
  });

  it.each(['tokens', 'maxTokens', 'schemaTokens', 'keywords', 'secretary', 'name'])(
    'leaves the value under %s',
    (name) => {
      expect(createRedactor()({ [name]: 'harmless' })).toEqual({ [name]: 'harmless' });
    },
  );

  it('masks names that the caller calls secret, in any spelling', () => {
    const redact = createRedactor({ secretNames: ['pin_code'] });
    expect(redact({ pinCode: 1234, pin_code: [1] })).toEqual({ pinCode: '[masked]', pin_code: '[masked]' });
  });

  it.each([
    ['a text', 'say "hi"\n', 'the answer is say "hi"\n.'],
    ['JSON', 'say "hi"\n', JSON.stringify({ a: 'say "hi"\n' })],
    ['JSON in JSON', 'say "hi"\n', JSON.stringify(JSON.stringify({ a: 'say "hi"\n' }))],
    ['a URL', 'a b/c&d', `https://host/?q=${encodeURIComponent('a b/c&d')}`],
    ['Chinese', '密码一二三', '我的密码是密码一二三吗'],
  ])('masks a literal secret inside %s', (_, secret, text) => {
    const masked = String(createRedactor({ secrets: [secret] })(text));
    expect(masked).toContain('[masked]');
    for (const form of [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)])
      expect(masked).not.toContain(form);
  });

  it('masks a longer secret whole when a shorter one is part of it', () => {
    expect(createRedactor({ secrets: ['abc', 'abcdef'] })('abcdef abc')).toBe('[masked] [masked]');
  });

  it('masks secrets among numbers and names', () => {
    expect(createRedactor({ secrets: ['4711'] })({ pin: 4711, n: 4712, x4711: 1 })).toEqual({
      pin: '[masked]',
      n: 4712,
      'x[masked]': 1,
    });
  });

  it.each(['Bearer abc.def-123456', 'sk-abcdefgh12345678'])('masks what looks like a key: %s', (key) => {
    expect(createRedactor()(`failed with ${key} today`)).toBe('failed with [masked] today');
  });

  it('turns errors into objects, with their causes', () => {
    const error = new Error('no hunter2', { cause: new Error('deep hunter2') });
    const redacted = createRedactor({ secrets: ['hunter2'] })(error);
    expect(redacted).toMatchObject({ name: 'Error', message: 'no [masked]', cause: { message: 'deep [masked]' } });
    expect(JSON.stringify(redacted)).not.toContain('hunter2');
  });

  it('ends on values that hold themselves, and does not change what it is given', () => {
    const loop: Record<string, unknown> = { password: 'hunter2' };
    loop.self = loop;
    expect(createRedactor()(loop)).toEqual({ password: '[masked]', self: '[…]' });
    expect(loop.password).toBe('hunter2');
  });

  it('never lets a secret through, whatever it holds and wherever it stands', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 3, unit: 'grapheme' }), (secret) => {
        fc.pre(!secret.includes('mask') && !secret.includes('[') && !secret.includes('ed]'));
        const entry = { text: `x${secret}y`, list: [secret], [secret]: JSON.stringify({ deep: secret }) };
        const masked = JSON.stringify(createRedactor({ secrets: [secret] })(entry));
        expect(masked).not.toContain(JSON.stringify(secret).slice(1, -1));
      }),
    );
  });
});
