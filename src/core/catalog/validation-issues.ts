/**
 * What a check found, as sentences that a person, or a model that is asked to repair, can act on. They quote no value that
 * the schema marks secret.
 */
import type { ErrorObject } from 'ajv';
import { MASK } from '../secret-forms.js';
import { isContainer, isObject, joinPath, jsonTypeOf, showJson } from './schema/json.js';
import { pointerParts } from './schema/references.js';

const MAX_ISSUES = 20;
const MAX_ERRORS = 200;
/** Some may say the same. */
const MAX_RENDERED = 60;
const MAX_LISTED = 40;
/** These only say that something below them is wrong; other issues give the details. */
const SUMMARIES = new Set(['if', 'anyOf', 'oneOf']);

type Test = (error: ErrorObject) => boolean;

/**
 * @param shown the checked value without its secrets
 * @param isOpen whether the error is about a value that is not known yet
 */
export function renderIssues(errors: readonly ErrorObject[], shown: unknown, isOpen: Test): string[] {
  const relevant = withoutHopelessForms(errors.slice(0, MAX_ERRORS), isOpen);
  const details = relevant.filter(({ keyword }) => !SUMMARIES.has(keyword));
  const known = (details.length > 0 ? details : relevant).filter((error) => !isOpen(error));
  const lines = [...new Set(known.slice(0, MAX_RENDERED).map((error) => renderIssue(error, shown)))];
  const unread = Math.max(0, errors.length - MAX_ERRORS) + Math.max(0, known.length - MAX_RENDERED);
  const more = lines.length > 0 ? unread : 0;
  if (lines.length <= MAX_ISSUES && more === 0) return lines;
  return [...lines.slice(0, MAX_ISSUES), `and ${Math.max(0, lines.length - MAX_ISSUES) + more} problems more`];
}

function renderIssue(error: ErrorObject, shown: unknown): string {
  const { keyword, instancePath, params } = error;
  const missing = keyword === 'required' ? [String(params.missingProperty)] : [];
  const { path, part } = follow(shown, pointerParts(instancePath));
  return `${[...path, ...missing].reduce<string>(joinPath, '') || '(arguments)'}: ${sentence(error, part)}`;
}

/** The part of the value at a path. A secret ends it, since names inside it are secret, too. */
function follow(shown: unknown, parts: readonly string[]) {
  const path: (string | number)[] = [];
  let part = shown;
  for (const name of parts) {
    if (part === MASK) break;
    path.push(/^\d+$/.test(name) ? Number(name) : name);
    part = Reflect.get(Object(part), name);
  }
  return { path, part };
}

function sentence({ keyword, params, data, message, parentSchema }: ErrorObject, part: unknown): string {
  const isSecret = part === MASK;
  // Of a rule about names, the data is the name.
  const but = () => (isSecret ? '' : `, not ${showJson(isContainer(data) ? part : data)}`);
  switch (keyword) {
    case 'required':
      return 'is required';
    case 'additionalProperties':
    case 'unevaluatedProperties': {
      const known = namesIn(Object.keys(Object(parentSchema?.properties))) || 'none';
      const name = isSecret ? '' : ` ${JSON.stringify(params.additionalProperty ?? params.unevaluatedProperty)}`;
      return `unknown argument${name}; known: ${known}`;
    }
    case 'enum':
      return `must be one of ${listed(params.allowedValues)}${but()}`;
    case 'const':
      return `must be ${JSON.stringify(params.allowedValue)}${but()}`;
    case 'type':
      return `must be ${[params.type].flat().join(' or ')}, not ${jsonTypeOf(data).replace('integer', 'number')}`;
    default:
      return (message ?? 'is not valid').replaceAll('NOT', 'not');
  }
}

function listed(values: readonly unknown[]): string {
  return namesIn(
    values.slice(0, MAX_LISTED).map((value) => JSON.stringify(value)),
    values.length,
  );
}

function namesIn(names: readonly string[], total = names.length): string {
  const shown = names.slice(0, MAX_LISTED).join(', ');
  return total > MAX_LISTED ? `${shown} and ${total - MAX_LISTED} more` : shown;
}

/**
 * A value that fits none of several forms has errors in each. Keeps the errors of the nearest form only; if its type is
 * wrong for all forms, one line lists all types.
 */
function withoutHopelessForms(errors: readonly ErrorObject[], isOpen: Test): ErrorObject[] {
  return errors
    .filter(({ keyword }) => keyword === 'anyOf' || keyword === 'oneOf')
    .reduce(
      (left, choice) => {
        const forms: readonly unknown[] = Array.isArray(choice.schema) ? choice.schema : [];
        const isOf = forms.map((form, index) => isOfForm(choice, form, index));
        const branches = isOf.map((isOfIt) => left.filter(isOfIt));
        const all = branches.flat();
        // A form may still fit if only unknown parts violate it.
        const holds = branches.some((branch, place) => branch.every(isOpen) && errors.some(isOf[place] ?? isOpen));
        if (holds) return left.filter((other) => other !== choice && !all.includes(other));
        if (all.length === 0) return left;
        const near = branches.filter((branch) => branch.length > 0 && !branch.some((one) => isWrongKind(one, choice)));
        const best = near.sort((one, other) => one.length - other.length)[0];
        const others = left.filter((other) => other !== choice && !all.includes(other));
        return [...others, ...(best ?? inOneLine(all, choice))];
      },
      [...errors],
    );
}

function isOfForm({ instancePath, schemaPath }: ErrorObject, form: unknown, index: number) {
  const starts = [`${schemaPath}/${index}`, ...(isObject(form) && typeof form.$ref === 'string' ? [form.$ref] : [])];
  return (other: ErrorObject) =>
    other.instancePath.startsWith(instancePath) &&
    starts.some((start) => other.schemaPath === start || other.schemaPath.startsWith(`${start}/`));
}

function isWrongKind(error: ErrorObject, choice: ErrorObject): boolean {
  const depth = error.instancePath.slice(choice.instancePath.length).split('/').length - 1;
  return (error.keyword === 'type' && depth === 0) || (error.keyword === 'const' && depth <= 1);
}

function inOneLine(errors: readonly ErrorObject[], { instancePath }: ErrorObject): readonly ErrorObject[] {
  const [first] = errors;
  const areKinds = errors.every((error) => error.keyword === 'type' && error.instancePath === instancePath);
  if (!first || !areKinds) return errors;
  return [{ ...first, params: { type: [...new Set(errors.flatMap((error) => error.params.type))] } }];
}
