/** OpenAPI 3.0 and 3.1 documents: each operation is one tool, with the facts of its HTTP call in `metadata.http`. */
import { isObject } from '../schema/json.js';
import type { EntryIssue, Risk } from '../tool.js';
import { collectArguments, firstContent, isJsonType, type Operation } from './openapi-arguments.js';
import { createSchemaConverter, dereference, type OpenApiDocument } from './openapi-schema.js';
import { readSecurity } from './openapi-security.js';
import { parseJsonOrYaml, readText, sourceFailed } from './read.js';
import { createReading, describeSource, isUrl, type ReadContext, type SourceReading } from './source.js';

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'] as const;
const RISK_OF_METHOD: Readonly<Record<string, Risk>> = { get: 'low', head: 'low', delete: 'high' };

/** @throws WinnowError `source_failed`, `cancelled` */
export async function readOpenApiSource(path: string, context: ReadContext): Promise<SourceReading> {
  const document = parseDocument(await parseJsonOrYaml(await readText(path, context), path), path);
  const origin = describeSource(path);
  const issues: EntryIssue[] = [];
  const names = new Set<string>();
  const entries: unknown[] = [];
  for (const { route, method, operation, pathItem } of listOperations(document, origin, issues)) {
    const problems: string[] = [];
    const entry = toEntry({ document, operation, pathItem, problems }, { method, route, names, location: path });
    entries.push(entry);
    const place = `${origin} ${method.toUpperCase()} ${route}`;
    issues.push(...problems.map((message) => ({ level: 'warning' as const, entry: place, name: entry.name, message })));
  }
  if (entries.length === 0) issues.push({ level: 'warning', entry: origin, message: 'paths: no operation in it' });
  return createReading([{ origin, entries }], { issues });
}

function listOperations(document: OpenApiDocument, origin: string, issues: EntryIssue[]) {
  const paths = isObject(document.content.paths) ? document.content.paths : {};
  return Object.entries(paths).flatMap(([route, rawItem]) => {
    if (route.startsWith('x-')) return [];
    const pathItem = dereference(document, rawItem);
    if (!pathItem)
      issues.push({ level: 'warning', entry: `${origin} ${route}`, message: 'no usable path item, left out' });
    return METHODS.flatMap((method) => {
      const operation = pathItem?.[method];
      return pathItem && isObject(operation) ? [{ route, method, operation, pathItem }] : [];
    });
  });
}

function parseDocument(content: unknown, path: string): OpenApiDocument {
  if (!isObject(content))
    throw sourceFailed(path, 'is no OpenAPI document. Give a document with "openapi" and "paths"');
  const version = String(content.openapi ?? content.swagger);
  if (/^3\./.test(version)) return { content, isVersion30: version.startsWith('3.0') };
  const advice = 'Convert it to OpenAPI 3.0 or 3.1 first';
  throw sourceFailed(path, `is not of OpenAPI 3 (it says ${version}). ${advice}`);
}

interface Call {
  method: (typeof METHODS)[number];
  route: string;
  /** Taken so far in the document. */
  names: Set<string>;
  location: string;
}

function toEntry(source: Operation, call: Call) {
  const { operation } = source;
  const { inputSchema, parameters, contentType } = collectArguments(source);
  const outputSchema = readOutput(source);
  const server = readServer(source, call.location);
  const security = readSecurity(source.document, operation, source.problems);
  const { summary, deprecated } = operation;
  const [category] = (Array.isArray(operation.tags) ? operation.tags : []).filter((tag) => typeof tag === 'string');
  return {
    name: uniqueName(operation.operationId, call),
    ...(typeof summary === 'string' ? { title: summary } : {}),
    description: describe(operation),
    ...(category === undefined ? {} : { category }),
    toolType: 'builtin',
    risk: RISK_OF_METHOD[call.method] ?? 'medium',
    inputSchema,
    ...(outputSchema === undefined ? {} : { outputSchema }),
    metadata: {
      http: {
        method: call.method.toUpperCase(),
        path: call.route,
        ...(server === undefined ? {} : { server }),
        parameters,
        ...(contentType === undefined ? {} : { contentType }),
        ...(security === undefined ? {} : { security }),
      },
      ...(deprecated === true ? { deprecated } : {}),
    },
  };
}

/** The summary is often the more telling; the description is added unless it says the same again. */
function describe({ summary, description }: Readonly<Record<string, unknown>>): string {
  const short = typeof summary === 'string' ? summary.trim() : '';
  const long = typeof description === 'string' ? description.trim() : '';
  if (short === '' || long.toLowerCase().startsWith(short.toLowerCase())) return long;
  if (long === '') return short;
  return `${short}${/[.!?。！？]$/.test(short) ? '' : '.'} ${long}`;
}

/** The operationId in snake_case; method and path where there is none, or another operation has the name. */
function uniqueName(operationId: unknown, { method, route, names }: Call): string {
  const preferred = typeof operationId === 'string' ? toSnakeCase(operationId) : '';
  const base = preferred === '' || names.has(preferred) ? toSnakeCase(`${method} ${route}`) : preferred;
  let name = base;
  for (let number = 2; names.has(name); number++) name = `${base}_${number}`;
  names.add(name);
  return name;
}

export function toSnakeCase(text: string): string {
  return text
    .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1_$2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1_$2')
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, '_')
    .replace(/^_+|_+$/g, '')
    .toLowerCase();
}

/** 200 before other 2xx; an answer that is not JSON has no schema. */
function readOutput({ document, operation, problems }: Operation) {
  const responses = isObject(operation.responses) ? operation.responses : {};
  const status = Object.keys(responses)
    .filter((code) => /^2(?:\d\d|XX)$/i.test(code))
    .sort()[0];
  const content = status === undefined ? undefined : firstContent(dereference(document, responses[status])?.content);
  if (!content || !isObject(content.schema) || !isJsonType(content.type)) return undefined;
  const converter = createSchemaConverter(document, 'response', problems);
  // At the top a reference is followed, so that the fields that other tools need are seen at once.
  const schema = converter.convert(dereference(document, content.schema) ?? content.schema);
  return { ...schema, ...converter.definitions() };
}

/** The nearest first server, with the default values of its variables; relative ones count from the document's URL. */
function readServer({ document, operation, pathItem }: Operation, location: string): string | undefined {
  const lists = [operation.servers, pathItem.servers, document.content.servers];
  const [server] = lists.find((list): list is unknown[] => Array.isArray(list) && list.length > 0) ?? [];
  if (!isObject(server) || typeof server.url !== 'string') return undefined;
  const variables = new Map(Object.entries(isObject(server.variables) ? server.variables : {}));
  const url = server.url.replace(/\{([^}]+)\}/g, (whole, name: string) => {
    const variable = variables.get(name);
    return isObject(variable) && variable.default !== undefined ? String(variable.default) : whole;
  });
  return isUrl(location) && URL.canParse(url, location) ? new URL(url, location).href : url;
}
