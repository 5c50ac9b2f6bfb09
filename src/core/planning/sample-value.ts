/** A value that stands in for a reference while the rest of the arguments is checked. */
import { isObject } from '../catalog/schema/json.js';
import type { JsonSchema } from '../catalog/tool.js';

const FORMATS: Record<string, string> = {
  date: '2000-01-01',
  'date-time': '2000-01-01T00:00:00Z',
  time: '00:00:00Z',
  uri: 'https://example.org/',
  url: 'https://example.org/',
  email: 'a@example.org',
  uuid: '00000000-0000-4000-8000-000000000000',
  ipv4: '192.0.2.1',
};

/** Of the right type and, where easy, within the bounds; not for schemas that ask for more (the caller allows for that). */
export function sampleValue(schema: JsonSchema | 'any' | undefined): unknown {
  if (schema === undefined || schema === 'any') return 'x';
  if ('const' in schema) return schema.const;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  const member = [schema.anyOf, schema.oneOf].find(Array.isArray)?.[0];
  if (isObject(member)) return sampleValue(member);
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  if (type === 'integer' || type === 'number')
    return typeof schema.minimum === 'number' ? schema.minimum : Math.min(1, Number(schema.maximum ?? 1));
  if (type === 'boolean') return true;
  if (type === 'null') return null;
  if (type === 'array')
    return Array.from({ length: Number(schema.minItems ?? 0) }, () =>
      sampleValue(isObject(schema.items) ? schema.items : 'any'),
    );
  if (type === 'object') return sampleObject(schema);
  const format = typeof schema.format === 'string' ? FORMATS[schema.format] : undefined;
  return format ?? 'x'.repeat(Math.max(1, Math.min(1000, Number(schema.minLength ?? 1))));
}

function sampleObject(schema: JsonSchema): Record<string, unknown> {
  const properties = isObject(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required.map(String) : [];
  return Object.fromEntries(
    required.map((name) => [name, sampleValue(isObject(properties[name]) ? properties[name] : 'any')]),
  );
}
