/** What comes in, how it is read, and what is said where it is wrong. */

import { getEventListeners } from 'node:events';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { readVersion } from '../../src/core/environment.js';
import { isNeverConnected, isUntrusted, orAborted } from '../../src/core/errors.js';
import { nearestName, nearestNames, nearHint } from '../../src/core/nearest-name.js';
import { parse, parseOptions } from '../../src/core/parse.js';
import { searchText } from '../../src/core/prompts/context.js';
import { parseRequest } from '../../src/core/request.js';
import { readSources } from '../support/source-files.js';

const many = (count: number) => Array.from({ length: count }, (_, place) => `n${place}`);

describe('a request is refused with the field that is too large', () => {
  it.each([
    ['message', { message: 'x'.repeat(100_001) }],
    ['intent', { intent: 'x'.repeat(2_001) }],
    ['entities', { entities: { a: 'x'.repeat(50_001) } }],
    ['entities', { entities: Object.fromEntries(many(201).map((name) => [name, 1])) }],
    ['history', { history: many(5_001).map((content) => ({ role: 'user' as const, content })) }],
    ['allow', { allow: many(10_001) }],
    ['deny', { deny: many(10_001) }],
    ['require', { require: many(10_001) }],
    // Well-formed, and read in time quadratic in its length.
    ['locale', { locale: `en-u-${many(20_000).join('-')}` }],
    ['timeZone', { timeZone: 'A'.repeat(65) }],
  ])('%s', (field, more) => {
    expect(() => parseRequest({ message: 'x', ...more })).toThrow(`The request is not usable: ${field}: `);
  });
});

it.each(['zh_CN', 'C.UTF-8', '中文'])('a request with the locale %s is refused', (locale) => {
  expect(() => parseRequest({ message: 'x', locale })).toThrow('locale: not a language tag such as zh-CN');
});

describe('what keywords are looked for in', () => {
  it('is the whole of a message of 4,000 characters, and the beginning of a longer one', () => {
    const message = `delete ${'x'.repeat(3_989)} end`;
    expect(searchText({ message })).toContain(' end');
    expect(searchText({ message: `${message} pasted` })).not.toContain('pasted');
  });

  it('is of earlier messages their beginnings', () => {
    const history = [{ role: 'user' as const, content: `delete ${'x'.repeat(5_000)}` }];
    expect(searchText({ message: 'do it', history }).length).toBeLessThan(4_100);
  });
});

const rate = z.strictObject({ calls: z.int(), seconds: z.number() });
const schema = z.strictObject({
  size: z.int().default(1),
  rate: rate.optional(),
  tools: z.record(z.string(), rate.partial()).default({}),
  list: z.array(rate).default([]),
});
const messageOf = (input: unknown) => {
  try {
    parseOptions(schema, input, 'block');
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : undefined;
  }
};

describe('options', () => {
  it.each([
    ['the block itself', { sise: 1 }, 'block: Unrecognized key "sise"; nearest: "size"'],
    ['two at once', { a: 1, b: 2 }, 'block: Unrecognized keys "a", "b"; known: size, rate, tools, list'],
    ['a part', { rate: { calls: 1, seconds: 1, x: 1 } }, 'block.rate: Unrecognized key "x"; known: calls, seconds'],
    ['a part with a name', { tools: { a: { x: 1 } } }, 'block.tools.a: Unrecognized key "x"; known: calls, seconds'],
    [
      'an entry of a list',
      { list: [{ calls: 1, seconds: 1, x: 1 }] },
      'block.list.0: Unrecognized key "x"; known: calls, seconds',
    ],
  ])('with a key that does not exist are refused with its place and those that exist: %s', (_, input, issue) => {
    expect(messageOf(input)).toBe(`Options are not usable: ${issue}.`);
  });

  it('with thousands of unknown keys name the first twenty, and count the others', () => {
    const input = Object.fromEntries(Array.from({ length: 90_000 }, (_, place) => [`k${place}`, 1]));
    expect(messageOf(input)).toMatch(/"k0", .*"k19" and 89980 more; known: size, rate, tools, list\.$/u);
    expect(messageOf(input)?.length).toBeLessThan(1_000);
  });

  it('with thousands of wrong entries tell the first hundred, and count the others', () => {
    const parsed = parse(schema, { list: Array.from({ length: 5_000 }, () => 1) });
    expect(parsed.ok ? [] : parsed.issues).toHaveLength(101);
    expect(parsed.ok ? '' : parsed.issues.at(-1)).toBe('input: 4900 more problems like these');
  });

  it('with a wrong value are refused with its place', () => {
    expect(messageOf({ size: 'x' })).toMatch(/^Options are not usable: block\.size: .+\.$/u);
  });
});

describe('the version', () => {
  it('is that of the package', () => {
    expect(readVersion()).toBe(JSON.parse(readFileSync('package.json', 'utf8')).version);
  });

  it('is written by hand nowhere; those of the packages with weights are', () => {
    const byHand = readSources().filter(({ text }) => /\bversion\b.{0,20}'\d+\.\d+\.\d+'/u.test(text));
    expect(byHand.map(({ path }) => path)).toEqual(['core/model/store/sources.ts']);
  });
});

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
  expect([isNeverConnected(code, 'connect'), isNeverConnected(code, 'read')]).toEqual([isNever, false]);
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

describe('the nearest known name', () => {
  const known = ['read_mail', 'send_mail', 'stock_quote'];
  it.each([
    ['read_mial', 'read_mail'],
    ['READ_MAIL', 'read_mail'],
    ['send_mails', 'send_mail'],
    ['stockquote', 'stock_quote'],
  ])('of %s is %s', (wrong, near) => {
    expect(nearestName(wrong, known)).toBe(near);
  });

  it.each(['', 'xyzzy', 'mail', 'x'.repeat(5_000)])('of "%s" is none', (wrong) => {
    expect(nearestName(wrong, known)).toBeUndefined();
  });

  it('may be asked to be nearer', () => {
    expect(nearestName('read_mial', known, { maxSlips: 0.1 })).toBeUndefined();
  });
});

describe('near names', () => {
  const known = ['weather_forecast', 'weather_now', 'send_email', 'git_log', 'getLog', 'log'];
  it.each([
    ['wether_forecast', ['weather_forecast']],
    ['WEATHER_NOW', ['weather_now']],
    ['git_lgo', ['git_log']],
    ['get_log', ['git_log', 'getLog']],
    ['lo', []],
    ['calendar', []],
    ['', []],
  ])('of "%s"', (name, names) => {
    expect(nearestNames(name, known)).toEqual(names);
  });

  it('are three at most', () => {
    expect(nearestNames('a_tool', ['b_tool', 'c_tool', 'd_tool', 'e_tool'])).toHaveLength(3);
  });

  it('end a message', () => {
    expect([nearHint('git_lgo', known), nearHint('zzz', known)]).toEqual(['; near: git_log', '']);
  });
});
