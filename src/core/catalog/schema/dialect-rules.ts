/**
 * Older drafts of JSON Schema (04, 06, 07, 2019-09) and OpenAPI's own words, written as draft 2020-12. These rules keep
 * the meaning, so a schema that they changed still judges as its author wrote it.
 */
import type { JsonSchema } from '../tool.js';
import { isObject, listOf } from './json.js';
import { resolveReference } from './paths.js';

/** Where a rule works: the document, and whether the node only adds conditions to a typed node around it. */
export interface RulePlace {
  readonly root: JsonSchema;
  readonly isCondition: boolean;
}

export interface Change {
  readonly schema: JsonSchema;
  /** What changed, in words. Default: the name of the rule. */
  readonly note?: string;
}

export interface Rule {
  /** What the rule sees in a node. */
  readonly name: string;
  /** A standard validator would read the original in another sense than its author's. */
  readonly isMisread?: true;
  /** The changed node, as a copy, or undefined where the rule does not apply. */
  apply(node: JsonSchema, place: RulePlace): Change | undefined;
}

/** A copy of the node with other keywords; `undefined` takes a keyword out. */
export function change(node: JsonSchema, patch: Readonly<Record<string, unknown>>, note?: string): Change {
  const schema = Object.fromEntries(Object.entries({ ...node, ...patch }).filter(([, value]) => value !== undefined));
  return { schema, ...(note === undefined ? {} : { note }) };
}

const exclusiveBounds: Rule = {
  name: 'boolean exclusive bounds of draft-04',
  apply(node) {
    const pairs = [
      ['exclusiveMinimum', 'minimum'],
      ['exclusiveMaximum', 'maximum'],
    ].filter(([exclusive = '']) => typeof node[exclusive] === 'boolean');
    if (pairs.length === 0) return undefined;
    const patch = pairs.flatMap(([exclusive = '', bound = '']) =>
      node[exclusive] === true
        ? [
            [exclusive, node[bound]],
            [bound, undefined],
          ]
        : [[exclusive, undefined]],
    );
    return change(node, Object.fromEntries(patch));
  },
};

const tuples: Rule = {
  name: 'a list of `items`, as before 2020-12',
  apply(node) {
    if (!Array.isArray(node.items)) return undefined;
    const { items: prefixItems, additionalItems: items } = node;
    return change(node, { prefixItems, items, additionalItems: undefined });
  },
};

const dependencies: Rule = {
  name: '`dependencies` of draft-07',
  apply(node) {
    if (!isObject(node.dependencies)) return undefined;
    const entries = Object.entries(node.dependencies);
    const required = entries.filter(([, value]) => !isObject(value)).map(([name, value]) => [name, listOf(value)]);
    const schemas = entries.filter(([, value]) => isObject(value));
    return change(node, {
      dependencies: undefined,
      ...(required.length > 0 ? { dependentRequired: Object.fromEntries(required) } : {}),
      ...(schemas.length > 0 ? { dependentSchemas: Object.fromEntries(schemas) } : {}),
    });
  },
};

const references: Rule = {
  name: 'a reference of draft 2019-09, or by the own name of the document',
  apply(node, { root }) {
    const { $ref, $recursiveRef, $dynamicRef } = node;
    const reference = $ref ?? $recursiveRef ?? $dynamicRef;
    if (typeof reference !== 'string') return undefined;
    const isForeign = !reference.startsWith('#') && resolveReference(root, reference) !== undefined;
    if (!isForeign && $ref !== undefined) return undefined;
    const fragment = isForeign && reference.includes('#') ? reference.slice(reference.indexOf('#')) : '#';
    const own = isForeign ? fragment : reference;
    return change(node, { $ref: own, $recursiveRef: undefined, $dynamicRef: undefined });
  },
};

const nullable: Rule = {
  name: '`nullable` of OpenAPI',
  apply(node) {
    const written = node.nullable ?? node['x-nullable'];
    if (written === undefined) return undefined;
    const { nullable: _, 'x-nullable': __, ...rest } = node;
    const types = listOf(rest.type ?? []);
    if (written !== true || Object.keys(rest).length === 0 || types.includes('null')) return change(rest, {});
    if (types.length === 0) {
      const { description, title, ...schema } = rest;
      return change({ anyOf: [schema, { type: 'null' }] }, { title, description });
    }
    const values = Array.isArray(rest.enum) && !rest.enum.includes(null) ? { enum: [...rest.enum, null] } : {};
    return change(rest, { type: [...types, 'null'], ...values });
  },
};

const NAMES = ['$schema', '$id', '$comment', '$async', '$vocabulary', '$recursiveAnchor'];

const names: Rule = {
  name: '',
  apply(node) {
    const found = NAMES.filter((keyword) => keyword in node);
    // `id` is a name in draft-04, and an argument elsewhere.
    if (typeof node.id === 'string') found.push('id');
    return found.length === 0 ? undefined : change(node, Object.fromEntries(found.map((name) => [name, undefined])));
  },
};

/** In the order in which they apply. A rule without a name works without a note. */
export const DIALECT_RULES: readonly Rule[] = [exclusiveBounds, tuples, dependencies, references, nullable, names];
