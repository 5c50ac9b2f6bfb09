/**
 * Whether a value can be used as a JSON Schema at all. Lenient, since schemas in the wild are messy and
 * `fit-schema.ts` mends them: refused is only what nothing can be made of.
 */
import { isObject } from '../schema/json.js';

/** Deeper nesting is a mistake or an attack: it ends in a stack overflow of some later step. */
const MAX_DEPTH = 200;

const SCHEMA_MAPS = ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'];
const SCHEMA_LISTS = ['allOf', 'anyOf', 'oneOf', 'prefixItems'];
const SCHEMAS = ['items', 'additionalProperties', 'not', 'if', 'then', 'else', 'contains', 'propertyNames'];

/** One problem a line, each with its path; none for a usable schema. */
export function findSchemaProblems(schema: unknown): string[] {
  if (!isObject(schema)) return ['not a JSON Schema object'];
  const problems: string[] = [];
  collectProblems(schema, '', problems);
  return problems;
}

function collectProblems(schema: unknown, path: string, problems: string[]): void {
  if (!isObject(schema)) return;
  if ('type' in schema && !isTypeForm(schema.type)) problems.push(`${path}type: neither a name nor a list of names`);
  if ('properties' in schema && !isObject(schema.properties)) problems.push(`${path}properties: not an object`);
  for (const key of SCHEMA_MAPS) {
    const map = schema[key];
    if (!isObject(map)) continue;
    for (const [name, value] of Object.entries(map)) collectProblems(value, `${path}${key}.${name}.`, problems);
  }
  for (const key of SCHEMA_LISTS) {
    const list = schema[key];
    if (!Array.isArray(list)) continue;
    for (const [index, value] of list.entries()) collectProblems(value, `${path}${key}.${index}.`, problems);
  }
  for (const key of SCHEMAS) collectProblems(schema[key], `${path}${key}.`, problems);
}

function isTypeForm(type: unknown): boolean {
  return typeof type === 'string' || (Array.isArray(type) && type.every((name) => typeof name === 'string'));
}

/** Cycles (YAML aliases, objects from code) and big integers can't be written as JSON. */
export function findJsonProblem(value: unknown): string | undefined {
  const done = new Set<unknown>();
  return isJson(value, 0) ? undefined : `not JSON: refers to itself, or is nested deeper than ${MAX_DEPTH}`;

  function isJson(part: unknown, depth: number): boolean {
    if (typeof part !== 'object' || part === null || done.has(part)) return typeof part !== 'bigint';
    if (depth > MAX_DEPTH) return false;
    if (!Object.values(part).every((child) => isJson(child, depth + 1))) return false;
    done.add(part);
    return true;
  }
}
