/** One ajv for each draft of JSON Schema, and which of them a schema was written for. */
import type { AnySchemaObject, Options, ValidateFunction } from 'ajv';
import { Ajv } from 'ajv';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import ajvDraft04 from 'ajv-draft-04';
import ajvFormats from 'ajv-formats';
import type { JsonSchema } from '../tool.js';
import { isObject } from './json.js';
import { createSafePattern } from './safe-pattern.js';

/** The part of ajv that is used here, the same in all drafts. */
interface Compiler {
  compile(schema: AnySchemaObject): ValidateFunction;
  removeSchema(schema: AnySchemaObject): unknown;
}

interface Dialect {
  readonly create: () => Compiler;
}

const DRAFT_04: Dialect = { create: () => withFormats(new ajvDraft04.default(ajvOptions())) };
const DRAFT_07: Dialect = {
  create: () => {
    const ajv = withFormats(new Ajv(ajvOptions()));
    ajv.addMetaSchema({
      $id: 'http://json-schema.org/draft-06/schema#',
      $ref: 'http://json-schema.org/draft-07/schema#',
    });
    return ajv;
  },
};
const DRAFT_2019: Dialect = { create: () => withFormats(new Ajv2019(ajvOptions())) };
export const DRAFT_2020: Dialect = { create: () => withFormats(new Ajv2020(ajvOptions())) };

const compilers = new WeakMap<Dialect, Compiler>();

/**
 * A check compiled by the draft that the schema was written for.
 * @throws Error of ajv where the schema is not valid in that draft, or refers to what is not in it.
 */
export function compileSchema(schema: JsonSchema, dialect: Dialect = dialectOf(schema)): ValidateFunction {
  // A schema could ask for a check that returns a promise.
  if ('$async' in schema) throw new Error('$async is not supported');
  const document = withoutOwnName(schema);
  const compiler = compilerFor(document, dialect);
  try {
    return compiler.compile(document);
  } finally {
    compiler.removeSchema(document);
  }
}

/** Documents without a name can't clash, and none can answer a reference of another. */
function withoutOwnName(schema: JsonSchema): Record<string, unknown> {
  return Object.fromEntries(Object.entries(schema).filter(([key, value]) => key !== '$id' && !isOldName(key, value)));
}

function isOldName(key: string, value: unknown): boolean {
  return key === 'id' && typeof value === 'string';
}

function compilerFor(document: JsonSchema, dialect: Dialect): Compiler {
  // Names below the root would stay in a shared compiler.
  if (usesForm(document, (node) => ['$id', 'id', '$anchor'].some((key) => typeof node[key] === 'string'))) {
    return dialect.create();
  }
  let compiler = compilers.get(dialect);
  if (!compiler) {
    compiler = dialect.create();
    compilers.set(dialect, compiler);
  }
  return compiler;
}

function ajvOptions(): Options {
  const regExp = Object.assign((pattern: string) => createSafePattern(pattern), { code: 'createSafePattern' });
  // Copies of the schema and the data in errors (verbose) are what readable issues are made of. Without ajv's passes
  // over the code that it writes a check is compiled in half the time, and judges as fast.
  // An argument may be called `constructor`: what an object inherits is none.
  return {
    strict: false,
    ownProperties: true,
    allErrors: true,
    verbose: true,
    logger: false,
    code: { regExp, optimize: false },
  };
}

function withFormats<T extends Ajv>(ajv: T): T {
  ajvFormats.default(ajv);
  // Tool authors mean clock times and local dates; RFC 3339 wants a time zone and seconds.
  ajv.addFormat('time', /^([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d+)?)?(z|[+-]\d\d:?\d\d)?$/i);
  ajv.addFormat('date-time', (text: string) => isDateTime(text));
  ajv.addFormat('regex', (text: string) => isPattern(text));
  return ajv;
}

function isDateTime(text: string): boolean {
  const match = /^(\d{4}-\d\d-\d\d)[t ]([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d+)?)?(z|[+-]\d\d:?\d\d)?$/i.exec(text);
  const day = match?.[1];
  if (day === undefined) return false;
  const date = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(day);
}

function isPattern(text: string): boolean {
  try {
    createSafePattern(text);
    return true;
  } catch {
    return false;
  }
}

/** By `$schema`, else by forms that only one draft has, else 2020-12. */
function dialectOf(schema: JsonSchema): Dialect {
  const named = typeof schema.$schema === 'string' ? schema.$schema : '';
  if (/draft-0[34]/.test(named)) return DRAFT_04;
  if (/draft-0[67]/.test(named)) return DRAFT_07;
  if (/2019-09/.test(named)) return DRAFT_2019;
  if (named !== '') return DRAFT_2020;
  if (
    usesForm(schema, (node) => typeof node.exclusiveMinimum === 'boolean' || typeof node.exclusiveMaximum === 'boolean')
  ) {
    return DRAFT_04;
  }
  if (usesForm(schema, (node) => '$recursiveRef' in node)) return DRAFT_2019;
  const isOld = (node: JsonSchema) => Array.isArray(node.items) || isObject(node.dependencies);
  return usesForm(schema, isOld) ? DRAFT_07 : DRAFT_2020;
}

function usesForm(node: unknown, isForm: (node: JsonSchema) => boolean): boolean {
  if (Array.isArray(node)) return node.some((item) => usesForm(item, isForm));
  return isObject(node) && (isForm(node) || Object.values(node).some((child) => usesForm(child, isForm)));
}
