/**
 * Schemas of an OpenAPI document as JSON Schema that stands alone: what a `$ref` points at is copied to
 * `$defs`, and the words that only OpenAPI 3.0 knows are put into JSON Schema's own.
 */
import { isObject } from '../schema/json.js';
import type { JsonSchema } from '../tool.js';

export interface OpenApiDocument {
  readonly content: Readonly<Record<string, unknown>>;
  /** 3.0 has `nullable`, boolean `exclusiveMinimum`, and `$ref` that hides what stands beside it. */
  readonly isVersion30: boolean;
}

/** What is sent must not hold `readOnly` properties, what comes back no `writeOnly` ones. */
export type Direction = 'request' | 'response';

export interface SchemaConverter {
  convert(schema: unknown): JsonSchema;
  /** `{$defs}` with all that the schemas converted so far point at, or `{}`. */
  definitions(): JsonSchema;
}

const MAPS = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']);
const LISTS = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems']);
const SINGLE = new Set(
  'items additionalProperties unevaluatedItems unevaluatedProperties not if then else contains propertyNames'.split(
    ' ',
  ),
);
const DROPPED = /^(?:nullable|discriminator|xml|externalDocs|example|x-.*)$/;
/** A chain of references this long is a circle. */
const MAX_REFERENCES = 32;

/** One converter for each schema of a tool: it gathers the definitions. Problems go to `problems`, one a line. */
export function createSchemaConverter(
  document: OpenApiDocument,
  direction: Direction,
  problems: string[],
): SchemaConverter {
  const names = new Map<string, string>();
  const definitions = new Map<string, JsonSchema>();

  function convert(schema: unknown): JsonSchema {
    if (!isObject(schema)) return {};
    if (typeof schema.$ref === 'string') {
      const target = define(schema.$ref);
      if (!document.isVersion30) return { ...convert({ ...schema, $ref: undefined }), ...target };
      return { ...(typeof schema.description === 'string' ? { description: schema.description } : {}), ...target };
    }
    const converted = Object.entries(schema).flatMap(([key, value]) => convertKeyword(key, value));
    return finish(Object.fromEntries(converted), schema);
  }

  function convertKeyword(key: string, value: unknown): [string, unknown][] {
    if (value === undefined || DROPPED.test(key)) return [];
    if (MAPS.has(key) && isObject(value)) {
      const kept = Object.entries(value).filter(([, child]) => key !== 'properties' || !isHidden(child, direction));
      return [[key, Object.fromEntries(kept.map(([name, child]) => [name, convertChild(child)]))]];
    }
    if (Array.isArray(value) && (LISTS.has(key) || key === 'items')) return [[key, value.map(convertChild)]];
    return [[key, SINGLE.has(key) ? convertChild(value) : value]];
  }

  function convertChild(child: unknown): unknown {
    return isObject(child) ? convert(child) : child;
  }

  function finish(converted: Record<string, unknown>, source: Record<string, unknown>): JsonSchema {
    const visible = withoutHiddenRequired(withExample(converted, source), source, direction);
    return document.isVersion30 ? fromVersion30(visible, source) : visible;
  }

  function define(reference: string): JsonSchema {
    const known = names.get(reference);
    if (known !== undefined) return { $ref: `#/$defs/${known}` };
    const target = resolvePointer(document, reference);
    if (target === undefined) {
      problems.push(`$ref ${reference}: ${missingReason(reference)}; the place was left open`);
      return {};
    }
    const name = definitionName(reference, new Set(names.values()));
    names.set(reference, name);
    definitions.set(name, convert(target));
    return { $ref: `#/$defs/${name}` };
  }

  return {
    convert,
    definitions: () => (definitions.size === 0 ? {} : { $defs: Object.fromEntries(definitions) }),
  };
}

/** The object itself, or what its `$ref` points at, through chains; undefined where that is nothing. */
export function dereference(document: OpenApiDocument, value: unknown): Record<string, unknown> | undefined {
  let current = value;
  for (let hops = 0; hops < MAX_REFERENCES; hops++) {
    if (!isObject(current)) return undefined;
    if (typeof current.$ref !== 'string') return current;
    current = resolvePointer(document, current.$ref);
  }
  return undefined;
}

/** Whether a property is not for this direction. */
export function isHidden(schema: unknown, direction: Direction): boolean {
  return isObject(schema) && schema[direction === 'request' ? 'readOnly' : 'writeOnly'] === true;
}

function resolvePointer(document: OpenApiDocument, reference: string): unknown {
  if (reference !== '#' && !reference.startsWith('#/')) return undefined;
  let current: unknown = document.content;
  for (const segment of reference.split('/').slice(1)) {
    const key = decodeSegment(segment);
    if (typeof current !== 'object' || current === null) return undefined;
    current = Object.hasOwn(current, key) ? Reflect.get(current, key) : undefined;
  }
  return current;
}

function decodeSegment(segment: string): string {
  const text = segment.replaceAll('~1', '/').replaceAll('~0', '~');
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function missingReason(reference: string): string {
  if (reference.startsWith('#')) return 'points at nothing in the document';
  return 'points out of the document (bundle it into one file first)';
}

function definitionName(reference: string, taken: ReadonlySet<string>): string {
  const path = reference.replace(/^#\/(components\/schemas\/)?/, '');
  const base = decodeSegment(path).replace(/[^\p{L}\p{N}._-]+/gu, '_') || 'document';
  let name = base;
  for (let number = 2; taken.has(name); number++) name = `${base}_${number}`;
  return name;
}

function withExample(converted: Record<string, unknown>, source: Record<string, unknown>): Record<string, unknown> {
  return source.example === undefined || 'examples' in source
    ? converted
    : { ...converted, examples: [source.example] };
}

function withoutHiddenRequired(
  converted: Record<string, unknown>,
  source: Record<string, unknown>,
  direction: Direction,
): Record<string, unknown> {
  const { required } = converted;
  if (!Array.isArray(required) || !isObject(source.properties)) return converted;
  const properties = new Map(Object.entries(source.properties));
  return { ...converted, required: required.filter((name) => !isHidden(properties.get(name), direction)) };
}

function fromVersion30(converted: Record<string, unknown>, source: Record<string, unknown>): JsonSchema {
  const schema = { ...converted };
  for (const [exclusive, limit] of [
    ['exclusiveMinimum', 'minimum'],
    ['exclusiveMaximum', 'maximum'],
  ] as const) {
    if (typeof schema[exclusive] !== 'boolean') continue;
    const isExclusive = schema[exclusive] && limit in schema;
    delete schema[exclusive];
    if (!isExclusive) continue;
    schema[exclusive] = schema[limit];
    delete schema[limit];
  }
  return source.nullable === true ? asNullable(schema) : schema;
}

function asNullable(schema: Record<string, unknown>): JsonSchema {
  if (typeof schema.type !== 'string') {
    // Without a type of its own, `null` must be one more way beside the whole schema.
    return Object.keys(schema).length === 0 ? schema : { anyOf: [schema, { type: 'null' }] };
  }
  const values = Array.isArray(schema.enum) && !schema.enum.includes(null) ? { enum: [...schema.enum, null] } : {};
  return { ...schema, ...values, type: [schema.type, 'null'] };
}
