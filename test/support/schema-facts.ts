/** What a schema says, fact by fact, with the place of each: names, values, defaults, formats, descriptions. */
import type { JsonSchema } from '../../src/core/catalog/tool.js';

export interface SchemaFact {
  readonly place: string;
  readonly kind: 'name' | 'description' | 'format' | 'pattern' | 'default' | 'value' | 'bound';
  /** As a text that shows it must hold it. */
  readonly text: string;
}

const BOUNDS = ['minimum', 'maximum', 'minItems', 'maxItems', 'maxLength'];
const LISTS = ['anyOf', 'oneOf', 'allOf', 'prefixItems'];

export function factsOf(schema: unknown, place: string): SchemaFact[] {
  if (!isObject(schema)) return [];
  const values = 'const' in schema ? [schema.const] : Array.isArray(schema.enum) ? schema.enum : [];
  const bounds = BOUNDS.filter((bound) => typeof schema[bound] === 'number').map(
    (bound) => `${bound} ${schema[bound]}`,
  );
  const said: SchemaFact[] = [
    ...textFact('description', schema, place),
    ...textFact('format', schema, place),
    ...textFact('pattern', schema, place),
    ...('default' in schema
      ? [{ place, kind: 'default' as const, text: `default ${JSON.stringify(schema.default)}` }]
      : []),
    ...values.map((value) => ({ place, kind: 'value' as const, text: JSON.stringify(value) })),
    ...bounds.map((text) => ({ place, kind: 'bound' as const, text })),
  ];
  const properties = isObject(schema.properties) ? Object.entries(schema.properties) : [];
  return [
    ...said,
    ...properties.flatMap(([name, inner]) => [
      { place, kind: 'name' as const, text: name },
      ...factsOf(inner, `${place}.${name}`),
    ]),
    ...(isObject(schema.$defs)
      ? Object.entries(schema.$defs).flatMap(([name, inner]) => factsOf(inner, `${place}#${name}`))
      : []),
    ...factsOf(schema.items, `${place}[]`),
    ...factsOf(schema.additionalProperties, `${place}{}`),
    ...LISTS.flatMap((list) => {
      const forms = schema[list];
      return Array.isArray(forms) ? forms.flatMap((form) => factsOf(form, `${place}|`)) : [];
    }),
  ];
}

function textFact(kind: 'description' | 'format' | 'pattern', schema: JsonSchema, place: string): SchemaFact[] {
  const said = schema[kind];
  return typeof said === 'string' ? [{ place, kind, text: said.replace(/\s+/gu, ' ').trim() }] : [];
}

function isObject(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
