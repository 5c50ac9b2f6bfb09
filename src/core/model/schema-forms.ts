/** The forms that a value may have under a schema: what a grammar and a schema of OpenAI's strict mode are written from. */
import {
  isObject,
  isOfType,
  type JsonType,
  jsonTypeOf,
  mergeSchemas,
  typesOf,
  withoutRepeats,
} from '../catalog/schema/json.js';
import { resolveReference } from '../catalog/schema/paths.js';
import type { JsonSchema } from '../catalog/tool.js';

export type Form =
  /** Any value, or what the other forms can't say. */
  | { readonly kind: 'any' }
  | { readonly kind: 'reference'; readonly reference: string }
  /** Constants of one type. */
  | { readonly kind: 'values'; readonly type: JsonType; readonly node: JsonSchema; readonly values: readonly unknown[] }
  /** One type, under the keywords of a node without combinations. */
  | { readonly kind: 'type'; readonly type: JsonType; readonly node: JsonSchema };

export type FormOf<Kind extends Form['kind']> = Extract<Form, { kind: Kind }>;

const ANY: readonly Form[] = [{ kind: 'any' }];
const ANNOTATIONS = ['title', 'description', 'default', 'examples', 'deprecated', 'readOnly', 'writeOnly', '$defs'];

interface Place {
  readonly root: JsonSchema;
  /** References that lead here: to follow one again would never end. */
  readonly followed: readonly string[];
}

/** A value that the schema takes has one of the forms; there are none where it takes no value. */
export function formsOf(node: unknown, root: JsonSchema): readonly Form[] {
  return formsAt(node, { root, followed: [] });
}

function formsAt(node: unknown, place: Place): readonly Form[] {
  if (!isObject(node)) return node === false ? [] : ANY;
  const { $ref, allOf, anyOf, oneOf, ...beside } = node;
  // Words on the whole are none on each form.
  const { description: _description, ...common } = beside;
  const isBare = Object.keys(beside).every((keyword) => ANNOTATIONS.includes(keyword));
  const choice = oneOf ?? anyOf;
  if (typeof $ref === 'string' && isBare && !allOf && !choice) return [{ kind: 'reference', reference: $ref }];
  const parts = [...($ref === undefined ? [] : [{ $ref }]), ...(Array.isArray(allOf) ? allOf : [])];
  if (parts.length > 0) {
    const { $ref: _ref, allOf: _allOf, ...rest } = node;
    return formsTogether(rest, parts, place);
  }
  if ('const' in node) return valueForms(node, [node.const]);
  if (Array.isArray(node.enum)) return valueForms(node, node.enum);
  // "At least one of these is required" is left to the check of the answer.
  const isRequired = (form: unknown) => isObject(form) && Object.keys(form).join() === 'required';
  if (Array.isArray(choice) && !(isObject(node.properties) && choice.every(isRequired))) {
    if (oneOf && anyOf) return ANY;
    return choice.flatMap((form) => (isBare ? formsAt(form, place) : formsTogether(common, [form], place)));
  }
  const types = typesOf(node).length > 0 ? typesOf(node) : impliedTypes(node);
  if (types.length === 0) return ANY;
  return types.map((type) => ({ kind: 'type', type, node: { ...(types.length > 1 ? common : beside), type } }));
}

/** Forms of a value that fits the node and all parts. */
function formsTogether(node: JsonSchema, parts: readonly unknown[], { root, followed }: Place): readonly Form[] {
  const references = parts.flatMap((part) => (isObject(part) && typeof part.$ref === 'string' ? [part.$ref] : []));
  if (parts.includes(false)) return [];
  if (references.some((reference) => followed.includes(reference))) return ANY;
  const whole = parts.reduce<JsonSchema | undefined>((sum, part) => {
    const target = isObject(part) && typeof part.$ref === 'string' ? resolveReference(root, part.$ref) : part;
    return sum && isObject(target) ? mergeSchemas(sum, target) : undefined;
  }, node);
  return whole ? formsAt(whole, { root, followed: [...followed, ...references] }) : ANY;
}

function valueForms(node: JsonSchema, all: readonly unknown[]): readonly Form[] {
  const types = typesOf(node);
  const isTaken = (value: unknown) => value !== undefined && (types.length === 0 || isOfType(value, types));
  const taken = withoutRepeats(all).filter(isTaken);
  return [...new Set(taken.map(jsonTypeOf))].map((type) => {
    return { kind: 'values', type, node, values: taken.filter((value) => jsonTypeOf(value) === type) };
  });
}

function impliedTypes(node: JsonSchema): JsonType[] {
  if (isObject(node.properties) || 'additionalProperties' in node) return ['object'];
  return 'items' in node || 'prefixItems' in node ? ['array'] : [];
}

export interface Member {
  readonly name: string;
  readonly schema: unknown;
  readonly isRequired: boolean;
}

/** The properties of an object, with those that are only required. None of those that must not be there. */
export function membersOf({ properties, required }: JsonSchema): Member[] {
  const listed = isObject(properties) ? properties : {};
  const names = Array.isArray(required) ? required.map(String) : [];
  const members = [...new Set([...Object.keys(listed), ...names])].map((name) => {
    return { name, schema: listed[name], isRequired: names.includes(name) };
  });
  return members.filter(({ schema, isRequired }) => isRequired || schema !== false);
}

/** What the elements of a list may be. Which stands at which place is left to the check of the answer. */
export function elementsOf({ items, prefixItems }: JsonSchema): readonly unknown[] {
  const places = Array.isArray(prefixItems) ? prefixItems : [];
  return isObject(items) || places.length === 0 ? [...places, items] : places;
}
