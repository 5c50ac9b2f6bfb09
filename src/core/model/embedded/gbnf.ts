/**
 * A llama.cpp grammar (GBNF) for the compact JSON of a schema: no white space outside of texts, properties in the order
 * of the schema, optional ones may be missing. The grammar of node-llama-cpp makes every property required.
 * The grammar guides and the check of the answer decides: patterns, ranges and large counts are not part of it.
 */
import { isObject, type JsonType, typesOf } from '../../catalog/schema/json.js';
import { resolveReference } from '../../catalog/schema/paths.js';
import type { JsonSchema } from '../../catalog/tool.js';
import { alternatives, createGrammarRules, type GrammarRules, jsonLiteral, literal } from './gbnf-rules.js';

interface Build {
  readonly root: JsonSchema;
  readonly rules: GrammarRules;
  /** Rule of every node that was met. `undefined`: its body is being made, and nothing has referred back to it so far. */
  readonly names: Map<JsonSchema, string | undefined>;
}

/** Nodes entered since the last character was written: to enter one again would be a left recursion. */
type Open = readonly JsonSchema[];

/**
 * The text of the grammar, the same for the same schema. `$ref` may point anywhere within the schema. What the grammar
 * can't say (`not`, `if`, `pattern`, …) is left out of it, so it takes at least what the schema takes.
 */
export function gbnfFromSchema(schema: JsonSchema): string {
  const build: Build = { root: schema, rules: createGrammarRules(), names: new Map() };
  return build.rules.render(ruleOf(schema, [], build));
}

/** The name of a node's rule. Each node has its body made once, so a schema that refers to itself comes to an end. */
function ruleOf(node: unknown, open: Open, build: Build): string {
  const { rules, names } = build;
  if (!isObject(node) || open.includes(node)) return rules.shared('any');
  if (names.has(node)) {
    const name = names.get(node) ?? rules.reserve();
    names.set(node, name);
    return name;
  }
  names.set(node, undefined);
  const body = bodyOf(node, [...open, node], build);
  const reserved = names.get(node);
  if (reserved !== undefined) rules.fill(reserved, body);
  const name = reserved ?? rules.define(body);
  names.set(node, name);
  return name;
}

function bodyOf(node: JsonSchema, open: Open, build: Build): string {
  if (typeof node.$ref === 'string') return ruleOf(resolveReference(build.root, node.$ref), open, build);
  if ('const' in node) return jsonLiteral(node.const);
  if (Array.isArray(node.enum) && node.enum.length > 0) return alternatives(node.enum.map(jsonLiteral));
  const { allOf, anyOf, oneOf = anyOf, ...beside } = node;
  if (Array.isArray(allOf)) {
    const members = allOf.flatMap((member) => follow(member, open, build));
    const { allOf: _, ...rest } = node;
    return bodyOf(members.reduce(merge, rest), [...open, ...members], build);
  }
  if (Array.isArray(oneOf) && oneOf.length > 0) return formsBody(beside, oneOf, { open, build });
  const types = typesOf(node);
  const possible = types.length > 0 ? types : impliedTypes(node);
  if (possible.length === 0) return build.rules.shared('any');
  return alternatives(possible.map((type) => typeRule(node, type, build)));
}

/** Each form together with what stands beside `anyOf` or `oneOf`. */
function formsBody(beside: JsonSchema, forms: Open | unknown[], { open, build }: { open: Open; build: Build }): string {
  const { title, description, default: _, $defs, ...rest } = beside;
  if (Object.keys(rest).length === 0) return alternatives(forms.map((form) => ruleOf(form, open, build)));
  const usable = forms.flatMap((form) => follow(form, open, build));
  if (usable.length === 0) return bodyOf(rest, open, build);
  return alternatives(usable.map((form) => build.rules.define(bodyOf(merge(rest, form), [...open, form], build))));
}

/** The node behind a reference, or the node itself; none where the way leads in a circle. */
function follow(node: unknown, open: Open, build: Build): JsonSchema[] {
  if (!isObject(node) || open.includes(node)) return [];
  if (typeof node.$ref !== 'string') return [node];
  return follow(resolveReference(build.root, node.$ref), [...open, node], build);
}

/** Both nodes in one. Only the first level is new, so children keep their rules; where both say something, the second wins. */
function merge(first: JsonSchema, second: JsonSchema): JsonSchema {
  const properties = { ...objectOf(first.properties), ...objectOf(second.properties) };
  const required = [...new Set([...listOf(first.required), ...listOf(second.required)])];
  return { ...first, ...second, ...(Object.keys(properties).length > 0 ? { properties } : {}), required };
}

function impliedTypes(node: JsonSchema): JsonType[] {
  if (isObject(node.properties) || 'additionalProperties' in node) return ['object'];
  return 'items' in node || 'prefixItems' in node ? ['array'] : [];
}

