/** The OpenAPI 3.1 document of the server, made from the same schemas and the same error table that it works by. */
import { STATUS_CODES } from 'node:http';
import { ERROR_TABLE } from '../../core/errors.js';
import { agentPaths } from './agents/openapi-paths.js';
import type { Route } from './agents/route.js';
import { MCP_SCHEMAS, mcpPath } from './mcp-openapi.js';
import {
  header,
  type Json,
  parameters,
  problemReferences,
  rolesHeader,
  securitySchemes,
  success,
  userHeader,
} from './openapi-parts.js';
import { renderSchemas, type SchemaName, schemaReference } from './openapi-schemas.js';
import { HTTP_FAULTS, PROBLEM_TYPE } from './problem.js';
import { REQUEST_ID_HEADER } from './request-id.js';

/** Faults of a raw connection, and of paths that are not in the document, belong to no operation. */
const FAULTS_OF_NO_OPERATION: readonly number[] = [404, 405, 408, 431];
const VIEW_STATUSES: readonly number[] = [400, 401, 403, 500, 503];

export interface OpenApiParts {
  version: string;
  /** Those for agents. Default: the server has none. */
  routes?: readonly Route[];
  /** Default: the server has no `/mcp`. */
  hasMcp?: boolean;
}

export function renderOpenApi({ version, routes = [], hasMcp = false }: OpenApiParts): Json {
  const problems = problemTexts();
  const all = [...problems.keys()].filter((status) => !FAULTS_OF_NO_OPERATION.includes(status) || isOfTable(status));
  return {
    openapi: '3.1.1',
    info: {
      title: 'Winnow',
      version,
      description:
        'From a request and a catalogue of tools to a checked plan. Every error is a problem document (RFC 9457).',
    },
    paths: {
      '/v1/plan': {
        post: planning('plan', 'Choose tools and write a checked plan', { answer: 'PlanResult', statuses: all }),
      },
      '/v1/select': { post: planning('select', 'Choose tools only', { answer: 'SelectResult', statuses: all }) },
      '/v1/tools': { get: toolsOperation() },
      ...agentPaths(routes),
      ...(hasMcp ? mcpPath() : {}),
      '/healthz': { get: statusOperation('health', 'Whether the process answers', []) },
      '/readyz': { get: statusOperation('readiness', 'Whether requests are taken', [503]) },
      '/openapi.json': { get: documentOperation() },
    },
    security: [{ token: [] }, { gateway: [] }, {}],
    components: {
      securitySchemes: securitySchemes(),
      schemas: renderSchemas(routes, hasMcp ? MCP_SCHEMAS : undefined),
      parameters: {
        RequestId: header(REQUEST_ID_HEADER, 'Your id of the request, for the logs.'),
        User: userHeader(),
        ...(routes.length > 0 || hasMcp ? { Roles: rolesHeader() } : {}),
      },
      headers: { RequestId: { description: 'The id under which the request is logged.', schema: { type: 'string' } } },
      responses: Object.fromEntries(
        [...problems].map(([status, text]) => [`Problem${status}`, problemResponse(status, text)]),
      ),
    },
  };
}

/** Status -> all that it can mean, one a line; from the error table, then from HTTP itself. */
function problemTexts(): Map<number, string> {
  const lines = Object.entries(ERROR_TABLE).map(
    ([code, { httpStatus, meaning }]) => [httpStatus, `\`${code}\`: ${meaning}`] as const,
  );
  const faults = Object.entries(HTTP_FAULTS).map(([status, text]) => [Number(status), text] as const);
  const texts = new Map<number, string>();
  for (const [status, line] of [...lines, ...faults]) {
    texts.set(status, texts.has(status) ? `${texts.get(status)}\n${line}` : line);
  }
  return new Map([...texts].sort(([a], [b]) => a - b));
}

function isOfTable(status: number): boolean {
  return Object.values(ERROR_TABLE).some(({ httpStatus }) => httpStatus === status);
}

function problemResponse(status: number, text: string): Json {
  const isRefusal = status === ERROR_TABLE.overloaded.httpStatus;
  const retry = { 'Retry-After': { description: 'With `overloaded`: seconds to wait.', schema: { type: 'integer' } } };
  return {
    description: `${STATUS_CODES[status] ?? 'The client left'}\n\n${text}`,
    headers: { [REQUEST_ID_HEADER]: { $ref: '#/components/headers/RequestId' }, ...(isRefusal ? retry : {}) },
    content: { [PROBLEM_TYPE]: { schema: schemaReference('Problem') } },
  };
}

function planning(
  operationId: string,
  summary: string,
  { answer, statuses }: { answer: SchemaName; statuses: readonly number[] },
): Json {
  return {
    operationId,
    summary,
    description:
      'With `accept: text/event-stream` the stages are streamed as they happen: `event: stage` with a TraceEvent, at the end ' +
      `\`event: result\` with a ${answer} or \`event: error\` with a Problem. What is refused before the first stage is answered by its status.`,
    parameters: parameters(),
    requestBody: { required: true, content: { 'application/json': { schema: schemaReference('PlanRequest') } } },
    responses: {
      200: success('The result', {
        'application/json': { schema: schemaReference(answer) },
        'text/event-stream': { schema: { type: 'string' } },
      }),
      ...problemReferences(statuses),
    },
  };
}

function toolsOperation(): Json {
  const user = {
    name: 'user',
    in: 'query',
    description: 'Also the private tools of this user.',
    schema: { type: 'string', minLength: 1 },
  };
  return {
    operationId: 'listTools',
    summary: 'The tools that the caller sees',
    parameters: [user, ...parameters()],
    responses: {
      200: success('The tools', { 'application/json': { schema: schemaReference('ToolList') } }),
      ...problemReferences(VIEW_STATUSES),
    },
  };
}

function statusOperation(operationId: string, summary: string, statuses: readonly number[]): Json {
  const schema = { type: 'object', properties: { status: { const: 'ok' } }, required: ['status'] };
  return {
    operationId,
    summary,
    responses: { 200: success('It does', { 'application/json': { schema } }), ...problemReferences(statuses) },
  };
}

function documentOperation(): Json {
  const content = { 'application/json': { schema: { type: 'object' } } };
  return { operationId: 'openapi', summary: 'This document', responses: { 200: success('OpenAPI 3.1', content) } };
}
