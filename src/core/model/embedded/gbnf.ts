/**
 * A llama.cpp grammar (GBNF) for the compact JSON of a schema: no white space outside of texts, properties in the order
 * of the schema, optional ones may be missing. The grammar of node-llama-cpp makes every property required.
 * The grammar guides and the check of the answer decides: patterns, lengths, ranges and large counts are not part of it.
 */
import { isObject, type JsonType } from '../../catalog/schema/json.js';
import { resolveReference } from '../../catalog/schema/paths.js';
import type { JsonSchema } from '../../catalog/tool.js';
import { elementsOf, type Form, formsOf, membersOf } from '../schema-forms.js';

/** Rules that no schema changes. One is in the grammar only where it is used. */
const SHARED: ReadonlyMap<string, string> = new Map([
  ['any', 'str | num | bool | "null" | map | list'],
  ['map', '"{" (str ":" any ("," str ":" any)*)? "}"'],
  ['list', '"[" (any ("," any)*)? "]"'],
  ['chr', String.raw`[^"\\\x00-\x1F] | "\\" (["\\/bfnrt] | "u" [0-9a-fA-F]{4})`],
  ['str', String.raw`"\"" chr* "\""`],
  // Bounds keep a small model from writing digits without end; they hold every number of JSON.stringify.
  ['nat', '"0" | [1-9] [0-9]{0,20}'],
  ['int', '"-"? nat'],
  ['frac', '("." [0-9]{1,25})? ([eE] [+-]? [0-9]{1,3})?'],
  ['num', 'int frac'],
  ['bool', '"true" | "false"'],
  ['year', '[0-9]{4} "-" ("0" [1-9] | "1" [0-2]) "-" ("0" [1-9] | [12] [0-9] | "3" [01])'],
  ['clock', '([01] [0-9] | "2" [0-3]) ":" [0-5] [0-9] (":" [0-5] [0-9] ("." [0-9]{1,9})?)? zone?'],
  ['zone', '"Z" | [+-] ([01] [0-9] | "2" [0-3]) ":" [0-5] [0-9]'],
  ['date', String.raw`"\"" year "\""`],
  ['time', String.raw`"\"" clock "\""`],
  ['moment', String.raw`"\"" year "T" clock "\""`],
]);

/** The grammar under construction. */
interface Build {
  readonly root: JsonSchema;
  /** By the names of their rules. */
  readonly bodies: Map<string, string>;
  /** The forms of each node: a node that refers to itself has the same forms again. */
  readonly forms: Map<unknown, readonly Form[]>;
  /** Rules of objects and lists. */
  readonly names: Map<JsonSchema, string>;
}

/**
 * The text of the grammar, the same for the same schema. `$ref` may point anywhere within the schema. What the grammar
 * can't say (`not`, `if`, `pattern`, …) is left out of it, so it takes at least what the schema takes.
 */
export function gbnfFromSchema(schema: JsonSchema): string {
  const build: Build = { root: schema, bodies: new Map(), forms: new Map(), names: new Map() };
  const root = ruleOf(schema, build);
  return [`root ::= ${root}`, ...[...build.bodies].map(([name, body]) => `${name} ::= ${body}`), ''].join('\n');
}

/** The name of a rule with this body. A name alone needs no rule and comes back. */
function define(body: string, { bodies }: Build): string {
  if (/^[a-z][a-z0-9]*$/u.test(body)) return body;
  const name = `r${bodies.size}`;
  bodies.set(name, body);
  return name;
}

/** Puts a shared rule into the grammar, with all that it uses, and gives its name back. */
function shared(name: string, build: Build): string {
  const body = SHARED.get(name);
  if (body === undefined || build.bodies.has(name)) return name;
  build.bodies.set(name, body);
  const words = body.replace(/"(?:\\.|[^"\\])*"|\[(?:\\.|[^\]\\])*\]/gu, ' ').match(/[a-z]+/gu) ?? [];
  for (const word of words) shared(word, build);
  return name;
}

/** The rule of a node: any value where the node says nothing, or nothing that a grammar can say. */
function ruleOf(node: unknown, build: Build): string {
  const forms = followedForms(node, [], build);
  if (forms.length === 0 || forms.some(({ kind }) => kind === 'any')) return shared('any', build);
  return define(alternatives(forms.map((form) => formBody(form, build))), build);
}

