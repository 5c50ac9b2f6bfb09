import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { parse, parseOptions } from '../../src/core/parse.js';

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
  it('have their defaults', () => {
    expect(parseOptions(schema, {}, 'block')).toEqual({ size: 1, tools: {}, list: [] });
  });

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
