/**
 * Regular expressions from strangers' schemas and from rules, tried so that none can hang the process. A simple pattern on a
 * short text is tried directly; all else runs under a time limit, and counts as "does not match" when the limit
 * is reached: catastrophic patterns run away on texts that do not match.
 */
import { type Context, createContext, Script } from 'node:vm';

export interface PatternTest {
  test(text: string): boolean;
  /** ajv shares the compiled form between patterns of one text. */
  toString(): string;
}

const TIME_LIMIT_IN_MS = 100;
/** Of all patterns that share their trials. */
const BUDGET_IN_MS = 500;
const SHORT_TEXT_CHARACTERS = 256;
/** Longer texts are refused without a try. */
const LONGEST_TEXT_CHARACTERS = 100_000;

export interface SafePatternOptions {
  /** Default: false. */
  ignoreCase?: boolean;
  /** Shared by patterns that are tried together. Default: each try has a time limit of its own. */
  trials?: PatternTrials;
}

/** @throws SyntaxError where it is a regular expression neither with the flag `u` nor without. */
export function createSafePattern(pattern: string, options: SafePatternOptions = {}): PatternTest {
  const { ignoreCase = false, trials } = options;
  const expression = compile(pattern, ignoreCase ? 'i' : '');
  // Two choices on a short text take some 10 ms at worst: too much for each of hundreds.
  const simple = isSimple(pattern, { choices: trials ? 1 : 2 });
  return {
    toString: () => pattern,
    test(text) {
      if (simple && text.length <= SHORT_TEXT_CHARACTERS) return expression.test(text);
      return text.length <= LONGEST_TEXT_CHARACTERS && (trials ?? createPatternTrials())(expression, text);
    },
  };
}

export type PatternTrials = (expression: RegExp, text: string) => boolean;

/** Of tries that met the limit because the machine had no time for them. */
const MOST_TRIES = 3;
/** By the clock, of all tries that share a budget, however little of it was work. */
const LONGEST_IN_MS = 2_000;
/** Of the time limit: whoever met it with less work stood in line for a processor. */
const WORKED = 0.5;

/** Tries under a time limit each, and within one budget of work all together: once it is spent, none matches any more. */
export function createPatternTrials(): PatternTrials {
  let place: { sandbox: Context; script: Script } | undefined;
  const left = { workMs: BUDGET_IN_MS, clockMs: LONGEST_IN_MS };
  return (expression, text) => {
    place ??= { sandbox: createContext({}), script: new Script('new RegExp(source, flags).test(text)') };
    Object.assign(place.sandbox, { source: expression.source, flags: expression.flags, text });
    for (let tries = 1; tries <= MOST_TRIES && Math.min(left.workMs, left.clockMs) > 0; tries++) {
      const timeout = Math.ceil(Math.min(TIME_LIMIT_IN_MS, left.workMs, left.clockMs));
      const { workMs, clockMs, matches } = timed(place.script, { sandbox: place.sandbox, timeout });
      left.workMs -= workMs;
      left.clockMs -= clockMs;
      if (matches !== undefined) return matches;
      if (workMs > timeout * WORKED) return false;
    }
    return false;
  };
}

/** Work is processor time of this process, and never more than the clock says: other threads work beside. */
function timed(script: Script, { sandbox, timeout }: { sandbox: Context; timeout: number }) {
  const [clock, work] = [performance.now(), process.cpuUsage()];
  let matches: boolean | undefined;
  try {
    matches = script.runInContext(sandbox, { timeout }) === true;
  } catch {
    // The limit was met.
  }
  const clockMs = performance.now() - clock;
  const { user, system } = process.cpuUsage(work);
  return { matches, clockMs, workMs: Math.min(clockMs, (user + system) / 1000) };
}

/** Authors write for engines without `u` (`[\w-_]`, `\-`): those count too. */
function compile(pattern: string, flags: string): RegExp {
  try {
    return new RegExp(pattern, `${flags}u`);
  } catch {
    return new RegExp(pattern, flags);
  }
}

/**
 * Few places where one text can be matched in several ways (repetitions, options, alternatives), and no repetition of a
 * group: with two the work is at worst cubic, which a short text bounds. With each further one it may double.
 */
function isSimple(pattern: string, { choices }: { choices: number }): boolean {
  const plain = pattern
    .replace(/\\./gs, 'x')
    .replace(/\[[^\]]*\]/g, 'x')
    .replace(/\(\?(?:<?[=!]|:|<\w+>)/g, '(');
  const found = plain.match(/(?:[*+?]|\{\d+,\d*\})\??|\|/g) ?? [];
  return found.length <= choices && !/\)\s*([*+]|\{)/.test(plain);
}
