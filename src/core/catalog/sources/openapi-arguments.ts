/** Path, query, header and cookie parameters and the request body of one operation, as the arguments of one tool. */
import { isObject } from '../schema/json.js';
import type { JsonSchema } from '../tool.js';
import {
  createSchemaConverter,
  dereference,
  isHidden,
  type OpenApiDocument,
  type SchemaConverter,
} from './openapi-schema.js';

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

interface Argument {
  /** Preferred name; made unique by `place`. */
  name: string;
  schema: JsonSchema;
  required: boolean;
  target: ArgumentTarget;
}

export interface Operation {
  readonly document: OpenApiDocument;
  /** The operation object, and the path item that it stands in. */
  readonly operation: Readonly<Record<string, unknown>>;
  readonly pathItem: Readonly<Record<string, unknown>>;
  /** One problem a line. */
  readonly problems: string[];
}

const PLACES = ['path', 'query', 'header', 'cookie'] as const;
/** Set by the HTTP client; OpenAPI says to ignore parameters of these names. */
const CLIENT_HEADERS = new Set(['accept', 'content-type', 'authorization']);
/** A body whose schema says no more than this can be spread: its properties become arguments. */
const PLAIN_OBJECT =
  /^(?:type|properties|required|additionalProperties|title|description|examples?|default|xml|externalDocs|x-.*)$/;

export function collectArguments(operation: Operation): OperationArguments {
  const converter = createSchemaConverter(operation.document, 'request', operation.problems);
  const body = readBody(operation, converter);
  const placed = new Map<string, Argument>();
  for (const argument of [...readParameters(operation, converter), ...body.arguments]) place(argument, placed);
  const entries = [...placed];
  const required = entries.filter(([, argument]) => argument.required).map(([name]) => name);
  return {
    inputSchema: {
      type: 'object',
      properties: Object.fromEntries(entries.map(([name, { schema }]) => [name, schema])),
      ...(required.length > 0 ? { required } : {}),
      additionalProperties: false,
      ...converter.definitions(),
    },
    parameters: Object.fromEntries(entries.map(([name, { target }]) => [name, target])),
    ...(body.contentType === undefined ? {} : { contentType: body.contentType }),
  };
}

/** Two arguments of one name (an `id` in the path and in the body): the later is named after its place. */
function place(argument: Argument, placed: Map<string, Argument>): void {
  let name = argument.name;
  if (placed.has(name)) name = `${argument.target.in}_${argument.name}`;
  for (let number = 2; placed.has(name); number++) name = `${argument.target.in}_${argument.name}_${number}`;
  placed.set(name, argument);
}

/** The operation's own parameters replace those of the path item that have the same name and place. */
function readParameters({ document, operation, pathItem, problems }: Operation, converter: SchemaConverter) {
  const parameters = new Map<string, Argument>();
  for (const raw of [...listOf(pathItem.parameters), ...listOf(operation.parameters)]) {
    const parameter = dereference(document, raw);
    const where = PLACES.find((name) => name === parameter?.in);
    if (!parameter || !where || typeof parameter.name !== 'string') {
      problems.push(`parameter ${JSON.stringify(raw)?.slice(0, 120)}: no usable name and place, left out`);
    } else if (where !== 'header' || !CLIENT_HEADERS.has(parameter.name.toLowerCase())) {
      parameters.set(`${where} ${parameter.name}`, toArgument(parameter, { where, name: parameter.name, converter }));
    }
  }
  return parameters.values();
}

type ParameterPlace = { where: (typeof PLACES)[number]; name: string; converter: SchemaConverter };

function toArgument(parameter: Record<string, unknown>, { where, name, converter }: ParameterPlace): Argument {
  const content = firstContent(parameter.content);
  const schema = converter.convert(parameter.schema ?? content?.schema);
  const { description, example, style, explode, allowReserved } = parameter;
  return {
    name,
    schema: {
      ...(example === undefined || 'examples' in schema ? {} : { examples: [example] }),
      ...schema,
      ...(typeof description === 'string' ? { description } : {}),
    },
    required: where === 'path' || parameter.required === true,
    target: {
      in: where,
      name,
      ...(typeof style === 'string' ? { style } : {}),
      ...(typeof explode === 'boolean' ? { explode } : {}),
      ...(allowReserved === true ? { allowReserved } : {}),
      ...(content ? { contentType: content.type } : {}),
    },
  };
}

function readBody(operation: Operation, converter: SchemaConverter): { arguments: Argument[]; contentType?: string } {
  const { document, problems } = operation;
  if (operation.operation.requestBody === undefined) return { arguments: [] };
  const body = dereference(document, operation.operation.requestBody);
  const content = firstContent(body?.content);
  if (!body || !content) {
    problems.push('requestBody: no usable content, left out');
    return { arguments: [] };
  }
  const plain = plainObject(document, content.schema);
  const whole = (): Argument => ({
    name: 'body',
    schema: {
      ...converter.convert(content.schema),
      ...(typeof body.description === 'string' ? { description: body.description } : {}),
    },
    required: body.required === true,
    target: { in: 'body' },
  });
  const spread = plain ? spreadBody(plain, body.required !== false, converter) : [whole()];
  return { arguments: spread, contentType: content.type };
}

/**
 * Many documents forget `required: true` on a body, so its own required properties count unless the document
 * says outright that the body may be left out.
 */
function spreadBody(schema: Record<string, unknown>, isNeeded: boolean, converter: SchemaConverter): Argument[] {
  const required = new Set(isNeeded ? listOf(schema.required) : []);
  return Object.entries(isObject(schema.properties) ? schema.properties : {})
    .filter(([, property]) => !isHidden(property, 'request'))
    .map(([name, property]) => ({
      name,
      schema: converter.convert(property),
      required: required.has(name),
      target: { in: 'body', name },
    }));
}

function plainObject(document: OpenApiDocument, schema: unknown): Record<string, unknown> | undefined {
  const target = dereference(document, schema);
  if (!target || !isObject(target.properties)) return undefined;
  const isClosed = target.additionalProperties === undefined || target.additionalProperties === false;
  return isClosed && Object.keys(target).every((key) => PLAIN_OBJECT.test(key)) ? target : undefined;
}

/** JSON where it is offered, else the first media type. */
export function firstContent(content: unknown): { type: string; schema: unknown } | undefined {
  if (!isObject(content)) return undefined;
  const types = Object.entries(content);
  const [type, media] = types.find(([name]) => isJsonType(name)) ?? types[0] ?? [];
  return type === undefined ? undefined : { type, schema: isObject(media) ? media.schema : undefined };
}

export function isJsonType(type: string): boolean {
  return /^application\/(?:[\w.-]+\+)?json\b/i.test(type);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