const FORMATS: ReadonlyMap<unknown, string> = new Map([
  ['date', 'date'],
  ['time', 'time'],
  ['date-time', 'moment'],
]);

function typeRule(node: JsonSchema, type: JsonType, build: Build): string {
  const { rules } = build;
  if (type === 'null') return '"null"';
  if (type === 'boolean') return rules.shared('bool');
  if (type === 'object') return rules.define(objectBody(node, build));
  if (type === 'array') return rules.define(arrayBody(node, build));
  if (type === 'string') {
    const { least, most } = countOf(node, 'minLength', 'maxLength');
    if (FORMATS.has(node.format)) return rules.shared(FORMATS.get(node.format) ?? 'str');
    if (least === 0 && most === undefined) return rules.shared('str');
    return rules.define(String.raw`"\"" ${rules.shared('chr')}${repetition(least, most)} "\""`);
  }
  const isPositive = [node.minimum, node.exclusiveMinimum].some((bound) => typeof bound === 'number' && bound >= 0);
  if (type === 'integer') return rules.shared(isPositive ? 'nat' : 'int');
  return rules.shared(isPositive ? 'pnum' : 'num');
}

/** llama.cpp writes every count out, so larger ones are left to the check of the answer. */
const MAX_REPEAT = 64;

function countOf(node: JsonSchema, low: string, high: string): { least: number; most: number | undefined } {
  const bound = (value: unknown) =>
    typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MAX_REPEAT ? value : undefined;
  const least = bound(node[low]) ?? 0;
  const most = bound(node[high]);
  return { least, most: most !== undefined && most < least ? undefined : most };
}

function repetition(least: number, most: number | undefined): string {
  if (least === 0 && most === undefined) return '*';
  return `{${least},${most ?? ''}}`;
}

/** Members of `prefixItems` at their places, then items, as many as `minItems` and `maxItems` say. */
function arrayBody(node: JsonSchema, build: Build): string {
  const { least, most } = countOf(node, 'minItems', 'maxItems');
  const places = listOf(node.prefixItems).map((item) => ruleOf(item, [], build));
  const isOpen = isObject(node.items) || (node.items !== false && places.length === 0);
  const rest = isOpen ? ruleOf(node.items, [], build) : undefined;
  if (rest !== undefined && places.length === 0) places.push(rest);
  places.splice(most ?? places.length);
  const left = most === undefined ? undefined : most - places.length;
  const tail =
    rest === undefined || left === 0 ? '' : `("," ${rest})${repetition(Math.max(least - places.length, 0), left)}`;
  const items = places.reduceRight((after, rule, index) => {
    const here = `${index === 0 ? '' : '"," '}${rule}${after === '' ? '' : ` ${after}`}`;
    return index < least ? here : `(${here})?`;
  }, tail);
  return `"[" ${items} "]"`;
}

/**
 * Members in the order given; optional ones may be missing. `rest` is what may follow once a member is written, `whole`
 * what may be written before that. Both grow from the last member to the first, so the size grows with the members alone.
 */
function objectBody(node: JsonSchema, build: Build): string {
  const { rules } = build;
  const properties = objectOf(node.properties);
  const required = new Set(listOf(node.required).map(String));
  const names = [...new Set([...Object.keys(properties), ...required])];
  if (names.length === 0) {
    if (node.additionalProperties === false) return '"{}"';
    if (!isObject(node.additionalProperties)) return rules.shared('map');
    const pair = `${rules.shared('str')} ":" ${ruleOf(node.additionalProperties, [], build)}`;
    return `"{" (${pair} ("," ${pair})*)? "}"`;
  }
  const pairs = names.map((name) => `${literal(`${JSON.stringify(name)}:`)} ${ruleOf(properties[name], [], build)}`);
  const firstRequired = names.findIndex((name) => required.has(name));
  let rest = '';
  let whole = '';
  for (const [index, pair] of [...pairs.entries()].reverse()) {
    const isRequired = required.has(names[index] ?? '');
    const isNeverFirst = firstRequired !== -1 && index > firstRequired;
    const after = rest === '' ? '' : ` ${isNeverFirst ? rest : rules.define(rest)}`;
    rest = `${isRequired ? `"," ${pair}` : `("," ${pair})?`}${after}`;
    if (isNeverFirst) continue;
    const first = `${pair}${after}`;
    if (isRequired) whole = first;
    else whole = whole === '' ? `(${first})?` : `${first} | ${rules.define(whole)}`;
  }
  return `"{" ${whole.includes(' | ') ? rules.define(whole) : whole} "}"`;
}

function objectOf(value: unknown): JsonSchema {
  return isObject(value) ? value : {};
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
