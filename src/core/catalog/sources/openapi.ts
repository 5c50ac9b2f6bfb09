/**
 * Reads OpenAPI 3.0 and 3.1 documents: each operation is one tool, whose HTTP call is described in `metadata.http` (read by
 * `http-target.ts`).
 */
import { messageOf } from '../../errors.js';
import { runInSlices } from '../../in-slices.js';
import { splitIdentifier } from '../../search/words.js';
import { createUniqueNames } from '../../unique-names.js';
import { MOST } from '../schema/bounds.js';
import { isObject, listOf, objectOf, withoutUndefined } from '../schema/json.js';
import { normaliseSchema } from '../schema/normalise.js';
import { dereference } from '../schema/references.js';
import { type EntryIssue, type JsonSchema, type Risk, warning } from '../tool.js';
import { readSecurity } from './openapi-security.js';
import {
  describeSource,
  isUrl,
  parseJsonOrYaml,
  type ReadContext,
  readText,
  type SourceFormat,
  type SourceReading,
  sourceFailed,
} from './source.js';

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'] as const;
const PLACES = ['path', 'query', 'header', 'cookie'];
/** The HTTP client sets these; OpenAPI says to ignore parameters of these names. */
const CLIENT_HEADERS = new Set(['accept', 'content-type', 'authorization']);
/** The properties of a body become arguments if its schema has only these keywords; else the body stays one argument. */
const PLAIN_OBJECT =
  /^(?:type|properties|required|additionalProperties|title|description|examples?|default|xml|externalDocs|x-.*)$/;
const RISK_OF_METHOD: Readonly<Record<string, Risk>> = { get: 'low', head: 'low', delete: 'high' };

export const openApiFormat: SourceFormat = {
  holds: (content) => 'openapi' in content || 'swagger' in content,
  read: readOpenApiSource,
};

interface Operation {
  readonly document: JsonSchema;
  readonly operation: JsonSchema;
  readonly pathItem: JsonSchema;
  readonly method: (typeof METHODS)[number];
  readonly route: string;
  readonly location: string;
  readonly problems: string[];
  /** Result schemas by their references. */
  readonly results: Map<string, JsonSchema | string>;
}

async function readOpenApiSource(path: string, context: ReadContext): Promise<SourceReading[]> {
  const document = parseDocument(await parseJsonOrYaml(await readText(path, context), path), path);
  return [await runInSlices(readOperations(document, path), context.signal)];
}

/** One operation per step: each has up to thousands of nodes. */
function* readOperations(document: JsonSchema, location: string): Generator<void, SourceReading, void> {
  const origin = describeSource(location);
  const issues: EntryIssue[] = [];
  const entries: object[] = [];
  const uniqueName = createUniqueNames();
  const results = new Map<string, JsonSchema | string>();
  for (const [route, rawItem] of Object.entries(objectOf(document.paths))) {
    if (route.startsWith('x-')) continue;
    const pathItem = dereference(document, rawItem);
    if (!pathItem) issues.push(warning(`${origin} ${route}`, 'no usable path item, left out'));
    for (const method of METHODS) {
      const operation = pathItem?.[method];
      if (!pathItem || !isObject(operation)) continue;
      const problems: string[] = [];
      const source = { document, operation, pathItem, problems, method, route, location, results };
      const name = nameOf(source, uniqueName);
      // An endlessly nested operation must not make the others fail.
      const entry = readEntry(source);
      const place = `${origin} ${method.toUpperCase()} ${route}`;
      issues.push(...problems.map((problem) => warning(place, problem, name)));
      if (entry) entries.push({ ...entry, name });
      yield;
    }
  }
  if (entries.length === 0) issues.push(warning(origin, 'paths: no operation in it'));
  return { origin, entries, issues };
}

function parseDocument(content: unknown, path: string): JsonSchema {
  if (!isObject(content))
    throw sourceFailed(path, 'is no OpenAPI document. Give a document with "openapi" and "paths"');
  const version = String(content.openapi ?? content.swagger);
  if (/^3\b/.test(version)) return content;
  const convert = /^2\b/.test(version) && 'Convert it first: npx swagger2openapi FILE -o openapi.json';
  throw sourceFailed(
    path,
    `is not of OpenAPI 3 (it says ${version}). ${convert || 'Convert it to OpenAPI 3.0 or 3.1 first'}`,
  );
}

