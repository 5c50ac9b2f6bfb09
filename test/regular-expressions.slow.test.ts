/**
 * Whoever writes a text must not decide how long it is read: each regular expression of `src` runs on texts that repeat one
 * part, and may take no more than linear time. Growth is measured in processor time, the least of several runs.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync } from '@swc/core';
import { describe, expect, it } from 'vitest';

interface Expression {
  readonly pattern: string;
  readonly flags: string;
}

const PARTS =
  'a|1| |a |1 |\n|-|_|a_|.|a.|"|\'|`|{|}|${|{{|(|[|<|/|\\|s1 |水|\u0301|A|aA|1.|1,|:|@|a@|“|！|\u200d|\ufe0f|❤|=|+|&#1|http://|*|#|, |; '
    .split('|')
    .concat('|');

/** The words and characters of a pattern, which it may stumble over. */
function partsOf(pattern: string): string[] {
  const words = [...pattern.matchAll(/(?<!\\p\{[\w=]{0,40})[A-Za-z]{2,}/gu)].map(([word]) => word).slice(0, 12);
  const characters = [...pattern.replace(/\\[a-z]/giu, '').replace(/[\\()[\]?*+^$|]/gu, '')].slice(0, 15);
  return [...new Set([...PARTS, ...words.flatMap((word) => [word, `${word} `]), ...characters])];
}

function run(expression: RegExp, text: string): void {
  if (!expression.global) expression.test(text);
  else for (const _ of text.matchAll(expression));
}

const RUNS = 3;

function leastMs(expression: RegExp, text: string): number {
  const times = Array.from({ length: RUNS }, () => {
    const start = process.cpuUsage();
    run(expression, text);
    return process.cpuUsage(start).user / 1_000;
  });
  return Math.min(...times);
}

/** An expression that backtracks exponentially would not end with a longer text. */
const SHORT = { characters: 24, ms: 30 };
/** Quick to run: a text that takes less is not looked at any further. */
const PROBE = { characters: 1_000, ms: 0.2 };
/**
 * Four times the text takes four times as long where time is linear, and 16 times where it is quadratic. Both lengths have to
 * show it: a bound such as `{1,400}` looks quadratic on short texts, and times below the least are noise.
 */
const GROWTH = { from: [4_000, 16_000], times: 8, ms: 20 };

/** The first text that takes more than linear time, as its beginning and what it repeats. */
function findSlowText({ pattern, flags }: Expression): string | undefined {
  const expression = new RegExp(pattern, flags);
  const parts = partsOf(pattern);
  for (const before of ['', ...parts])
    for (const part of parts) {
      const textOf = (characters: number) => `${before}${part.repeat(Math.ceil(characters / part.length))}\u0000`;
      const take = (characters: number) => {
        const start = performance.now();
        run(expression, textOf(characters));
        return performance.now() - start;
      };
      const shown = JSON.stringify([before, part]);
      if (take(SHORT.characters) > SHORT.ms && leastMs(expression, textOf(SHORT.characters)) > SHORT.ms) return shown;
      if (take(PROBE.characters) < PROBE.ms) continue;
      const grows = (characters: number) => {
        const most = leastMs(expression, textOf(4 * characters));
        return most > GROWTH.ms && most > GROWTH.times * leastMs(expression, textOf(characters));
      };
      if (GROWTH.from.every(grows)) return shown;
    }
  return undefined;
}

function expressionsIn(file: string): Expression[] {
  const found: Expression[] = [];
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    if ('type' in node && node.type === 'RegExpLiteral' && 'pattern' in node && 'flags' in node)
      found.push({ pattern: String(node.pattern), flags: String(node.flags) });
    for (const child of Object.values(node)) visit(child);
  };
  visit(parseSync(readFileSync(file, 'utf8'), { syntax: file.endsWith('.ts') ? 'typescript' : 'ecmascript' }));
  // Without a repetition there is nothing to go back over.
  return found.filter(({ pattern }) => /[*+}]/u.test(pattern));
}

const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((name) => /\.[jt]s$/u.test(name));
const cases = files.map((name) => ({ name, expressions: expressionsIn(join('src', name)) }));

describe('a regular expression takes linear time', () => {
  it.each(cases.filter(({ expressions }) => expressions.length > 0))('in $name', ({ expressions }) => {
    const slow = expressions.flatMap((one) => {
      const text = findSlowText(one);
      return text === undefined ? [] : [`/${one.pattern}/${one.flags} on ${text}`];
    });
    expect(slow).toEqual([]);
  });

  it.each([/\{\{[^{}]*\bs\d+\b[^{}]*\}\}/gu, /[.\s]+$/u, /(?:a|a)+b/u])('or is found: %s', ({ source, flags }) => {
    expect(findSlowText({ pattern: source, flags })).toBeDefined();
  });
});
