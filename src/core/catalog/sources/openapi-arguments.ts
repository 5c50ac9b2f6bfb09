/**
 * Schemas, parameters and bodies of an OpenAPI document as JSON Schema that stands alone: what a `$ref` points at is
 * copied to `$defs`, and the words of OpenAPI 3.0 are written as JSON Schema's own.
 */
import { isObject, listOf, mapChildren, withoutUndefined } from '../schema/json.js';
import { upgradeNode } from '../schema/normalise.js';
import { nameOfReference, resolveReference } from '../schema/paths.js';
import type { JsonSchema } from '../tool.js';

export const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'] as const;
const PLACES = ['path', 'query', 'header', 'cookie'] as const;
/** Set by the HTTP client; OpenAPI says to ignore parameters of these names. */
const CLIENT_HEADERS = new Set(['accept', 'content-type', 'authorization']);
/** A body whose schema has other keywords than these stays whole; the properties of a plain one become arguments. */
const PLAIN_OBJECT =
  /^(?:type|properties|required|additionalProperties|title|description|examples?|default|xml|externalDocs|x-.*)$/;
const FOREIGN = /^(?:discriminator|xml|externalDocs|example|x-.*)$/;
/** A chain of references this long is a circle. */
const MAX_REFERENCES = 32;

/** One operation, with the document and the path item that it stands in. */
export interface Operation {
  readonly document: JsonSchema;
  readonly operation: JsonSchema;
  readonly pathItem: JsonSchema;
  readonly method: (typeof METHODS)[number];
  readonly route: string;
  readonly location: string;
  /** One problem a line. */
  readonly problems: string[];
}

export function objectOf(value: unknown): JsonSchema {
  return isObject(value) ? value : {};
}

/** The object itself, or what its `$ref` points at, through chains; undefined where that is nothing. */
export function dereference(document: JsonSchema, value: unknown): JsonSchema | undefined {
  let current = value;
  for (let hops = 0; hops < MAX_REFERENCES && isObject(current); hops++) {
    if (typeof current.$ref !== 'string') return current;
    current = resolveReference(document, current.$ref);
  }
  return undefined;
}

/** JSON where it is offered, else the first media type. */
export function firstContent(content: unknown): { type: string; schema: unknown } | undefined {
  const types = Object.entries(objectOf(content));
  const [type, media] = types.find(([name]) => isJsonMedia(name)) ?? types[0] ?? [];
  return type === undefined ? undefined : { type, schema: objectOf(media).schema };
}

export function isJsonMedia(type: string): boolean {
  return /^application\/(?:[\w.-]+\+)?json\b/i.test(type);
}

interface Converter {
  convert(schema: unknown): JsonSchema;
  /** The schema with the definitions that all schemas converted so far point at. */
  finish(schema: JsonSchema): JsonSchema;
}

/** Requests hold no `readOnly` properties, and results no `writeOnly` ones. */
export function createConverter({ document, problems }: Operation, hidden: 'readOnly' | 'writeOnly'): Converter {
  const names = new Map<string, string>();
  const definitions = new Map<string, JsonSchema>();
  const isShown = (property: unknown) => !isObject(property) || property[hidden] !== true;

  function convert(schema: unknown): JsonSchema {
    if (!isObject(schema)) return {};
    const { $ref, ...beside } = schema;
    // In version 3.0 a reference hides what stands beside it, but for the description.
    const { description } = beside;
    const rest = String(document.openapi).startsWith('3.0') ? withoutUndefined({ description }) : beside;
    if (typeof $ref === 'string') return { ...convert(rest), ...define($ref) };
    const { example, ...node } = upgradeNode(schema);
    const shown = mapChildren(node, ({ keyword, value }) => {
      if (keyword === 'properties' && !isShown(value)) return undefined;
      return isObject(value) ? convert(value) : value;
    });
    const properties = objectOf(schema.properties);
    const known = Object.entries(shown).filter(([keyword]) => !FOREIGN.test(keyword));
    return withoutUndefined({
      ...Object.fromEntries(known),
      required: Array.isArray(shown.required) ? shown.required.filter((name) => isShown(properties[name])) : undefined,
      examples: shown.examples ?? (example === undefined ? undefined : [example]),
    });
  }

  function define(reference: string): JsonSchema {
    const target = resolveReference(document, reference);
    if (target === undefined) {
      const place = reference.startsWith('#') ? 'at nothing in the document' : 'out of the document (bundle it first)';
      problems.push(`$ref ${reference}: points ${place}; the place was left open`);
      return {};
    }
    let name = names.get(reference) ?? nameOfReference(reference);
    while (!names.has(reference) && definitions.has(name)) name += '_';
    if (!names.has(reference)) {
      names.set(reference, name);
      // The place is taken first: a definition may refer to itself.
      definitions.set(name, {});
      definitions.set(name, convert(target));
    }
    return { $ref: `#/$defs/${name}` };
  }

  const finish = (schema: JsonSchema): JsonSchema =>
    definitions.size === 0 ? schema : { ...schema, $defs: Object.fromEntries(definitions) };
  return { convert, finish };
}

