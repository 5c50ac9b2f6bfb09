/**
 * Checks values against the schemas of tools with ajv. Nothing is coerced, filled in or fetched.
 */
import type { ErrorObject, ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { DataValidateFunction } from 'ajv/dist/types/index.js';
import ajvFormats from 'ajv-formats';
import { oncePer } from '../kept.js';
import { MASK } from '../secret-forms.js';
import { demandNodes } from './schema/bounds.js';
import { isObject, listOf, mapChildren, objectOf, typesOf, weightOf } from './schema/json.js';
import { normaliseSchema } from './schema/normalise.js';
import { pointerParts } from './schema/references.js';
import { createSafePattern, createStepBudget, type StepBudget } from './schema/safe-pattern.js';
import { mapSecrets } from './schema/secrets.js';
import type { JsonSchema, Tool } from './tool.js';
import { renderIssues } from './validation-issues.js';

type CheckResult = { ok: true } | { ok: false; issues: string[] };

/** A place in the value that is not known yet: all of it, or part of a text that is inserted later. */
export interface OpenPlace {
  readonly path: readonly (string | number)[];
  readonly isWhole: boolean;
}

/** @param open places that are not known yet: what depends on them is not checked. Default: none */
type Check = (value: unknown, open?: readonly OpenPlace[]) => CheckResult;

/**
 * A check of any value. Patterns: see `schema/safe-pattern.ts`. The formats `time` and `date-time` need no time zone and
 * no seconds; unknown formats are ignored. If the schema can't be compiled, any object passes.
 */
export function createValidator(schema: JsonSchema): Check {
  return compile(normaliseSchema(schema).schema, schema);
}

/** The check of a tool's arguments, compiled once per tool. They must be an object, whatever its schema says. */
export const validatorFor = oncePer((tool: Tool): Check => {
  const { schema } = normaliseSchema(tool.inputSchema);
  const types = typesOf(schema);
  const isUsable = types.length === 0 || types.includes('object');
  return compile({ ...(isUsable ? schema : {}), type: 'object' }, tool.inputSchema);
});

/** @param marked the schema as it was given, whose marks say which values no issue may quote */
function compile(schema: JsonSchema, marked: JsonSchema): Check {
  const { ajv, patterns, work } = createCompiler();
  try {
    return toCheck(ajv.compile(withSteps(schema)), { marked, patterns, work });
  } catch {
    return compile({ type: 'object' }, marked);
  }
}

/** Steps that take about 0.1 s. Arguments need some hundred; a result of 1 MiB needs about a third of these. */
const MOST_WORK = 2 ** 18;
const STEPS = 'x-winnow-steps';

/** Steps of one schema node: `own` for what it lists, and `each` for every part of the value. */
interface Steps {
  readonly own: number;
  readonly each: number;
}

/** Makes each node count its steps at run time: references inside `anyOf` can double them with each level of the value. */
function withSteps(node: JsonSchema): JsonSchema {
  const { properties, patternProperties, required = [], enum: values = node.const } = node;
  const listed = values === undefined ? 0 : weightOf(values);
  const steps: Steps = {
    own:
      listed + Object.keys(objectOf(properties)).length + listOf(required).length + demandNodes(node) + formSteps(node),
    each: 1 + Object.keys(objectOf(patternProperties)).length,
  };
  return { ...mapChildren(node, ({ value }) => (isObject(value) ? withSteps(value) : value)), [STEPS]: steps };
}

/** Steps of an alternative that fails: ajv makes an error of it. */
const STEPS_PER_FORM = 4;
const FEW_FORMS = 8;

/** A few alternatives are how most schemas say "or null". */
function formSteps({ anyOf, oneOf }: JsonSchema): number {
  const forms = [anyOf, oneOf].flatMap((listed) => (Array.isArray(listed) ? listed : [])).length;
  return forms > FEW_FORMS ? forms * STEPS_PER_FORM : 0;
}

function spend(work: StepBudget, steps: number): true {
  work.left -= steps;
  if (work.left < 0) throw new RangeError(TOO_MUCH_WORK);
  return true;
}

/**
 * One instance per check: ajv keeps all that it has compiled, and tools come and go with requests. `verbose` puts schema and
 * data into errors, for readable issues. Without `optimize` a check compiles in half the time and runs as fast.
 * `ownProperties`: an argument may be called `constructor`. The patterns of one check share one budget.
 */
function createCompiler() {
  const [patterns, work] = [createStepBudget(), { left: MOST_WORK }];
  const regExp = (pattern: string) => {
    const { matches } = createSafePattern(pattern);
    return { test: (text: string) => matches(text, patterns) === true, toString: () => pattern };
  };
  const code = { regExp: Object.assign(regExp, { code: 'createSafePattern' }), optimize: false };
  const more = { strict: false, validateSchema: false, meta: false, ownProperties: true, logger: false } as const;
  const ajv = new Ajv2020({ ...more, allErrors: true, verbose: true, code });
  ajvFormats.default(ajv);
  // The built-in keyword compares each element with every other.
  ajv.removeKeyword('uniqueItems');
  const compareAll = (isAsked: boolean) => uniqueItems(isAsked, work);
  ajv.addKeyword({ keyword: 'uniqueItems', type: 'array', schemaType: 'boolean', compile: compareAll, errors: true });
  const count = ({ own, each }: Steps, value: unknown) => spend(work, own + each * sizeOf(value));
  ajv.addKeyword({ keyword: STEPS, before: '$ref', schemaType: 'object', validate: count, errors: false });
  // Tool authors mean clock times and local dates; RFC 3339 requires a time zone and seconds.
  const time = String.raw`([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d+)?)?(z|[+-]\d\d:?\d\d)?$`;
  const dateTime = new RegExp(String.raw`^(\d{4}-\d\d-\d\d)[t ]${time}`, 'i');
  ajv.addFormat('time', new RegExp(`^${time}`, 'i'));
  ajv.addFormat('date-time', (text: string) => isDay(dateTime.exec(text)?.[1]));
  // An expression of a stranger is no more than a text: to compile it takes a second for 50 kB.
  ajv.addFormat('regex', true);
  // The package's own format takes time quadratic in the text's length.
  ajv.addFormat('url', (text: string) => /^(?:https?|ftp):\/\/\S+$/iu.test(text) && URL.canParse(text));
  return { ajv, patterns, work };
}

/** Direct parts of a value; a long text counts for several. */
function sizeOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return weightOf(value);
  return 1 + (Array.isArray(value) ? value : Object.keys(value)).length;
}

