/**
 * A llama.cpp grammar (GBNF) for the compact JSON of a schema: no white space outside of strings, properties in
 * the order of the schema, optional ones may be left out. node-llama-cpp's own makes every property required.
 * The grammar guides, the check of the answer decides: lengths and counts above `MAX_REPEAT`, number ranges and
 * patterns that are not regular are not part of it.
 */
import { isObject, type JsonType, joinPath, typesOf } from '../../catalog/schema/json.js';
import { mergeSchemas } from '../../catalog/schema/merge.js';
import { resolveReference } from '../../catalog/schema/paths.js';
import type { JsonSchema } from '../../catalog/tool.js';
import {
  anyArray,
  anyObject,
  anyValue,
  arrayBody,
  mapBody,
  objectBody,
  tupleBody,
  valuesBody,
} from './gbnf-collections.js';
import { alternatives, createGrammarRules, type GrammarRules } from './gbnf-rules.js';
import { countOf, numberRule, type StringBody, stringBody } from './gbnf-scalars.js';

/** How deep values may nest where the schema takes anything. */
const ANY_DEPTH = 4;
/** Lengths and counts above it are not enforced. */
const MAX_REPEAT = 64;

export interface Gbnf {
  readonly grammar: string;
  /** Paths of nodes that are taken more widely than the schema says, with the keyword that is not expressed. */
  readonly eased: readonly string[];
}

interface Build {
  readonly root: JsonSchema;
  readonly rules: GrammarRules;
  readonly references: Map<string, string>;
  readonly strings: Map<string, StringBody>;
  readonly eased: Set<string>;
}

interface Spot {
  readonly path: string;
  /** References followed since the last thing that writes a character: a second time would be left recursion. */
  readonly open: readonly string[];
  readonly depth: number;
}

const INEXPRESSIBLE = [
  'not',
  'if',
  'patternProperties',
  'propertyNames',
  'dependentRequired',
  'dependentSchemas',
  'contains',
  'unevaluatedProperties',
  'unevaluatedItems',
];
const MAX_DEPTH = 64;

/** The schema is a fitted one, or is made of fitted ones; `$ref` points to the root's `$defs`. */
export function gbnfFromSchema(schema: JsonSchema): Gbnf {
  const build: Build = {
    root: schema,
    rules: createGrammarRules(),
    references: new Map(),
    strings: new Map(),
    eased: new Set(),
  };
  const root = ruleOf(schema, { path: '', open: [], depth: 0 }, build);
  return { grammar: build.rules.render(root), eased: [...build.eased] };
}

/** The name of the rule that stands for a node. */
function ruleOf(node: unknown, spot: Spot, build: Build): string {
  if (!isObject(node)) return anyValue(ANY_DEPTH, build.rules);
  if (spot.depth > MAX_DEPTH) return ease('depth', spot, build);
  return build.rules.define(bodyOf(node, spot, build));
}

function bodyOf(node: JsonSchema, spot: Spot, build: Build): string {
  if (typeof node.$ref === 'string') return referenceBody(node, node.$ref, { spot, build });
  if ('const' in node) return valuesBody([node.const]);
  if (Array.isArray(node.enum) && node.enum.length > 0) return valuesBody(node.enum);
  if (Array.isArray(node.allOf)) return allOfBody(node, node.allOf, { spot, build });
  const forms = node.anyOf ?? node.oneOf;
  if (Array.isArray(forms) && forms.length > 0) return formsBody(node, forms, { spot, build });
  for (const keyword of INEXPRESSIBLE) if (keyword in node && !saysNothing(node, keyword)) ease(keyword, spot, build);
  const types = typesOf(node);
  const possible = types.length > 0 ? types : impliedTypes(node);
  if (possible.length === 0) return anyValue(ANY_DEPTH, build.rules);
  return alternatives(possible.map((type) => typeRule(node, type, { spot, build })));
}

/** Zod writes `propertyNames: {type: "string"}` with every record: names are always strings. */
function saysNothing(node: JsonSchema, keyword: string): boolean {
  const value = node[keyword];
  return keyword === 'propertyNames' && isObject(value) && Object.keys(value).every((word) => word === 'type');
}

interface Site {
  spot: Spot;
  build: Build;
}

function ease(keyword: string, spot: Spot, build: Build): string {
  note(keyword, { spot, build });
  return anyValue(ANY_DEPTH, build.rules);
}

function note(keyword: string, { spot, build }: Site): void {
  build.eased.add(`${spot.path || '(root)'}: ${keyword}`);
}

function referenceBody(node: JsonSchema, reference: string, { spot, build }: Site): string {
  const target = resolveReference(build.root, reference);
  if (!isObject(target) || spot.open.includes(reference)) return ease(`$ref ${reference}`, spot, build);
  const { $ref: _, ...siblings } = node;
  if (Object.keys(siblings).some((keyword) => keyword === 'properties' || keyword === 'required')) {
    const merged = mergeSchemas(siblings, target);
    if (merged) return bodyOf(merged, { ...spot, open: [...spot.open, reference] }, build);
    ease('$ref with conditions beside it', spot, build);
  }
  const known = build.references.get(reference);
  if (known !== undefined) return known;
  const name = build.rules.reserve();
  build.references.set(reference, name);
  const below = { path: reference, open: [...spot.open, reference], depth: spot.depth + 1 };
  build.rules.fill(name, bodyOf(target, below, build));
  return name;
}

