/** The errors of ajv as sentences that a person, or a model that is asked to repair, can act on. */
import type { ErrorObject } from 'ajv';
import { isObject, joinPath, jsonTypeOf, showJson } from './json.js';

const MAX_ISSUES = 20;
const MAX_LISTED = 40;
/** Say only that something below them is wrong, which the other issues tell. */
const SUMMARIES = new Set(['if', 'anyOf', 'oneOf', 'discriminator']);

/** One problem a line: `date: must match format "date"`. Never empty. */
export function renderIssues(errors: readonly ErrorObject[]): string[] {
  const told = withoutHopelessBranches(errors).map((error) => {
    const path = pathOf(error.instancePath);
    return { error, line: `${withMissing(path, error) || '(arguments)'}: ${sentence(error)}` };
  });
  const facts = told.filter(({ error }) => !SUMMARIES.has(error.keyword));
  const lines = [...new Set((facts.length > 0 ? facts : told).map(({ line }) => line))];
  if (lines.length <= MAX_ISSUES) return lines;
  return [...lines.slice(0, MAX_ISSUES), `and ${lines.length - MAX_ISSUES} problems more`];
}

function withMissing(path: string, error: ErrorObject): string {
  return error.keyword === 'required' ? joinPath(path, String(error.params.missingProperty)) : path;
}

/** `/items/0/id` -> `items[0].id`. */
function pathOf(pointer: string): string {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce((path, part) => joinPath(path, /^\d+$/.test(part) ? Number(part) : part), '');
}

function sentence(error: ErrorObject): string {
  const { params, data } = error;
  switch (error.keyword) {
    case 'required':
      return 'is required';
    case 'additionalProperties':
      return unknownArgument(params.additionalProperty, error);
    case 'unevaluatedProperties':
      return unknownArgument(params.unevaluatedProperty, error);
    case 'enum':
      return `must be one of ${listed(Array.isArray(params.allowedValues) ? params.allowedValues : [])}, not ${showJson(data)}`;
    case 'const':
      return `must be ${JSON.stringify(params.allowedValue)}, not ${showJson(data)}`;
    case 'type':
      return `must be ${[params.type].flat().join(' or ')}, not ${typeWord(data)}`;
    case 'format':
      return `must match format ${JSON.stringify(params.format)}`;
    case 'pattern':
      return `must match pattern ${JSON.stringify(params.pattern)}`;
    case 'not':
      return 'is of a form that is excluded';
    default:
      return (error.message ?? 'is not valid').replaceAll('NOT', 'not');
  }
}

function unknownArgument(name: unknown, error: ErrorObject): string {
  const declared: unknown = error.parentSchema?.properties;
  const known = isObject(declared) ? Object.keys(declared) : [];
  return `unknown argument ${JSON.stringify(name)}; known: ${known.length > 0 ? known.join(', ') : 'none'}`;
}

function listed(values: readonly unknown[]): string {
  const shown = values.slice(0, MAX_LISTED).map((value) => JSON.stringify(value));
  return values.length > MAX_LISTED ? `${shown.join(', ')} and ${values.length - MAX_LISTED} more` : shown.join(', ');
}

function typeWord(value: unknown): string {
  const type = jsonTypeOf(value);
  return type === 'integer' ? 'number' : type;
}

/**
 * A value that fits none of several forms fails in each of them. Only the form that it comes nearest to is
 * worth telling; where it is of the wrong kind for all, one line with all kinds.
 */
function withoutHopelessBranches(errors: readonly ErrorObject[]): ErrorObject[] {
  let left = [...errors];
  for (const error of errors) {
    const forms: unknown = error.schema;
    if ((error.keyword !== 'anyOf' && error.keyword !== 'oneOf') || !Array.isArray(forms)) continue;
    const branches = forms.map((form, index) => left.filter((other) => isOfBranch(other, { error, form, index })));
    const all = branches.flat();
    if (all.length === 0) continue;
    const near = branches.filter((branch) => branch.length > 0 && !branch.some((other) => isWrongKind(other, error)));
    const best = near.sort((one, other) => one.length - other.length)[0];
    const kept = best ?? mergedKinds(all, error);
    left = [...left.filter((other) => other !== error && !all.includes(other)), ...kept];
  }
  return left;
}

interface Branch {
  error: ErrorObject;
  form: unknown;
  index: number;
}

function isOfBranch(other: ErrorObject, { error, form, index }: Branch): boolean {
  const reference = isObject(form) && typeof form.$ref === 'string' ? form.$ref : undefined;
  if (!other.instancePath.startsWith(error.instancePath)) return false;
  const starts = [`${error.schemaPath}/${index}`, ...(reference === undefined ? [] : [reference])];
  return starts.some((start) => other.schemaPath === start || other.schemaPath.startsWith(`${start}/`));
}

function isWrongKind(other: ErrorObject, error: ErrorObject): boolean {
  const depth = other.instancePath.slice(error.instancePath.length).split('/').length - 1;
  return (other.keyword === 'type' && depth === 0) || (other.keyword === 'const' && depth <= 1);
}

function mergedKinds(errors: readonly ErrorObject[], { instancePath }: ErrorObject): ErrorObject[] {
  const kinds = errors.filter((error) => error.keyword === 'type' && error.instancePath === instancePath);
  const first = kinds[0];
  if (!first || kinds.length < errors.length) return [...errors];
  return [{ ...first, params: { type: [...new Set(kinds.flatMap((error) => error.params.type))] } }];
}