/** What references stand for. One that leads back to itself adds nothing: in a grammar it would be a left recursion. */
function followedForms(node: unknown, followed: readonly string[], build: Build): readonly Form[] {
  const forms = build.forms.get(node) ?? formsOf(node, build.root);
  build.forms.set(node, forms);
  return forms.flatMap((form) => {
    if (form.kind !== 'reference') return [form];
    if (followed.includes(form.reference)) return [];
    const target = resolveReference(build.root, form.reference);
    return followedForms(target, [...followed, form.reference], build);
  });
}

function formBody(form: Form, build: Build): string {
  if (form.kind === 'values') return form.values.map((value) => literal(JSON.stringify(value))).join(' | ');
  if (form.kind !== 'type') return shared('any', build);
  const { node, type } = form;
  if (type === 'object') return nodeRule(node, () => objectBody(node, build), build);
  if (type === 'array') return nodeRule(node, () => arrayBody(node, build), build);
  return scalarBody(node, type, build);
}

/** Each node has its body made once, so a schema that refers to itself comes to an end. */
function nodeRule(node: JsonSchema, write: () => string, build: Build): string {
  const known = build.names.get(node);
  if (known !== undefined) return known;
  const name = define('', build);
  build.names.set(node, name);
  build.bodies.set(name, write());
  return name;
}

const FORMATS: ReadonlyMap<unknown, string> = new Map([
  ['date', 'date'],
  ['time', 'time'],
  ['date-time', 'moment'],
]);

function scalarBody({ format }: JsonSchema, type: JsonType, build: Build): string {
  if (type === 'null') return '"null"';
  if (type === 'string') return shared(FORMATS.get(format) ?? 'str', build);
  if (type === 'boolean') return shared('bool', build);
  return shared(type === 'integer' ? 'int' : 'num', build);
}

/** llama.cpp writes every count out, so larger ones are left to the check of the answer. */
const MAX_REPEAT = 64;

function arrayBody({ items, prefixItems, ...counts }: JsonSchema, build: Build): string {
  const bound = (count: unknown) =>
    typeof count === 'number' && Number.isInteger(count) && count >= 0 && count <= MAX_REPEAT ? count : undefined;
  const [least = 0, most] = [bound(counts.minItems), bound(counts.maxItems)];
  if (most === 0) return '"[]"';
  const element = define(alternatives(elementsOf({ items, prefixItems }).map((one) => ruleOf(one, build))), build);
  const further = most === undefined || most < least ? '' : most - 1;
  const elements = `${element} ("," ${element}){${Math.max(least - 1, 0)},${further}}`;
  return least > 0 ? `"[" ${elements} "]"` : `"[" (${elements})? "]"`;
}

/**
 * Members in the order given; optional ones may be missing. `rest` is what may follow once a member is written, `whole`
 * what may be written before that. Both grow from the last member to the first, so the size grows with the members alone.
 */
function objectBody(node: JsonSchema, build: Build): string {
  const members = membersOf(node);
  if (members.length === 0) {
    if (node.additionalProperties === false) return '"{}"';
    if (!isObject(node.additionalProperties)) return shared('map', build);
    const pair = `${shared('str', build)} ":" ${ruleOf(node.additionalProperties, build)}`;
    return `"{" (${pair} ("," ${pair})*)? "}"`;
  }
  const firstRequired = members.findIndex(({ isRequired }) => isRequired);
  let rest = '';
  let whole = '';
  for (const [index, { name, schema, isRequired }] of [...members.entries()].reverse()) {
    const pair = `${literal(`${JSON.stringify(name)}:`)} ${ruleOf(schema, build)}`;
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

/** A text as a literal of the grammar. */
function literal(text: string): string {
  const escaped = text.replace(/["\\]/gu, String.raw`\$&`).replaceAll('\n', String.raw`\n`);
  return `"${escaped.replaceAll('\r', String.raw`\r`)}"`;
}

function alternatives(expressions: readonly string[]): string {
  return [...new Set(expressions)].join(' | ');
}