function readEntry(source: Operation): ReturnType<typeof toEntry> | undefined {
  try {
    return toEntry(source);
  } catch (error) {
    const reason = error instanceof RangeError ? 'is nested too deeply' : `can't be read (${messageOf(error)})`;
    source.problems.push(`${reason}: left out`);
    return undefined;
  }
}

function toEntry(source: Operation) {
  const { operation, method, route } = source;
  const { summary, deprecated, tags } = operation;
  const { inputSchema, parameters, contentType } = collectArguments(source);
  const [server, security] = [readServer(source), readSecurity(source)];
  return withoutUndefined({
    title: typeof summary === 'string' ? summary : undefined,
    description: describe(operation),
    category: Array.isArray(tags) ? tags.find((tag) => typeof tag === 'string') : undefined,
    toolType: 'builtin',
    risk: RISK_OF_METHOD[method] ?? 'medium',
    inputSchema,
    outputSchema: readOutput(source),
    metadata: {
      http: withoutUndefined({ method: method.toUpperCase(), path: route, server, parameters, contentType, security }),
      ...(deprecated === true ? { deprecated } : {}),
    },
  });
}

/** The summary comes first, as it is often more informative; the description follows unless it begins with the summary. */
function describe({ summary, description }: JsonSchema): string {
  const [short, long] = [summary, description].map((text) => (typeof text === 'string' ? text.trim() : ''));
  if (!short || long?.toLowerCase().startsWith(short.toLowerCase())) return long ?? '';
  return long ? `${short}${/[.!?。！？]$/.test(short) ? '' : '.'} ${long}` : short;
}

/** The operationId in snake_case; method and path if there is none, or another operation has that name. */
function nameOf({ operation: { operationId }, method, route, problems }: Operation, uniqueName: UniqueName): string {
  const preferred = typeof operationId === 'string' ? toSnakeCase(operationId) : '';
  const name = uniqueName(preferred, toSnakeCase(`${method} ${route}`));
  if (preferred !== '' && name !== preferred)
    problems.push(
      `operationId ${JSON.stringify(operationId)}: another operation has this name, so the tool is ${name}`,
    );
  return name;
}

type UniqueName = ReturnType<typeof createUniqueNames>;

function toSnakeCase(text: string): string {
  return splitIdentifier(text).join('_');
}

function firstContent(content: unknown): { type: string; schema: unknown } | undefined {
  const types = Object.entries(objectOf(content));
  const [type, media] = types.find(([name]) => isJsonMedia(name)) ?? types[0] ?? [];
  return type === undefined ? undefined : { type, schema: objectOf(media).schema };
}

function isJsonMedia(type: string): boolean {
  return /^application\/(?:[\w.-]+\+)?json\b/i.test(type);
}

/** Self-contained JSON Schema. Requests have no `readOnly` properties, and results no `writeOnly` ones. */
function standalone(schema: JsonSchema, hidden: 'readOnly' | 'writeOnly', { document, problems }: Operation) {
  // A larger one is refused anyway, and a document may lead from each operation to all of its types.
  const normalised = normaliseSchema(schema, { root: document, hidden, most: MOST });
  problems.push(...normalised.notes);
  return normalised.schema;
}

/** Takes 200 before other 2xx; a response that is not JSON has no schema. Follows a reference at the top. */
function readOutput(source: Operation): JsonSchema | undefined {
  const { document, operation, results, problems } = source;
  const responses = objectOf(operation.responses);
  const [status = ''] = Object.keys(responses)
    .filter((code) => /^2(?:\d\d|XX)$/i.test(code))
    .sort();
  const content = firstContent(dereference(document, responses[status])?.content);
  if (!isObject(content?.schema) || !isJsonMedia(content.type)) return undefined;
  const { $ref } = content.schema;
  // Many operations may have one result.
  const known = typeof $ref === 'string' ? results.get($ref) : undefined;
  const result = known ?? readResult(dereference(document, content.schema) ?? content.schema, source);
  if (typeof $ref === 'string') results.set($ref, result);
  if (typeof result === 'object') return result;
  problems.push(`result: ${result}; the tool is taken without it`);
  return undefined;
}

/** Or why it can't be used. */
function readResult(schema: JsonSchema, source: Operation): JsonSchema | string {
  try {
    return standalone(schema, 'writeOnly', source);
  } catch (error) {
    return messageOf(error);
  }
}

interface Argument {
  readonly name: string;
  readonly schema: unknown;
  readonly isRequired: boolean;
  readonly target: JsonSchema;
}

