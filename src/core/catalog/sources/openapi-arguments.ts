/**
 * Schemas, parameters and bodies of an OpenAPI document as JSON Schema that stands alone: what a `$ref` points at is
 * copied to `$defs`, and the words of OpenAPI 3.0 are written as JSON Schema's own.
 */
import { isObject, listOf, mapChildren } from '../schema/json.js';
import { upgradeSchema } from '../schema/normalise.js';
import { followPointer, nameOfReference } from '../schema/paths.js';
import type { JsonSchema } from '../tool.js';

/** One operation, with the document and the path item that it stands in. */
export interface Operation {
  readonly document: JsonSchema;
  readonly operation: JsonSchema;
  readonly pathItem: JsonSchema;
  /** One problem a line. */
  readonly problems: string[];
}

/** Where an argument of the tool goes in the HTTP call. A `body` without a name is the body as a whole. */
export interface ArgumentTarget {
  in: 'path' | 'query' | 'header' | 'cookie' | 'body';
  name?: string;
  style?: string;
  explode?: boolean;
  /** Reserved characters such as `/` and `:` are written as they are. */
  allowReserved?: boolean;
  /** The value is written in this media type, not in a style. */
  contentType?: string;
}

export interface OperationArguments {
  readonly inputSchema: JsonSchema;
  readonly parameters: Readonly<Record<string, ArgumentTarget>>;
  /** Media type of the body. */
  readonly contentType?: string;
}

/** Requests hold no `readOnly` properties, and results no `writeOnly` ones. */
type Hidden = 'readOnly' | 'writeOnly';

interface Converter {
  convert(schema: unknown): JsonSchema;
  /** The schema with the definitions that all schemas converted so far point at. */
  finish(schema: JsonSchema): JsonSchema;
}

const PLACES = ['path', 'query', 'header', 'cookie'] as const;
/** Set by the HTTP client; OpenAPI says to ignore parameters of these names. */
const CLIENT_HEADERS = new Set(['accept', 'content-type', 'authorization']);
/** The properties of a body whose schema says no more than this become arguments. */
const PLAIN_OBJECT =
  /^(?:type|properties|required|additionalProperties|title|description|examples?|default|xml|externalDocs|x-.*)$/;
const FOREIGN = /^(?:discriminator|xml|externalDocs|example|x-.*)$/;
/** A chain of references this long is a circle. */
const MAX_REFERENCES = 32;

/** The object itself, or what its `$ref` points at, through chains; undefined where that is nothing. */
export function dereference(document: JsonSchema, value: unknown): JsonSchema | undefined {
  let current = value;
  for (let hops = 0; hops < MAX_REFERENCES && isObject(current); hops++) {
    if (typeof current.$ref !== 'string') return current;
    current = current.$ref.startsWith('#/') ? followPointer(document, current.$ref) : undefined;
  }
  return undefined;
}

/** JSON where it is offered, else the first media type. */
export function firstContent(content: unknown): { type: string; schema: unknown } | undefined {
  const types = Object.entries(isObject(content) ? content : {});
  const [type, media] = types.find(([name]) => isJsonMedia(name)) ?? types[0] ?? [];
  return type === undefined ? undefined : { type, schema: isObject(media) ? media.schema : undefined };
}

export function isJsonMedia(type: string): boolean {
  return /^application\/(?:[\w.-]+\+)?json\b/i.test(type);
}

/** The schema of a result. The reference at its top is followed, so that its fields are seen at once. */
export function convertResult({ document, problems }: Operation, schema: unknown): JsonSchema {
  const converter = createConverter(document, 'writeOnly', problems);
  return converter.finish(converter.convert(dereference(document, schema) ?? schema));
}

function createConverter(document: JsonSchema, hidden: Hidden, problems: string[]): Converter {
  const names = new Map<string, string>();
  const definitions = new Map<string, JsonSchema>();
  /** A reference hides what stands beside it, but for the description. */
  const isVersion30 = String(document.openapi).startsWith('3.0');

  function convert(schema: unknown): JsonSchema {
    if (!isObject(schema)) return {};
    const { $ref, ...beside } = schema;
    if (typeof $ref === 'string') {
      const text = typeof beside.description === 'string' ? { description: beside.description } : {};
      return { ...(isVersion30 ? text : convert(beside)), ...define($ref) };
    }
    const properties = new Map(Object.entries(isObject(schema.properties) ? schema.properties : {}));
    const isShown = (property: unknown) => !isObject(property) || property[hidden] !== true;
    const shown = mapChildren(schema, ({ keyword, value }) => {
      if (keyword === 'properties' && !isShown(value)) return undefined;
      return isObject(value) ? convert(value) : value;
    });
    const { example, examples = example === undefined ? undefined : [example], required, ...rest } = shown;
    const names = Array.isArray(required) && required.filter((name) => isShown(properties.get(name)));
    return {
      ...Object.fromEntries(Object.entries(rest).filter(([keyword]) => !FOREIGN.test(keyword))),
      ...(names ? { required: names } : {}),
      ...(examples === undefined ? {} : { examples }),
    };
  }

  function define(reference: string): JsonSchema {
    const target = reference.startsWith('#') ? followPointer(document, reference) : undefined;
    if (target === undefined) {
      const place = reference.startsWith('#') ? 'at nothing in the document' : 'out of the document (bundle it first)';
      problems.push(`$ref ${reference}: points ${place}; the place was left open`);
      return {};
    }
    let name = names.get(reference) ?? nameOfReference(reference);
    for (let count = 2; !names.has(reference) && definitions.has(name); count++)
      name = `${nameOfReference(reference)}_${count}`;
    if (!names.has(reference)) {
      names.set(reference, name);
      // The place is taken first: a definition may refer to itself.
      definitions.set(name, {});
      definitions.set(name, convert(target));
    }
    return { $ref: `#/$defs/${name}` };
  }

  function finish(schema: JsonSchema): JsonSchema {
    return upgradeSchema({ ...schema, ...(definitions.size === 0 ? {} : { $defs: Object.fromEntries(definitions) }) });
  }
  return { convert, finish };
}

