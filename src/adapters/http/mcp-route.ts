/** `/mcp`: hands requests over to MCP's own protocol, within the limits of this server and in the name of its caller. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { finished } from 'node:stream/promises';
import type { FastifyInstance } from 'fastify';
import type { Caller } from '../../agents/contracts.js';
import { accountOf } from './caller.js';
import type { Gate } from './gate.js';
import type { Stop } from './graceful-stop.js';
import { REQUEST_ID_HEADER } from './request-id.js';

/** `createMcpEndpoint` makes one. */
export interface McpEndpoint {
  /** Answers the request, also when it is refused. */
  handle(exchange: {
    request: IncomingMessage;
    response: ServerResponse;
    body: unknown;
    caller: Caller | undefined;
  }): Promise<void>;
  /** Takes nobody new, lets what runs end until the signal fires, then closes all. */
  close(signal: AbortSignal): Promise<void>;
}

export const MCP_PATH = '/mcp';

export interface McpRouteParts {
  mcp: McpEndpoint;
  gate: Gate;
  stop: Stop;
}

export function addMcpRoute(app: FastifyInstance, { mcp, gate, stop }: McpRouteParts): void {
  app.addHook('preClose', () => mcp.close(stop.signal));
  app.route({
    method: ['GET', 'POST', 'DELETE'],
    url: MCP_PATH,
    exposeHeadRoute: false,
    async handler({ raw, body, identity: { caller }, id }, reply) {
      const answer = async (): Promise<void> => {
        reply.hijack();
        const response = reply.raw.setHeader(REQUEST_ID_HEADER, id);
        // A client that leaves before its answer is no error.
        const ended = finished(response).catch(() => {});
        await mcp.handle({ request: raw, response, body, caller });
        await ended;
        // Else a connection that is kept alive would hold a server open that stops.
        if (stop.isStopping) raw.socket.destroy();
      };
      await (isQuestion(raw.method, body) ? gate.run(accountOf(caller), answer) : answer());
    },
  });
}

/** A client that only listens, for hours, takes no place of those who ask, and that a call is cancelled must get through. */
function isQuestion(method: string | undefined, body: unknown): boolean {
  return method === 'POST' && (Array.isArray(body) || Object(body).id !== undefined);
}