function uniqueItems(isAsked: boolean, work: StepBudget): DataValidateFunction {
  const validate: DataValidateFunction = (items: readonly unknown[]) => {
    const places = new Map<string, number>();
    for (const [place, item] of isAsked ? items.entries() : []) {
      spend(work, weightOf(item));
      const text = JSON.stringify(item, inOrder);
      const first = places.get(text);
      places.set(text, place);
      if (first === undefined) continue;
      const message = `must not have duplicate items (${first} and ${place} are the same)`;
      validate.errors = [{ keyword: 'uniqueItems', message, params: { i: place, j: first } }];
      return false;
    }
    return true;
  };
  return validate;
}

function inOrder(_: string, part: unknown): unknown {
  return isObject(part)
    ? Object.fromEntries(Object.entries(part).sort(([one], [other]) => (one < other ? -1 : 1)))
    : part;
}

function isDay(text = ''): boolean {
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

interface Checking extends Record<'patterns' | 'work', StepBudget> {
  readonly marked: JsonSchema;
}

function toCheck(validate: ValidateFunction, { marked, patterns, work }: Checking): Check {
  return (value, open = []) => {
    Object.assign(patterns, createStepBudget());
    work.left = MOST_WORK;
    try {
      if (validate(value)) return { ok: true };
    } catch (error) {
      // The work limit, a schema with endless recursion, or a value nested too deeply.
      if (!(error instanceof RangeError)) throw error;
      return { ok: false, issues: [work.left < 0 ? TOO_MUCH_WORK : '(arguments): nested too deeply to be checked'] };
    }
    const unknown = openTree(open);
    const shown = mapSecrets(marked, value, () => MASK);
    const issues = renderIssues(validate.errors ?? [], shown, (error) => dependsOn(error, unknown));
    return issues.length === 0 ? { ok: true } : { ok: false, issues };
  };
}

/** Unknown places by the parts of their paths, so that an error looks along its own path alone. */
interface OpenNode {
  isWhole: boolean;
  isText: boolean;
  readonly parts: Map<string, OpenNode>;
}

const openNode = (): OpenNode => ({ isWhole: false, isText: false, parts: new Map() });

function openTree(places: readonly OpenPlace[]): OpenNode {
  const root = openNode();
  for (const { path, isWhole } of places) {
    let node = root;
    for (const part of path) {
      const next = node.parts.get(String(part)) ?? openNode();
      node.parts.set(String(part), next);
      node = next;
    }
    if (isWhole) node.isWhole = true;
    else node.isText = true;
  }
  return root;
}

/** Errors at or below an unknown value, about the form of a partly known text, or about its equality to others. */
function dependsOn({ instancePath, keyword }: ErrorObject, root: OpenNode): boolean {
  let node = root;
  for (const part of pointerParts(instancePath)) {
    const next = node.parts.get(part);
    if (node.isWhole || !next) return node.isWhole;
    node = next;
  }
  if (node.isWhole) return true;
  if (keyword === 'uniqueItems') return [...node.parts.values()].some(({ isWhole, isText }) => isWhole || isText);
  return node.isText && ['pattern', 'format', 'minLength', 'maxLength'].includes(keyword);
}

const TOO_MUCH_WORK = `(arguments): takes more than ${MOST_WORK} steps to be checked against the schema: give less at once`;