interface Argument {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly isRequired: boolean;
  readonly target: ArgumentTarget;
}

/** Parameters of all places and the body, as the arguments of one tool. */
export function collectArguments(operation: Operation): OperationArguments {
  const converter = createConverter(operation.document, 'readOnly', operation.problems);
  const body = readBody(operation, converter);
  const placed = new Map<string, Argument>();
  for (const argument of [...readParameters(operation, converter), ...body.arguments]) {
    // Two of one name (an `id` in the path and in the body): the later has its place before its name.
    const long = `${argument.target.in}_${argument.name}`;
    let name = placed.has(argument.name) ? long : argument.name;
    for (let count = 2; placed.has(name); count++) name = `${long}_${count}`;
    placed.set(name, argument);
  }
  const entries = [...placed];
  const required = entries.filter(([, { isRequired }]) => isRequired).map(([name]) => name);
  const inputSchema = converter.finish({
    type: 'object',
    properties: Object.fromEntries(entries.map(([name, { schema }]) => [name, schema])),
    ...(required.length > 0 ? { required } : {}),
    additionalProperties: false,
  });
  const parameters = Object.fromEntries(entries.map(([name, { target }]) => [name, target]));
  return { inputSchema, parameters, ...(body.contentType === undefined ? {} : { contentType: body.contentType }) };
}

/** The operation's own parameters replace those of the path item with the same name and place. */
function readParameters({ document, operation, pathItem, problems }: Operation, converter: Converter): Argument[] {
  const parameters = new Map<string, Argument>();
  for (const raw of [...listOf(pathItem.parameters ?? []), ...listOf(operation.parameters ?? [])]) {
    const parameter = dereference(document, raw);
    const where = PLACES.find((name) => name === parameter?.in);
    if (!parameter || !where || typeof parameter.name !== 'string') {
      problems.push(`parameter ${JSON.stringify(raw)?.slice(0, 120)}: no usable name and place, left out`);
    } else if (where !== 'header' || !CLIENT_HEADERS.has(parameter.name.toLowerCase())) {
      parameters.set(
        `${where} ${parameter.name}`,
        toArgument(parameter, { in: where, name: parameter.name }, converter),
      );
    }
  }
  return [...parameters.values()];
}

function toArgument(parameter: JsonSchema, place: ArgumentTarget & { name: string }, converter: Converter): Argument {
  const content = firstContent(parameter.content);
  const { description, example, style, explode, allowReserved } = parameter;
  const schema = {
    ...(example === undefined ? {} : { examples: [example] }),
    ...converter.convert(parameter.schema ?? content?.schema),
    ...(typeof description === 'string' ? { description } : {}),
  };
  const target = {
    ...place,
    ...(typeof style === 'string' ? { style } : {}),
    ...(typeof explode === 'boolean' ? { explode } : {}),
    ...(allowReserved === true ? { allowReserved } : {}),
    ...(content ? { contentType: content.type } : {}),
  };
  return { name: place.name, schema, isRequired: place.in === 'path' || parameter.required === true, target };
}

function readBody(
  { document, operation, problems }: Operation,
  converter: Converter,
): { arguments: Argument[]; contentType?: string } {
  if (operation.requestBody === undefined) return { arguments: [] };
  const body = dereference(document, operation.requestBody);
  const content = firstContent(body?.content);
  if (!body || !content) {
    problems.push('requestBody: no usable content, left out');
    return { arguments: [] };
  }
  const plain = plainObject(document, content.schema);
  if (plain) return { arguments: spreadBody(plain, body.required !== false, converter), contentType: content.type };
  const text = typeof body.description === 'string' ? { description: body.description } : {};
  const schema = { ...converter.convert(content.schema), ...text };
  const whole: Argument = { name: 'body', schema, isRequired: body.required === true, target: { in: 'body' } };
  return { arguments: [whole], contentType: content.type };
}

/** Many documents forget `required: true` on a body: its own required properties count unless it may be left out. */
function spreadBody(schema: JsonSchema, isNeeded: boolean, converter: Converter): Argument[] {
  const required = new Set(isNeeded ? listOf(schema.required ?? []) : []);
  return Object.entries(isObject(schema.properties) ? schema.properties : {})
    .filter(([, property]) => !isObject(property) || property.readOnly !== true)
    .map(([name, property]) => ({
      name,
      schema: converter.convert(property),
      isRequired: required.has(name),
      target: { in: 'body', name },
    }));
}

function plainObject(document: JsonSchema, schema: unknown): JsonSchema | undefined {
  const target = dereference(document, schema);
  if (!target || !isObject(target.properties)) return undefined;
  const isClosed = target.additionalProperties === undefined || target.additionalProperties === false;
  return isClosed && Object.keys(target).every((key) => PLAIN_OBJECT.test(key)) ? target : undefined;
}
