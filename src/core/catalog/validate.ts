/**
 * Checks values against the schemas of tools by ajv. Nothing is coerced, filled in or fetched. The author's schema
 * judges where a standard validator can read it, else its normalised form.
 */
import type { ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import ajvFormats from 'ajv-formats';
import { renderIssues } from './schema/issues.js';
import { childrenOf, isObject, typesOf } from './schema/json.js';
import { type NormalisedSchema, normaliseArguments, normaliseSchema, upgradeSchema } from './schema/normalise.js';
import { createSafePattern } from './schema/safe-pattern.js';
import type { JsonSchema, Tool } from './tool.js';

export type CheckResult = { ok: true } | { ok: false; issues: string[] };
export type Check = (value: unknown) => CheckResult;

export interface Validator {
  readonly check: Check;
  /** Which form of the schema judges. */
  readonly source: 'original' | 'normalised';
}

/**
 * A check of any value. Patterns: see `schema/safe-pattern.ts`. The formats `time` and `date-time` need no time zone and
 * no seconds; unknown formats are ignored.
 */
export function createValidator(schema: JsonSchema): Check {
  return build(schema, normaliseSchema(schema)).check;
}

const validators = new WeakMap<Tool, Validator>();

/** The check of a tool's arguments, compiled once a tool. */
export function validatorFor(tool: Tool): Validator {
  const known = validators.get(tool);
  if (known) return known;
  const validator = build(tool.inputSchema, normaliseArguments(tool.inputSchema), 'object');
  validators.set(tool, validator);
  return validator;
}

/** Arguments are always an object, so an original that refuses objects would refuse every call. */
function build(schema: JsonSchema, normalised: NormalisedSchema, root?: 'object'): Validator {
  const upgraded = upgradeSchema(schema);
  const types = typesOf(upgraded);
  const isUsable = !normalised.isMisread && (root === undefined || types.length === 0 || types.includes(root));
  const original = isUsable ? compile(upgraded, true) : undefined;
  if (original) return { check: toCheck(original), source: 'original' };
  const judge = compile(normalised.schema, false) ?? compile(root === undefined ? {} : { type: root }, false);
  return { check: judge ? toCheck(judge) : () => ({ ok: true }), source: 'normalised' };
}

const compilers = new WeakMap<typeof Ajv2020, Ajv2020>();

/** Undefined where ajv does not take the schema. */
function compile(schema: JsonSchema, isStrict: boolean): ValidateFunction | undefined {
  // An anchor would stay in a shared compiler.
  const ajv = holdsAnchor(schema) ? createCompiler() : (compilers.get(Ajv2020) ?? createCompiler());
  if (!holdsAnchor(schema)) compilers.set(Ajv2020, ajv);
  try {
    return isStrict && ajv.validateSchema(schema) !== true ? undefined : ajv.compile(schema);
  } catch {
    return undefined;
  } finally {
    ajv.removeSchema(schema);
  }
}

function holdsAnchor(node: JsonSchema): boolean {
  return (
    '$anchor' in node ||
    '$dynamicAnchor' in node ||
    childrenOf(node).some(({ value }) => isObject(value) && holdsAnchor(value))
  );
}

/**
 * `verbose` puts schema and data into errors, for readable issues. Without `optimize` a check compiles in half the time
 * and judges as fast. `ownProperties`: an argument may be called `constructor`.
 */
function createCompiler(): Ajv2020 {
  const regExp = Object.assign((pattern: string) => createSafePattern(pattern), { code: 'createSafePattern' });
  const code = { regExp, optimize: false };
  const more = { strict: false, validateSchema: false, ownProperties: true, logger: false } as const;
  const ajv = new Ajv2020({ ...more, allErrors: true, verbose: true, code });
  ajvFormats.default(ajv);
  // Tool authors mean clock times and local dates; RFC 3339 wants a time zone and seconds.
  ajv.addFormat('time', /^([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d+)?)?(z|[+-]\d\d:?\d\d)?$/i);
  ajv.addFormat('date-time', (text: string) => isDateTime(text));
  ajv.addFormat('regex', (text: string) => isPattern(text));
  return ajv;
}

function isDateTime(text: string): boolean {
  const match = /^(\d{4}-\d\d-\d\d)[t ]([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d+)?)?(z|[+-]\d\d:?\d\d)?$/i.exec(text);
  const date = new Date(`${match?.[1]}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(match?.[1] ?? '-');
}

function isPattern(text: string): boolean {
  try {
    return createSafePattern(text).toString() === text;
  } catch {
    return false;
  }
}

function toCheck(validate: ValidateFunction): Check {
  return (value) => {
    try {
      return validate(value) ? { ok: true } : { ok: false, issues: renderIssues(validate.errors ?? []) };
    } catch (error) {
      // A schema that refers to itself without end, or a value nested too deeply.
      if (!(error instanceof RangeError)) throw error;
      return { ok: false, issues: ['(arguments): nested too deeply to be checked'] };
    }
  };
}
