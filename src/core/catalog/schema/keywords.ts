/**
 * The keywords of JSON Schema 2020-12 that a fitted schema may hold, in the order in which they are written:
 * the same schema always gives the same bytes, which prompt caches need.
 */
export const KEYWORDS = [
  '$ref',
  'title',
  'description',
  'type',
  'format',
  'enum',
  'const',
  'default',
  'pattern',
  'minLength',
  'maxLength',
  'minimum',
  'exclusiveMinimum',
  'maximum',
  'exclusiveMaximum',
  'multipleOf',
  'properties',
  'required',
  'patternProperties',
  'additionalProperties',
  'unevaluatedProperties',
  'propertyNames',
  'minProperties',
  'maxProperties',
  'dependentRequired',
  'dependentSchemas',
  'prefixItems',
  'items',
  'unevaluatedItems',
  'contains',
  'minContains',
  'maxContains',
  'minItems',
  'maxItems',
  'uniqueItems',
  'anyOf',
  'oneOf',
  'allOf',
  'not',
  'if',
  'then',
  'else',
  'contentEncoding',
  'contentMediaType',
  'deprecated',
  'readOnly',
  'writeOnly',
  'examples',
  '$defs',
] as const;

/** Say nothing about a value: taken out without a note. */
export const SILENT_KEYWORDS = new Set([
  '$schema',
  '$id',
  '$comment',
  '$anchor',
  '$dynamicAnchor',
  '$recursiveAnchor',
  '$vocabulary',
]);

/** Words of other drafts and of OpenAPI: they are read where they mean something, and are never argument names. */
export const FOREIGN_KEYWORDS = new Set([
  'id',
  'definitions',
  'additionalItems',
  'dependencies',
  'divisibleBy',
  'extends',
  'disallow',
  '$recursiveRef',
  '$dynamicRef',
  'nullable',
  'example',
  'discriminator',
  'xml',
  'externalDocs',
  'contentSchema',
  'optional',
  'strict',
]);

export const ANNOTATIONS = new Set([
  'title',
  'description',
  'default',
  'examples',
  'deprecated',
  'readOnly',
  'writeOnly',
]);

export const MAP_KEYWORDS = ['properties', 'patternProperties', 'dependentSchemas'] as const;
export const LIST_KEYWORDS = ['anyOf', 'oneOf', 'allOf', 'prefixItems'] as const;
export const CHILD_KEYWORDS = [
  'items',
  'additionalProperties',
  'unevaluatedProperties',
  'unevaluatedItems',
  'contains',
  'propertyNames',
  'not',
  'if',
  'then',
  'else',
] as const;

const RANK: ReadonlyMap<string, number> = new Map(KEYWORDS.map((keyword, index) => [keyword, index]));

export function isKeyword(word: string): boolean {
  return RANK.has(word);
}

/** The node with its keywords in the order of the table; others last, as they came. */
export function inKeywordOrder(node: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const rank = (word: string) => RANK.get(word) ?? KEYWORDS.length;
  return Object.fromEntries(Object.entries(node).sort(([left], [right]) => rank(left) - rank(right)));
}
