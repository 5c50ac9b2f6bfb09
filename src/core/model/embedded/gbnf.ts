/**
 * A llama.cpp grammar (GBNF) for the compact JSON of a schema: no white space outside strings, properties in the order
 * of the schema, optional ones may be missing. The grammar of node-llama-cpp makes every property required.
 * Patterns, lengths, ranges and large counts are not part of the grammar; validation of the answer checks them.
 */
import { isObject, isOfType, mergeSchemas, typesOf } from '../../catalog/schema/json.js';
import { resolveReference } from '../../catalog/schema/references.js';
import type { JsonSchema } from '../../catalog/tool.js';

/** Limits keep a small model from writing endless digits; they allow every number that JSON.stringify writes. */
const SHARED = String.raw`
any ::= str | num | bool | "null" | map | list
map ::= "{" (str ":" any ("," str ":" any)*)? "}"
list ::= "[" (any ("," any)*)? "]"
chr ::= [^"\\\x00-\x1F] | "\\" (["\\/bfnrt] | "u" [0-9a-fA-F]{4})
str ::= "\"" chr* "\""
nat ::= "0" | [1-9] [0-9]{0,20}
int ::= "-"? nat
num ::= int ("." [0-9]{1,25})? ([eE] [+-]? [0-9]{1,3})?
bool ::= "true" | "false"
year ::= [0-9]{4} "-" ("0" [1-9] | "1" [0-2]) "-" ("0" [1-9] | [12] [0-9] | "3" [01])
clock ::= ([01] [0-9] | "2" [0-3]) ":" [0-5] [0-9] (":" [0-5] [0-9] ("." [0-9]{1,9})?)? zone?
zone ::= "Z" | [+-] ([01] [0-9] | "2" [0-3]) ":" [0-5] [0-9]
date ::= "\"" year "\""
time ::= "\"" clock "\""
moment ::= "\"" year "T" clock "\""
`;
const SCALARS = new Map(
  Object.entries({ string: 'str', number: 'num', integer: 'int', boolean: 'bool', null: '"null"' }),
);
const FORMATS = new Map(Object.entries({ date: 'date', time: 'time', 'date-time': 'moment' }));

interface Build {
  readonly root: JsonSchema;
  readonly bodies: Map<string, string>;
  /** Forms of each node, computed once, so that a recursive node has the same ones again. */
  readonly forms: Map<unknown, readonly JsonSchema[]>;
  readonly names: Map<JsonSchema, string>;
}

/**
 * The text of the grammar; deterministic. `$ref` may point anywhere within the schema. Keywords that a grammar can't express
 * (`not`, `if`, `pattern`, …) are left out, so the grammar accepts at least all that the schema accepts.
 */
export function gbnfFromSchema(schema: JsonSchema): string {
  const build: Build = { root: schema, bodies: new Map(), forms: new Map(), names: new Map() };
  const root = ruleOf(schema, build);
  const rules = [...build.bodies].map(([name, body]) => `${name} ::= ${body}\n`);
  return `root ::= ${root}\n${rules.join('')}${SHARED}`;
}

/** Defines a rule with this body and returns its name. A body that is itself a name is returned unchanged. */
function define(body: string, { bodies }: Build): string {
  if (/^[a-z][a-z0-9]*$/u.test(body)) return body;
  const name = `r${bodies.size}`;
  bodies.set(name, body);
  return name;
}

/** The rule of a node: any value if the node has no constraint that a grammar can express. */
function ruleOf(node: unknown, build: Build): string {
  const bodies = formsOf(node, build).map((form) => formBody(form, build));
  return bodies.length === 0 || bodies.includes('any') ? 'any' : define(alternatives(bodies), build);
}

const SAID = new Set([
  ...['type', 'const', 'enum', 'format', 'properties', 'required', 'additionalProperties'],
  ...['items', 'prefixItems', 'minItems', 'maxItems'],
]);
const ANY: JsonSchema = {};
/** Nested combinations can grow exponentially. */
const MAX_FORMS = 1_000;

/** Alternatives of at most one type, without references and combinations; each valid value matches one of them. */
function formsOf(node: unknown, build: Build): readonly JsonSchema[] {
  if (!isObject(node)) return [ANY];
  const known = build.forms.get(node);
  if (known) return known;
  // A direct reference to itself adds nothing: in a grammar it would be left recursion.
  build.forms.set(node, []);
  const { $ref, allOf, anyOf, oneOf } = node;
  const own = Object.fromEntries(Object.entries(node).filter(([keyword]) => SAID.has(keyword)));
  const parts = [
    ...(typeof $ref === 'string' ? [resolveReference(build.root, $ref)] : []),
    ...(Array.isArray(allOf) ? allOf : []),
  ];
  const choices = [...parts.map((part) => [part]), ...[anyOf, oneOf].filter((list) => Array.isArray(list))];
  const whole = choices.reduce<readonly JsonSchema[]>(
    (forms, choice) => {
      const others = choice.flatMap((one) => formsOf(one, build));
      return forms.length * others.length > MAX_FORMS ? [ANY] : forms.flatMap((form) => together(form, others));
    },
    [own],
  );
  const forms = whole.flatMap((form) => {
    const types = typesOf(form);
    return types.length > 1 ? types.map((type) => ({ ...form, type })) : [form];
  });
  build.forms.set(node, forms);
  return forms;
}

