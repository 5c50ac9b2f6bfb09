/** A JSON Schema as a TypeScript-like type: a third of the tokens of the JSON, and a form that models read well. */
import { isObject } from '../catalog/schema/json.js';
import { oneLine } from '../catalog/summary.js';
import type { JsonSchema } from '../catalog/tool.js';

const MAX_DEPTH = 6;

/** `{stcd: string, start?: string}` with comments behind the fields; `root` is where `$ref` looks. */
export function renderType(schema: unknown, root: JsonSchema, depth = 0): string {
  if (!isObject(schema) || depth > MAX_DEPTH) return 'any';
  if (typeof schema.$ref === 'string') return renderType(resolve(schema.$ref, root), root, depth + 1);
  if ('const' in schema) return JSON.stringify(schema.const);
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => JSON.stringify(value)).join('|') || 'never';
  const members = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(members)) return unique(members.map((member) => renderType(member, root, depth + 1))).join('|');
  if (Array.isArray(schema.type))
    return unique(schema.type.map((type) => renderType({ ...schema, type }, root, depth + 1))).join('|');
  if (schema.type === 'array') return `${wrap(renderType(schema.items ?? {}, root, depth + 1))}[]`;
  if (schema.type === 'object' || isObject(schema.properties)) return renderObject(schema, root, depth);
  return typeof schema.type === 'string' ? schema.type : 'any';
}

function renderObject(schema: JsonSchema, root: JsonSchema, depth: number): string {
  const properties = isObject(schema.properties) ? Object.entries(schema.properties) : [];
  if (properties.length === 0)
    return isObject(schema.additionalProperties)
      ? `{[key]: ${renderType(schema.additionalProperties, root, depth + 1)}}`
      : 'object';
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  const fields = properties.map(([name, value]) => {
    const type = renderType(value, root, depth + 1);
    const comment = isObject(value) ? renderComment(value) : '';
    return `${renderKey(name)}${required.has(name) ? '' : '?'}: ${type}${comment}`;
  });
  return `{${fields.join(', ')}}`;
}

function renderComment(schema: JsonSchema): string {
  const facts = factsOf(schema);
  return facts.length > 0 ? ` /* ${facts.join('; ')} */` : '';
}

/** What the type alone does not say, as it stands: a glob in a description may look like the end of a comment. */
function factsOf(schema: JsonSchema): string[] {
  const each = isObject(schema.items) ? factsOf(schema.items) : [];
  return [
    typeof schema.description === 'string' ? oneLine(schema.description) : '',
    typeof schema.format === 'string' ? `format ${schema.format}` : '',
    typeof schema.pattern === 'string' && schema.pattern.length <= 60 ? `pattern ${schema.pattern}` : '',
    'default' in schema ? `default ${JSON.stringify(schema.default)}` : '',
    ...(['minimum', 'maximum', 'minItems', 'maxItems', 'maxLength'] as const).flatMap((key) =>
      typeof schema[key] === 'number' ? [`${key} ${schema[key]}`] : [],
    ),
    each.length > 0 ? `each: ${each.join('; ')}` : '',
  ].filter(Boolean);
}

function renderKey(name: string): string {
  return /^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(name) ? name : JSON.stringify(name);
}

function resolve(reference: string, root: JsonSchema): unknown {
  if (reference === '#') return root;
  const parts = reference.replace(/^#\//u, '').split('/');
  return parts.reduce<unknown>(
    (node, part) => (isObject(node) ? node[part.replaceAll('~1', '/').replaceAll('~0', '~')] : undefined),
    root,
  );
}

function wrap(type: string): string {
  return type.includes('|') ? `(${type})` : type;
}

function unique(types: readonly string[]): string[] {
  return [...new Set(types)];
}
