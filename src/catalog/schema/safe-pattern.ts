/**
 * Regular expressions from strangers' schemas and from rules, tried so that none can hang the process. A simple pattern on a
 * short text is tried directly; all else runs under a time limit, and counts as "does not match" when the limit
 * is reached: catastrophic patterns run away on texts that do not match.
 */
import { createContext, Script } from 'node:vm';

export interface PatternTest {
  test(text: string): boolean;
  /** ajv shares the compiled form between patterns of one text. */
  toString(): string;
}

const TIME_LIMIT_IN_MS = 100;
const SHORT_TEXT_CHARACTERS = 256;
/** Longer texts are refused without a try. */
const LONGEST_TEXT_CHARACTERS = 100_000;

/** @throws SyntaxError where it is a regular expression neither with the flag `u` nor without. */
export function createSafePattern(pattern: string, { ignoreCase = false } = {}): PatternTest {
  const expression = compile(pattern, ignoreCase ? 'i' : '');
  const simple = isSimple(pattern);
  return {
    toString: () => pattern,
    test(text) {
      if (simple && text.length <= SHORT_TEXT_CHARACTERS) return expression.test(text);
      return text.length <= LONGEST_TEXT_CHARACTERS && testWithinLimit(expression, text);
    },
  };
}

/** Authors write for engines without `u` (`[\w-_]`, `\-`): those count too. */
function compile(pattern: string, flags: string): RegExp {
  try {
    return new RegExp(pattern, `${flags}u`);
  } catch {
    return new RegExp(pattern, flags);
  }
}

/** At most two repetitions, none over a group: at worst cubic, which a short text bounds. */
function isSimple(pattern: string): boolean {
  const plain = pattern.replace(/\\./gs, 'x').replace(/\[[^\]]*\]/g, 'x');
  const repetitions = plain.match(/[*+]|\{\d+,\d*\}/g) ?? [];
  return repetitions.length <= 2 && !/\)\s*([*+]|\{)/.test(plain);
}

function testWithinLimit(expression: RegExp, text: string): boolean {
  const sandbox = createContext({ source: expression.source, flags: expression.flags, text });
  try {
    return (
      new Script('new RegExp(source, flags).test(text)').runInContext(sandbox, { timeout: TIME_LIMIT_IN_MS }) === true
    );
  } catch {
    return false;
  }
}
