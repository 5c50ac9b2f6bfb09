/** A JSON Schema as a TypeScript-like type: a third of the tokens of the JSON, and a form that models read well. */
import { isObject } from '../catalog/schema/json.js';
import { oneLine } from '../catalog/summary.js';
import type { JsonSchema } from '../catalog/tool.js';

/** Where a schema is rendered: what `$ref` looks in, and the references that are open, so that a recursion ends. */
interface Place {
  readonly root: JsonSchema;
  readonly open: readonly string[];
}

/** `{station: string, start?: string}` with comments behind the fields; `root` is where `$ref` looks. */
export function renderType(schema: unknown, root: JsonSchema): string {
  return render(schema, { root, open: [] });
}

function render(schema: unknown, place: Place): string {
  if (!isObject(schema)) return 'any';
  if (typeof schema.$ref === 'string') return renderReference(schema.$ref, place);
  if ('const' in schema) return JSON.stringify(schema.const);
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => JSON.stringify(value)).join('|') || 'never';
  const members = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(members)) return unique(members.map((member) => render(member, place))).join('|');
  if (Array.isArray(schema.type))
    return unique(schema.type.map((type) => render({ ...schema, type }, place))).join('|');
  if (schema.type === 'array') return `${wrap(render(schema.items ?? {}, place))}[]`;
  if (schema.type === 'object' || isObject(schema.properties)) return renderObject(schema, place);
  return typeof schema.type === 'string' ? schema.type : 'any';
}

/** Inside itself a type is only named. */
function renderReference(reference: string, { root, open }: Place): string {
  if (open.includes(reference)) return reference.split('/').at(-1) || 'any';
  return render(resolve(reference, root), { root, open: [...open, reference] });
}

function renderObject(schema: JsonSchema, place: Place): string {
  const properties = isObject(schema.properties) ? Object.entries(schema.properties) : [];
  if (properties.length === 0)
    return isObject(schema.additionalProperties) ? `{[key]: ${render(schema.additionalProperties, place)}}` : 'object';
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  const fields = properties.map(([name, value]) => {
    const comment = isObject(value) ? renderComment(value) : '';
    return `${renderKey(name)}${required.has(name) ? '' : '?'}: ${render(value, place)}${comment}`;
  });
  return `{${fields.join(', ')}}`;
}

function renderComment(schema: JsonSchema): string {
  const facts = factsOf(schema);
  return facts.length > 0 ? ` /* ${facts.join('; ')} */` : '';
}

const NUMBERS = [
  'minimum',
  'exclusiveMinimum',
  'maximum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
] as const;

/** What the type alone does not say, as it stands: a glob in a description may look like the end of a comment. */
function factsOf(schema: JsonSchema): string[] {
  const each = isObject(schema.items) ? factsOf(schema.items) : [];
  return [
    typeof schema.description === 'string' ? oneLine(schema.description) : '',
    typeof schema.format === 'string' ? `format ${schema.format}` : '',
    typeof schema.pattern === 'string' && schema.pattern.length <= 60 ? `pattern ${schema.pattern}` : '',
    'default' in schema ? `default ${JSON.stringify(schema.default)}` : '',
    ...NUMBERS.flatMap((key) => (isBound(schema[key]) ? [`${key} ${schema[key]}`] : [])),
    schema.uniqueItems === true ? 'no duplicates' : '',
    each.length > 0 ? `each: ${each.join('; ')}` : '',
  ].filter(Boolean);
}

/** The limits of numbers themselves, which some tools write into their schemas, say nothing. */
function isBound(value: unknown): value is number {
  return typeof value === 'number' && Math.abs(value) < Number.MAX_SAFE_INTEGER;
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
