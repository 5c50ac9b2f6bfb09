/** `/mcp` in the OpenAPI document: how MCP travels over HTTP. What its messages hold is said by MCP itself, not here. */
import { z } from 'zod';
import type { Named } from './agents/route.js';
import { MCP_PATH } from './mcp-route.js';
import { header, type Json, parameters, problemReferences, rolesReference, success } from './openapi-parts.js';
import { schemaReference } from './openapi-schemas.js';
import { PROBLEM_TYPE } from './problem.js';

const MESSAGE = {
  name: 'McpMessage',
  schema: z
    .looseObject({
      jsonrpc: z.literal('2.0'),
      id: z
        .union([z.string(), z.int()])
        .optional()
        .describe('Of a request, and of its answer. Absent: a notification.'),
      method: z.string().optional().describe('For example `initialize`, `tools/list` or `tools/call`.'),
      params: z.record(z.string(), z.unknown()).optional(),
    })
    .describe('A message of the Model Context Protocol (JSON-RPC 2.0).'),
} as const satisfies Named;
const FAILURE = {
  name: 'McpFailure',
  schema: z
    .object({
      jsonrpc: z.literal('2.0'),
      id: z.union([z.string(), z.int(), z.null()]),
      error: z.object({ code: z.int(), message: z.string() }),
    })
    .describe('Why MCP takes the message not at all. What a tool does wrong is an answer with `isError`.'),
} as const satisfies Named;

export const MCP_SCHEMAS = { inputs: [MESSAGE], outputs: [FAILURE] };

const SESSION_HEADER = 'mcp-session-id';
const SESSION_TEXT = 'The id of the connection, as the answer to `initialize` gave it in this header.';

/** Path -> its operations. */
export function mcpPath(): Json {
  return {
    [MCP_PATH]: {
      post: {
        operationId: 'mcpSend',
        summary: 'MCP: send a message',
        description:
          'Streamable HTTP: the first message is `initialize`, and all others carry the session that its answer names. A ' +
          'request is answered as a stream of events, the last of which is its answer.',
        parameters: connection({ isRequired: false }),
        requestBody: { required: true, content: { 'application/json': { schema: schemaReference(MESSAGE) } } },
        responses: {
          200: answered('The answer, behind what happened meanwhile'),
          202: success('Taken: a notification has no answer', {}),
          ...failures([400, 401, 403, 404, 406, 413, 415, 429, 500, 503]),
        },
      },
      get: {
        operationId: 'mcpListen',
        summary: 'MCP: listen to what the server tells by itself, such as that the list of tools has changed',
        parameters: connection({ isRequired: true }),
        responses: { 200: answered('Until either side ends it'), ...failures([400, 401, 403, 404, 406, 409, 503]) },
      },
      delete: {
        operationId: 'mcpEnd',
        summary: 'MCP: end the connection, with all that is enabled in it',
        parameters: connection({ isRequired: true }),
        responses: { 200: success('It has ended', {}), ...failures([400, 401, 403, 404, 503]) },
      },
    },
  };
}

function connection({ isRequired }: { isRequired: boolean }): Json[] {
  const version = header('mcp-protocol-version', 'As agreed on by `initialize`, for example `2025-06-18`.');
  const session = { ...header(SESSION_HEADER, SESSION_TEXT), required: isRequired };
  return [session, version, ...parameters(), rolesReference()];
}

function answered(description: string): Json {
  const { headers, ...answer } = success(description, { 'text/event-stream': { schema: { type: 'string' } } });
  return { ...answer, headers: { ...Object(headers), [SESSION_HEADER]: { schema: { type: 'string' } } } };
}

/** Statuses that MCP itself answers with. */
const OF_PROTOCOL: ReadonlyMap<number, string> = new Map([
  [400, 'No message of MCP, or one without a session'],
  [403, 'A page of another place, or another name than those that this server answers to'],
  [404, 'There is no such session: begin with `initialize` again'],
  [406, 'The header Accept must name application/json and text/event-stream'],
  [409, 'The session has a listener already'],
  [429, 'Too many connections or requests of this user at once'],
  [503, 'Too many clients or requests at once, or the server is stopping'],
]);
/** The server around MCP answers so, too: with a problem document, as everywhere. */
const ALSO_OF_SERVER: ReadonlySet<number> = new Set([400, 403, 429, 503]);

function failures(statuses: readonly number[]): Json {
  const own = statuses.flatMap((status) => {
    const text = OF_PROTOCOL.get(status);
    return text === undefined ? [] : [[status, success(text, failureContent(status))] as const];
  });
  const others = statuses.filter((status) => !OF_PROTOCOL.has(status));
  return { ...Object.fromEntries(own), ...problemReferences(others) };
}

function failureContent(status: number): Json {
  const problem = { [PROBLEM_TYPE]: { schema: schemaReference('Problem') } };
  return {
    'application/json': { schema: schemaReference(FAILURE) },
    ...(ALSO_OF_SERVER.has(status) ? problem : {}),
  };
}
