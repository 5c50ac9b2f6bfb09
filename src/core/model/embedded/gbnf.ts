/**
 * A llama.cpp grammar (GBNF) for the compact JSON of a schema: no white space outside of texts, properties in the order
 * of the schema, optional ones may be missing. The grammar of node-llama-cpp makes every property required.
 * The grammar guides and the check of the answer decides: patterns, ranges and large counts are not part of it.
 */
import { isObject, type JsonType, typesOf } from '../../catalog/schema/json.js';
import { resolveReference } from '../../catalog/schema/paths.js';
import type { JsonSchema } from '../../catalog/tool.js';
import { anyObject, anyValue, arrayBody, mapBody, numberBody, objectBody, stringBody } from './gbnf-bodies.js';
import { alternatives, createGrammarRules, type GrammarRules, jsonLiteral } from './gbnf-rules.js';

/** How deep values may nest where the schema takes anything. */
const ANY_DEPTH = 4;

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
  if (!isObject(node) || open.includes(node)) return anyValue(ANY_DEPTH, rules);
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
  if (Array.isArray(node.allOf)) {
    const members = node.allOf.flatMap((member) => follow(member, open, build));
    return bodyOf(members.reduce(merge, without(node, ['allOf'])), [...open, ...members], build);
  }
  const forms = node.anyOf ?? node.oneOf;
  if (Array.isArray(forms) && forms.length > 0) return formsBody(node, forms, { open, build });
  const types = typesOf(node);
  const possible = types.length > 0 ? types : impliedTypes(node);
  if (possible.length === 0) return anyValue(ANY_DEPTH, build.rules);
  return alternatives(possible.map((type) => typeRule(node, type, build)));
}

/** Each form together with what stands beside `anyOf` or `oneOf`. */
function formsBody(node: JsonSchema, forms: readonly unknown[], { open, build }: { open: Open; build: Build }): string {
  const rest = without(node, ['anyOf', 'oneOf', 'title', 'description', 'default', '$defs']);
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

function without(node: JsonSchema, keywords: readonly string[]): JsonSchema {
  return Object.fromEntries(Object.entries(node).filter(([keyword]) => !keywords.includes(keyword)));
}

function impliedTypes(node: JsonSchema): JsonType[] {
  if (isObject(node.properties) || 'additionalProperties' in node) return ['object'];
  return 'items' in node || 'prefixItems' in node ? ['array'] : [];
}

function typeRule(node: JsonSchema, type: JsonType, build: Build): string {
  const { rules } = build;
  switch (type) {
    case 'null':
      return '"null"';
    case 'boolean':
      return rules.shared('bool');
    case 'integer':
    case 'number':
      return numberBody(node, type, rules);
    case 'string':
      return rules.define(stringBody(node, rules));
    case 'array':
      return rules.define(arrayOf(node, build));
    case 'object':
      return rules.define(membersOf(node, build));
  }
}

function arrayOf(node: JsonSchema, build: Build): string {
  const first = listOf(node.prefixItems).map((item) => ruleOf(item, [], build));
  if (isObject(node.items)) return arrayBody(node, first, ruleOf(node.items, [], build));
  const isOpen = node.items !== false && first.length === 0;
  return arrayBody(node, first, isOpen ? anyValue(ANY_DEPTH - 1, build.rules) : undefined);
}

function membersOf(node: JsonSchema, build: Build): string {
  const properties = objectOf(node.properties);
  const required = listOf(node.required).map(String);
  const names = [...new Set([...Object.keys(properties), ...required])];
  const { additionalProperties } = node;
  if (names.length === 0 && additionalProperties === false) return '"{}"';
  if (names.length === 0 && isObject(additionalProperties))
    return mapBody(ruleOf(additionalProperties, [], build), build.rules);
  if (names.length === 0) return anyObject(ANY_DEPTH, build.rules);
  const members = names.map((name) => ({
    name,
    rule: ruleOf(properties[name], [], build),
    required: required.includes(name),
  }));
  return objectBody(members, build.rules);
}

function objectOf(value: unknown): JsonSchema {
  return isObject(value) ? value : {};
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
