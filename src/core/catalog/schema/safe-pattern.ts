/**
 * Regular expressions from strangers' schemas and from rules, tried so that none can hang the process. What takes few steps
 * at worst is tried directly; all else runs under a time limit, and is undecided when the limit is reached: catastrophic
 * patterns run away on texts that do not match.
 */
import { type Context, createContext, Script } from 'node:vm';
import { stepsOf } from './pattern-steps.js';

export interface SafePattern {
  /**
   * Undefined: it could not be decided within the limits.
   * @param trials shared by patterns that are tried together. Default: each try has a time limit of its own.
   */
  matches(text: string, trials?: PatternTrials): boolean | undefined;
  /** What could not be decided does not match. */
  test(text: string): boolean;
  /** ajv shares the compiled form between patterns of one text. */
  toString(): string;
}

const TIME_LIMIT_IN_MS = 100;
/** Of all patterns that share their trials. */
const BUDGET_IN_MS = 500;
/** Some 10 ms at worst. */
const MOST_STEPS = 256 ** 3;
/** Of each of hundreds that share their trials. */
const MOST_STEPS_OF_ONE = 256 ** 2;
/** Longer texts are tried only with what takes few steps. */
const LONGEST_TEXT_CHARACTERS = 1_000_000;

export interface SafePatternOptions {
  /** Default: false. */
  ignoreCase?: boolean;
}

/** @throws SyntaxError where it is a regular expression neither with the flag `u` nor without. */
export function createSafePattern(pattern: string, { ignoreCase = false }: SafePatternOptions = {}): SafePattern {
  const expression = compile(pattern, ignoreCase ? 'i' : '');
  const steps = stepsOf(pattern);
  function matches(text: string, trials?: PatternTrials): boolean | undefined {
    if (steps(text.length) <= (trials ? MOST_STEPS_OF_ONE : MOST_STEPS)) return expression.test(text);
    if (text.length > LONGEST_TEXT_CHARACTERS) return undefined;
    return (trials ?? createPatternTrials())(expression, text);
  }
  return { matches, test: (text) => matches(text) === true, toString: () => pattern };
}

/** Undefined: the limit was met, or the budget is spent. */
export type PatternTrials = (expression: RegExp, text: string) => boolean | undefined;

/** Of tries that met the limit because the machine had no time for them. */
const MOST_TRIES = 3;
/** By the clock, of all tries that share a budget, however little of it was work. */
const LONGEST_IN_MS = 2_000;
/** Of the time limit: whoever met it with less work stood in line for a processor. */
const WORKED = 0.5;

/** Tries under a time limit each, and within one budget of work all together: once it is spent, none is decided any more. */
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
      if (workMs > timeout * WORKED) return undefined;
    }
    return undefined;
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