/** An empty node returns the others unchanged, so that all references to them share one rule. */
function together(form: JsonSchema, others: readonly JsonSchema[]): readonly JsonSchema[] {
  return Object.keys(form).length === 0 ? others : others.map((other) => mergeSchemas(form, other) ?? ANY);
}

function formBody(form: JsonSchema, build: Build): string {
  const [type] = typesOf(form);
  const values = 'const' in form ? [form.const] : form.enum;
  if (Array.isArray(values)) {
    const taken = values.filter((value) => type === undefined || isOfType(value, [type]));
    return alternatives(taken.map((value) => literal(JSON.stringify(value)))) || 'any';
  }
  if (type === 'object' || (!type && (isObject(form.properties) || 'additionalProperties' in form)))
    return nodeRule(form, objectBody, build);
  if (type === 'array' || (!type && ('items' in form || 'prefixItems' in form)))
    return nodeRule(form, arrayBody, build);
  const format = type === 'string' ? FORMATS.get(String(form.format)) : undefined;
  return format ?? (type && SCALARS.get(type)) ?? 'any';
}

/** Writes the body of each form once, so that recursive schemas terminate. */
function nodeRule(form: JsonSchema, write: (form: JsonSchema, build: Build) => string, build: Build): string {
  const known = build.names.get(form);
  if (known !== undefined) return known;
  const name = define('', build);
  build.names.set(form, name);
  build.bodies.set(name, write(form, build));
  return name;
}

/** llama.cpp expands every repetition, so larger counts are left to validation of the answer. */
const MAX_REPEAT = 64;

/** The order of elements is left to validation of the answer. */
function arrayBody({ items, prefixItems, ...counts }: JsonSchema, build: Build): string {
  const bound = (count: unknown) =>
    typeof count === 'number' && Number.isInteger(count) && count >= 0 && count <= MAX_REPEAT ? count : undefined;
  const [least = 0, most] = [bound(counts.minItems), bound(counts.maxItems)];
  if (most === 0) return '"[]"';
  const places = Array.isArray(prefixItems) ? prefixItems : [];
  const elements = isObject(items) || places.length === 0 ? [...places, items] : places;
  const element = define(alternatives(elements.map((one) => ruleOf(one, build))), build);
  const further = most === undefined || most < least ? '' : most - 1;
  const list = `${element} ("," ${element}){${Math.max(least - 1, 0)},${further}}`;
  return least === 0 ? `"[" (${list})? "]"` : `"[" ${list} "]"`;
}

/**
 * Members in the order given; optional ones may be missing. `rest` is what may follow a member, `whole` what may come while
 * there is none. Both are built from the last member to the first, so the size is linear in the members.
 */
function objectBody({ properties, required, additionalProperties }: JsonSchema, build: Build): string {
  const listed = isObject(properties) ? properties : {};
  const needed = Array.isArray(required) ? required.map(String) : [];
  const names = [...new Set([...Object.keys(listed), ...needed])];
  if (names.length === 0) {
    if (additionalProperties === false) return '"{}"';
    const pair = `str ":" ${ruleOf(additionalProperties, build)}`;
    return `"{" (${pair} ("," ${pair})*)? "}"`;
  }
  const firstRequired = names.findIndex((name) => needed.includes(name));
  let rest = '';
  let whole = '';
  for (const [index, name] of [...names.entries()].reverse()) {
    const isRequired = needed.includes(name);
    const pair = `${literal(`${JSON.stringify(name)}:`)} ${ruleOf(listed[name], build)}`;
    const isNeverFirst = firstRequired !== -1 && index > firstRequired;
    const after = rest === '' ? '' : ` ${isNeverFirst ? rest : define(rest, build)}`;
    rest = `${isRequired ? `"," ${pair}` : `("," ${pair})?`}${after}`;
    if (isNeverFirst) continue;
    const first = `${pair}${after}`;
    if (isRequired) whole = first;
    else whole = whole === '' ? `(${first})?` : `${first} | ${define(whole, build)}`;
  }
  return `"{" ${whole.includes(' | ') ? define(whole, build) : whole} "}"`;
}

function literal(text: string): string {
  const escaped = text.replace(/["\\]/gu, String.raw`\$&`).replaceAll('\n', String.raw`\n`);
  return `"${escaped.replaceAll('\r', String.raw`\r`)}"`;
}

function alternatives(expressions: readonly string[]): string {
  return [...new Set(expressions)].join(' | ');
}