function collectArguments(source: Operation) {
  const body = readBody(source);
  const placed = new Map<string, Argument>();
  const uniqueName = createUniqueNames();
  for (const argument of [...readParameters(source), ...body.arguments]) {
    // Of two with one name (`id` in path and body), the later one gets its place as a prefix.
    const { name, target } = argument;
    placed.set(uniqueName(name, `${target.in}_${name}`), argument);
  }
  const required = [...placed].filter(([, { isRequired }]) => isRequired).map(([name]) => name);
  const schema = {
    type: 'object',
    properties: Object.fromEntries([...placed].map(([name, argument]) => [name, argument.schema])),
    ...(required.length > 0 ? { required } : {}),
    additionalProperties: false,
  };
  const parameters = Object.fromEntries([...placed].map(([name, { target }]) => [name, target]));
  return { inputSchema: standalone(schema, 'readOnly', source), parameters, contentType: body.contentType };
}

/** An operation's parameters replace those of the path item with the same name and place. */
function readParameters({ document, operation, pathItem, route, problems }: Operation): Argument[] {
  const parameters = new Map<string, Argument>();
  for (const raw of [pathItem.parameters ?? [], operation.parameters ?? []].flatMap(listOf)) {
    const { in: place, name, ...parameter } = dereference(document, raw) ?? {};
    if (!PLACES.includes(String(place)) || typeof name !== 'string') {
      problems.push(`parameter ${JSON.stringify(raw)?.slice(0, 120)}: no usable name and place, left out`);
      continue;
    }
    if (place === 'header' && CLIENT_HEADERS.has(name.toLowerCase())) continue;
    const { example, description, style, explode, allowReserved } = parameter;
    const content = firstContent(parameter.content);
    const schema: JsonSchema = { example, ...objectOf(parameter.schema ?? content?.schema) };
    parameters.set(`${place} ${name}`, {
      name,
      schema: withoutUndefined({ ...schema, description: description ?? schema.description }),
      isRequired: place === 'path' || parameter.required === true,
      target: withoutUndefined({ in: place, name, style, explode, allowReserved, contentType: content?.type }),
    });
  }
  const undeclared = [...new Set(route.match(/\{[^{}]+\}/gu))].filter(
    (one) => !parameters.has(`path ${one.slice(1, -1)}`),
  );
  problems.push(
    ...undeclared.map((one) => `path: ${one} is no declared parameter, so no call can fill it; declare it`),
  );
  return [...parameters.values()];
}

function readBody({ document, operation, problems }: Operation): { arguments: Argument[]; contentType?: string } {
  const body = dereference(document, operation.requestBody);
  const content = firstContent(body?.content);
  if (!body || !content) {
    if (operation.requestBody !== undefined) problems.push('requestBody: no usable content, left out');
    return { arguments: [] };
  }
  const plain = dereference(document, content.schema) ?? {};
  const { properties, additionalProperties = false } = plain;
  if (
    !isObject(properties) ||
    additionalProperties !== false ||
    !Object.keys(plain).every((key) => PLAIN_OBJECT.test(key))
  ) {
    const schema = objectOf(content.schema);
    const described = withoutUndefined({ ...schema, description: body.description ?? schema.description });
    const whole = { name: 'body', schema: described, isRequired: body.required === true, target: { in: 'body' } };
    return { arguments: [whole], contentType: content.type };
  }
  // Many documents forget `required: true` on a body: its required properties count unless the body is declared optional.
  const required = new Set(body.required === false ? [] : listOf(plain.required ?? []));
  const shown = Object.entries(properties).filter(([, property]) => objectOf(property).readOnly !== true);
  const own = shown.map(([name, schema]): Argument => {
    return { name, schema, isRequired: required.has(name), target: { in: 'body', name } };
  });
  return { arguments: own, contentType: content.type };
}

/** The first server of the innermost list, with its variables' defaults; relative URLs resolve against the document's. */
function readServer({ document, operation, pathItem, location }: Operation): string | undefined {
  const lists = [operation.servers, pathItem.servers, document.servers];
  const [server] = lists.find((list): list is unknown[] => Array.isArray(list) && list.length > 0) ?? [];
  if (!isObject(server) || typeof server.url !== 'string') return undefined;
  const variables = new Map(Object.entries(objectOf(server.variables)));
  const url = server.url.replace(/\{([^{}]+)\}/g, (whole, name: string) =>
    String(objectOf(variables.get(name)).default ?? whole),
  );
  return isUrl(location) && URL.canParse(url, location) ? new URL(url, location).href : url;
}
