/**
 * Checks values against the schemas of tools. Nothing is coerced, filled in or fetched. The author's schema
 * judges where a standard validator can read it; else its fitted form does.
 */
import type { ValidateFunction } from 'ajv';
import { fitWithReport } from './fit-schema.js';
import { compileSchema, DRAFT_2020 } from './schema/dialects.js';
import { renderIssues } from './schema/issues.js';
import type { JsonSchema, Tool } from './tool.js';

export type CheckResult = { ok: true } | { ok: false; issues: string[] };
export type Check = (value: unknown) => CheckResult;

export interface Validator {
  readonly check: Check;
  /** Which form of the schema judges. */
  readonly source: 'original' | 'fitted';
}

/**
 * The original schema where ajv compiles it and it means what its author meant; else the fitted one, which
 * always compiles. Patterns: see `schema/safe-pattern.ts`. Formats `time` and `date-time` need no time zone and
 * no seconds; unknown formats are ignored.
 */
export function createValidator(schema: JsonSchema): Check {
  return buildValidator(schema, false).check;
}

const validators = new WeakMap<Tool, Validator>();

/** The check of a tool's arguments, compiled once a tool. */
export function validatorFor(tool: Tool): Validator {
  let validator = validators.get(tool);
  if (!validator) {
    validator = buildValidator(tool.inputSchema, true);
    validators.set(tool, validator);
  }
  return validator;
}

/** A tool's arguments are always an object: an original that refuses objects would refuse every call. */
function buildValidator(schema: JsonSchema, isForArguments: boolean): Validator {
  const report = fitWithReport(schema);
  const original = report.misread || (isForArguments && report.forcedRoot) ? undefined : tryCompile(schema);
  if (original) return { check: toCheck(original), source: 'original' };
  return { check: toCheck(compileSchema(report.schema, DRAFT_2020)), source: 'fitted' };
}

function tryCompile(schema: JsonSchema): ValidateFunction | undefined {
  try {
    return compileSchema(schema);
  } catch {
    // ajv says why; for authors `fitSchema` says it better, in its notes.
    return undefined;
  }
}

function toCheck(validate: ValidateFunction): Check {
  return (value) => {
    try {
      if (validate(value)) return { ok: true };
      return { ok: false, issues: renderIssues(validate.errors ?? []) };
    } catch (error) {
      // A schema that refers to itself without end, or a value nested too deeply.
      if (!(error instanceof RangeError)) throw error;
      return { ok: false, issues: ['(arguments): nested too deeply to be checked'] };
    }
  };
}