function allOfBody(node: JsonSchema, members: readonly unknown[], { spot, build }: Site): string {
  const { allOf: _, ...rest } = node;
  const resolved = members.map((member) => resolveMember(member, spot, build));
  const merged = resolved.reduce<JsonSchema | undefined>(
    (sum, member) => (sum === undefined || member === undefined ? undefined : mergeSchemas(sum, member)),
    rest,
  );
  if (!merged) ease('allOf', spot, build);
  return bodyOf(merged ?? rest, spot, build);
}

function resolveMember(member: unknown, spot: Spot, build: Build): JsonSchema | undefined {
  if (!isObject(member)) return undefined;
  if (typeof member.$ref !== 'string') return member;
  const target = resolveReference(build.root, member.$ref);
  return isObject(target) && !spot.open.includes(member.$ref) ? target : undefined;
}

/** Each form together with what stands beside `anyOf` or `oneOf`. */
function formsBody(node: JsonSchema, forms: readonly unknown[], { spot, build }: Site): string {
  const { anyOf: _anyOf, oneOf: _oneOf, title: _title, description: _description, default: _default, ...rest } = node;
  if (node.anyOf !== undefined && node.oneOf !== undefined) ease('oneOf beside anyOf', spot, build);
  const isAlone = Object.keys(rest).every((keyword) => keyword.startsWith('$'));
  const merged = forms.filter(isObject).flatMap((form) => {
    if (isAlone) return [form];
    const resolved = resolveMember(form, spot, build);
    const both = resolved ? mergeSchemas(rest, resolved) : undefined;
    return both ? [both] : [];
  });
  if (merged.length < forms.length) ease('a form that contradicts what stands beside it', spot, build);
  const usable = merged.filter((form) => typeof form.$ref !== 'string' || !spot.open.includes(form.$ref));
  if (usable.length === 0) return isAlone ? ease('anyOf', spot, build) : bodyOf(rest, spot, build);
  return alternatives(usable.map((form) => ruleOf(form, { ...spot, depth: spot.depth + 1 }, build)));
}

function impliedTypes(node: JsonSchema): JsonType[] {
  if (isObject(node.properties) || 'additionalProperties' in node || 'patternProperties' in node) return ['object'];
  return 'items' in node || 'prefixItems' in node ? ['array'] : [];
}

function typeRule(node: JsonSchema, type: JsonType, site: Site): string {
  const { rules } = site.build;
  switch (type) {
    case 'null':
      return '"null"';
    case 'boolean':
      return rules.shared('bool');
    case 'integer':
    case 'number':
      return numberRule(node, type, rules);
    case 'string':
      return rules.define(stringOf(node, site));
    case 'array':
      return rules.define(arrayOf(node, site));
    case 'object':
      return rules.define(objectOf(node, site));
  }
}

/** Tools repeat their patterns, and references have the same one at every place. */
function stringOf(node: JsonSchema, site: Site): string {
  const { strings, rules } = site.build;
  const { format, pattern, minLength, maxLength } = node;
  const key = JSON.stringify([format, pattern, minLength, maxLength]);
  const made = strings.get(key) ?? stringBody(node, rules, MAX_REPEAT);
  strings.set(key, made);
  for (const keyword of made.eased) note(keyword, site);
  return made.body;
}

function arrayOf(node: JsonSchema, { spot, build }: Site): string {
  const count = countOf(node, ['minItems', 'maxItems'], MAX_REPEAT);
  const below = (path: string): Spot => ({ path, open: [], depth: spot.depth + 1 });
  if (Array.isArray(node.prefixItems) && node.prefixItems.length > 0) {
    const first = node.prefixItems.map((item, index) => ruleOf(item, below(joinPath(spot.path, index)), build));
    const rest = isObject(node.items) ? ruleOf(node.items, below(`${spot.path}[]`), build) : undefined;
    return tupleBody(first, rest, count);
  }
  if (node.items === false) return '"[]"';
  const isOpen = !isObject(node.items);
  if (isOpen && count.least === 0 && count.most === undefined) return anyArray(ANY_DEPTH, build.rules);
  const item = isOpen ? anyValue(ANY_DEPTH - 1, build.rules) : ruleOf(node.items, below(`${spot.path}[]`), build);
  return arrayBody(item, count);
}

function objectOf(node: JsonSchema, { spot, build }: Site): string {
  const properties = isObject(node.properties) ? node.properties : {};
  const required = Array.isArray(node.required) ? node.required.map(String) : [];
  const names = [...new Set([...Object.keys(properties), ...required])];
  const more = node.additionalProperties;
  if (names.length === 0 && more === false) return '"{}"';
  const below = (path: string): Spot => ({ path, open: [], depth: spot.depth + 1 });
  if (names.length === 0) {
    if (!isObject(more)) return anyObject(ANY_DEPTH, build.rules);
    return mapBody(build.rules.shared('str'), ruleOf(more, below(joinPath(spot.path, '*')), build));
  }
  const members = names.map((name) => ({
    name,
    rule: ruleOf(properties[name], below(joinPath(spot.path, name)), build),
    required: required.includes(name),
  }));
  return objectBody(members, build.rules);
}
