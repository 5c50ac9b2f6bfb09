/** `/mcp`: passes requests to the MCP endpoint, within this server's limits and with the request's caller. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { finished } from 'node:stream/promises';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { accountOf, type Caller } from '../../agents/contracts.js';
import type { Gate } from './gate.js';
import type { Stop } from './graceful-stop.js';
import type { Operation } from './openapi.js';
import { REQUEST_ID_HEADER } from './problem.js';

/** `createMcpEndpoint` makes one. */
export interface McpEndpoint {
  /** Answers the request, also when it is refused. */
  handle(exchange: {
    request: IncomingMessage;
    response: ServerResponse;
    body: unknown;
    caller: Caller | undefined;
  }): Promise<void>;
  /** Refuses new clients, lets running requests end until the signal fires, then closes all. */
  close(signal: AbortSignal): Promise<void>;
}

export const MCP_PATH = '/mcp';

interface McpRouteParts {
  mcp: McpEndpoint;
  gate: Gate;
  stop: Stop;
}

export function addMcpRoute(app: FastifyInstance, { mcp, gate, stop }: McpRouteParts): void {
  app.addHook('preClose', () => mcp.close(stop.signal));
  for (const method of ['POST', 'GET', 'DELETE'] as const)
    app.route({
      method,
      url: MCP_PATH,
      exposeHeadRoute: false,
      config: { operation: { ...SHARED, ...OPERATIONS[method] } },
      async handler({ raw, body, identity: { caller }, id }, reply) {
        const answer = async (): Promise<void> => {
          reply.hijack();
          const response = reply.raw.setHeader(REQUEST_ID_HEADER, id);
          // A client that disconnects before its answer is no error.
          const ended = finished(response).catch(() => {});
          await mcp.handle({ request: raw, response, body, caller });
          await ended;
          // Otherwise a keep-alive connection would hold a stopping server open.
          if (stop.isStopping) raw.socket.destroy();
        };
        const questions = raw.method === 'POST' ? [body].flat().filter(isQuestion).length : 0;
        await (questions > 0 ? gate.run(accountOf(caller), answer, questions) : answer());
      },
    });
}

const MESSAGE = {
  name: 'McpMessage',
  schema: z
    .looseObject({
      jsonrpc: z.literal('2.0'),
      id: z
        .union([z.string(), z.int()])
        .optional()
        .describe('Id of a request and of its answer. Absent: a notification.'),
      method: z.string().optional().describe('For example `initialize`, `tools/list` or `tools/call`.'),
      params: z.record(z.string(), z.unknown()).optional(),
    })
    .describe('A message of the Model Context Protocol (JSON-RPC 2.0).'),
};
const SHARED = {
  answerType: 'text/event-stream',
  headers: {
    'mcp-session-id':
      'Before 2026-07-28: the id of the connection, as the answer to `initialize` gave it in this header.',
    'mcp-protocol-version': '`2026-07-28`, or as agreed on by `initialize`, for example `2025-06-18`.',
    'mcp-method': 'With 2026-07-28: the method of the message.',
    'mcp-name': 'With 2026-07-28: the name of the tool that is called.',
  },
  failure: {
    name: 'McpFailure',
    schema: z
      .object({
        jsonrpc: z.literal('2.0'),
        id: z.union([z.string(), z.int(), z.null()]),
        error: z.object({ code: z.int(), message: z.string() }),
      })
      .describe('Why MCP rejects the message. A failure of a tool is an answer with `isError`.'),
  },
} as const;
const OPERATIONS = {
  POST: {
    operationId: 'mcpSend',
    summary: 'MCP: send a message',
    description:
      'Streamable HTTP. With 2026-07-28 each message is stateless, and names its client with its capabilities in ' +
      '`params._meta`. Before it, the first message is `initialize`, and all others carry the session that its answer names. ' +
      'A request is answered as JSON, or as a stream of events, the last of which is its answer.',
    body: MESSAGE,
    otherStatuses: { 202: 'Accepted: a notification has no answer' },
  },
  GET: {
    operationId: 'mcpListen',
    summary: 'MCP before 2026-07-28: listen to notifications of the server, such as a changed list of tools',
  },
  DELETE: {
    answerType: 'none',
    operationId: 'mcpEnd',
    summary: 'MCP before 2026-07-28: end the connection and disable its tools',
  },
} as const satisfies Readonly<Record<string, Operation>>;

/**
 * Only requests take a place, and each of a batch takes one: clients may listen for hours, and a cancellation, or an answer
 * that a call waits for, must always get through.
 */
function isQuestion(message: unknown): boolean {
  const { id, method } = Object(message);
  return id !== undefined && method !== undefined && method !== 'subscriptions/listen';
}
