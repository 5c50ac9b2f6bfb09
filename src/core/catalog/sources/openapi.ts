/** OpenAPI 3.0 and 3.1 documents: each operation is one tool, with the facts of its HTTP call in `metadata.http`. */
import { isObject } from '../schema/json.js';
import type { EntryIssue, JsonSchema, Risk } from '../tool.js';
import {
  collectArguments,
  convertResult,
  dereference,
  firstContent,
  isJsonMedia,
  type Operation,
} from './openapi-arguments.js';
import { parseJsonOrYaml, readText, sourceFailed } from './read.js';
import {
  createReading,
  describeSource,
  isUrl,
  type ReadContext,
  type SourceFormat,
  type SourceReading,
} from './source.js';

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'] as const;
const RISK_OF_METHOD: Readonly<Record<string, Risk>> = { get: 'low', head: 'low', delete: 'high' };

export const openApiFormat: SourceFormat = {
  kind: 'openapi',
  names: /\.ya?ml$/i,
  holds: (content) => 'openapi' in content || 'swagger' in content,
  read: readOpenApiSource,
};

async function readOpenApiSource(path: string, context: ReadContext): Promise<SourceReading> {
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

function parseDocument(content: unknown, path: string): JsonSchema {
  if (!isObject(content))
    throw sourceFailed(path, 'is no OpenAPI document. Give a document with "openapi" and "paths"');
  const version = String(content.openapi ?? content.swagger);
  if (/^3\./.test(version)) return content;
  throw sourceFailed(path, `is not of OpenAPI 3 (it says ${version}). Convert it to OpenAPI 3.0 or 3.1 first`);
}

function listOperations(document: JsonSchema, origin: string, issues: EntryIssue[]) {
  const paths = Object.entries(isObject(document.paths) ? document.paths : {});
  return paths.flatMap(([route, rawItem]) => {
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

interface Call {
  readonly method: (typeof METHODS)[number];
  readonly route: string;
  /** Taken so far in the document. */
  readonly names: Set<string>;
  readonly location: string;
}

function toEntry(source: Operation, call: Call) {
  const { operation } = source;
  const { inputSchema, parameters, contentType } = collectArguments(source);
  const outputSchema = readOutput(source);
  const server = readServer(source, call.location);
  const security = readSecurity(source);
  const { summary, deprecated, tags } = operation;
  const category = Array.isArray(tags) ? tags.find((tag) => typeof tag === 'string') : undefined;
  const http = {
    method: call.method.toUpperCase(),
    path: call.route,
    ...(server === undefined ? {} : { server }),
    parameters,
    ...(contentType === undefined ? {} : { contentType }),
    ...(security === undefined ? {} : { security }),
  };
  return {
    name: uniqueName(operation.operationId, call),
    ...(typeof summary === 'string' ? { title: summary } : {}),
    description: describe(operation),
    ...(category === undefined ? {} : { category }),
    toolType: 'builtin',
    risk: RISK_OF_METHOD[call.method] ?? 'medium',
    inputSchema,
    ...(outputSchema === undefined ? {} : { outputSchema }),
    metadata: { http, ...(deprecated === true ? { deprecated } : {}) },
  };
}

/** The summary is often the more telling; the description follows unless it says the same again. */
function describe({ summary, description }: JsonSchema): string {
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
function readOutput(source: Operation): JsonSchema | undefined {
  const responses = isObject(source.operation.responses) ? source.operation.responses : {};
  const [status = ''] = Object.keys(responses)
    .filter((code) => /^2(?:\d\d|XX)$/i.test(code))
    .sort();
  const content = firstContent(dereference(source.document, responses[status])?.content);
  return content && isObject(content.schema) && isJsonMedia(content.type)
    ? convertResult(source, content.schema)
    : undefined;
}

/** The nearest first server, with the default values of its variables; relative ones count from the document's URL. */
function readServer({ document, operation, pathItem }: Operation, location: string): string | undefined {
  const lists = [operation.servers, pathItem.servers, document.servers];
  const [server] = lists.find((list): list is unknown[] => Array.isArray(list) && list.length > 0) ?? [];
  if (!isObject(server) || typeof server.url !== 'string') return undefined;
  const variables = new Map(Object.entries(isObject(server.variables) ? server.variables : {}));
  const url = server.url.replace(/\{([^}]+)\}/g, (whole, name: string) => {
    const variable = variables.get(name);
    return isObject(variable) && variable.default !== undefined ? String(variable.default) : whole;
  });
  return isUrl(location) && URL.canParse(url, location) ? new URL(url, location).href : url;
}

/** Where one credential of an operation goes in its HTTP call. No secret is ever in a document. */
export interface Credential {
  /** Name of the security scheme in the document. */
  readonly scheme: string;
  readonly in: 'header' | 'query' | 'cookie';
  /** Of the header, parameter or cookie. */
  readonly name: string;
  /** `bearer` and `basic` are put before the value; `basic` also encodes it. */
  readonly form?: 'bearer' | 'basic';
}

/**
 * The ways to be allowed in, each a list of credentials that are all needed. Undefined where the document asks for none.
 * A scheme that can't be sent (mutual TLS) takes its whole way out, with a problem.
 */
function readSecurity({ document, operation, problems }: Operation): Credential[][] | undefined {
  const required = operation.security ?? document.security;
  if (!Array.isArray(required) || required.length === 0) return undefined;
  return required.filter(isObject).flatMap((requirement) => {
    const credentials = Object.keys(requirement).map((scheme) => readScheme(document, scheme));
    for (const [index, scheme] of Object.keys(requirement).entries())
      if (!credentials[index])
        problems.push(`security "${scheme}": no scheme that can be sent, this way in was left out`);
    const known = credentials.filter((one) => one !== undefined);
    return known.length === credentials.length ? [known] : [];
  });
}

function readScheme(document: JsonSchema, scheme: string): Credential | undefined {
  const components = isObject(document.components) ? document.components : {};
  const schemes = isObject(components.securitySchemes) ? components.securitySchemes : {};
  const found = Object.hasOwn(schemes, scheme) ? dereference(document, schemes[scheme]) : undefined;
  const form = found?.type === 'http' ? String(found.scheme).toLowerCase() : '';
  const place = (['header', 'query', 'cookie'] as const).find((one) => one === found?.in);
  if (found?.type === 'apiKey')
    return place && typeof found.name === 'string' ? { scheme, in: place, name: found.name } : undefined;
  const isBearer = found?.type === 'oauth2' || found?.type === 'openIdConnect' || form === 'bearer';
  if (!isBearer && form !== 'basic') return undefined;
  return { scheme, in: 'header', name: 'Authorization', form: isBearer ? 'bearer' : 'basic' };
}