interface Argument {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly isRequired: boolean;
  /** Where it goes in the HTTP call. */
  readonly target: JsonSchema;
}

/** Parameters of all places and the body, as the arguments of one tool. */
export function collectArguments(source: Operation) {
  const converter = createConverter(source, 'readOnly');
  const body = readBody(source, converter);
  const placed = new Map<string, Argument>();
  for (const argument of [...readParameters(source, converter), ...body.arguments]) {
    // Two of one name (an `id` in the path and in the body): the later has its place before its name.
    const long = `${argument.target.in}_${argument.name}`;
    let name = placed.has(argument.name) ? long : argument.name;
    for (let count = 2; placed.has(name); count++) name = `${long}_${count}`;
    placed.set(name, argument);
  }
  const required = [...placed].filter(([, { isRequired }]) => isRequired).map(([name]) => name);
  const inputSchema = converter.finish({
    type: 'object',
    properties: Object.fromEntries([...placed].map(([name, { schema }]) => [name, schema])),
    ...(required.length > 0 ? { required } : {}),
    additionalProperties: false,
  });
  const parameters = Object.fromEntries([...placed].map(([name, { target }]) => [name, target]));
  return { inputSchema, parameters, contentType: body.contentType };
}

/** The operation's own parameters replace those of the path item with the same name and place. */
function readParameters({ document, operation, pathItem, problems }: Operation, { convert }: Converter): Argument[] {
  const parameters = new Map<string, Argument>();
  for (const raw of [pathItem.parameters ?? [], operation.parameters ?? []].flatMap(listOf)) {
    const parameter = dereference(document, raw) ?? {};
    const { name, description, example, style, explode, allowReserved } = parameter;
    const place = PLACES.find((one) => one === parameter.in);
    if (!place || typeof name !== 'string') {
      problems.push(`parameter ${JSON.stringify(raw)?.slice(0, 120)}: no usable name and place, left out`);
      continue;
    }
    if (place === 'header' && CLIENT_HEADERS.has(name.toLowerCase())) continue;
    const content = firstContent(parameter.content);
    const schema = {
      ...(example === undefined ? {} : { examples: [example] }),
      ...convert(parameter.schema ?? content?.schema),
      ...(typeof description === 'string' ? { description } : {}),
    };
    const target = withoutUndefined({
      in: place,
      name,
      style: typeof style === 'string' ? style : undefined,
      explode: typeof explode === 'boolean' ? explode : undefined,
      allowReserved: allowReserved === true ? true : undefined,
      contentType: content?.type,
    });
    const isRequired = place === 'path' || parameter.required === true;
    parameters.set(`${place} ${name}`, { name, schema, isRequired, target });
  }
  return [...parameters.values()];
}

function readBody({ document, operation, problems }: Operation, { convert }: Converter) {
  const body = dereference(document, operation.requestBody);
  const content = firstContent(body?.content);
  if (!body || !content) {
    if (operation.requestBody !== undefined) problems.push('requestBody: no usable content, left out');
    return { arguments: [] };
  }
  const contentType = content.type;
  const plain = dereference(document, content.schema);
  const isOpen = plain?.additionalProperties !== undefined && plain.additionalProperties !== false;
  if (!isObject(plain?.properties) || isOpen || !Object.keys(plain).every((key) => PLAIN_OBJECT.test(key))) {
    const text = typeof body.description === 'string' ? { description: body.description } : {};
    const schema = { ...convert(content.schema), ...text };
    return {
      arguments: [{ name: 'body', schema, isRequired: body.required === true, target: { in: 'body' } }],
      contentType,
    };
  }
  // Many documents forget `required: true` on a body: its own required properties count unless it may be left out.
  const required = new Set(body.required === false ? [] : listOf(plain.required ?? []));
  const properties = Object.entries(plain.properties).filter(([, one]) => !isObject(one) || one.readOnly !== true);
  const own = properties.map(([name, property]): Argument => {
    return { name, schema: convert(property), isRequired: required.has(name), target: { in: 'body', name } };
  });
  return { arguments: own, contentType };
}
