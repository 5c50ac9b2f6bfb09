/** Connections of a user to MCP servers over HTTP, and the page to which the issuer sends the user's browser back. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Agents } from '../../../agents/agents.js';
import {
  begunSchema,
  CALLBACK_PATH,
  type Connections,
  callbackSchema,
  connectionViewSchema,
} from '../../../agents/connections/connections.js';
import { type Caller, OPERATOR_ROLE } from '../../../agents/contracts.js';
import { parseInput } from '../../../core/parse.js';
import { PAGE_HEADERS } from '../page-routes.js';
import type { ReportError } from '../problem.js';
import { ofUserSchema, ownerOf } from './owner.js';
import { type Route, route } from './route.js';

const BASE = '/v1/connections';

/** @param origin address of this server, once it listens */
export function connectionRoutes(connections: Connections, origin: () => string): Route[] {
  return [
    route({
      method: 'GET',
      path: BASE,
      operationId: 'listConnections',
      summary: 'MCP servers that you connect to your own account there',
      query: ofUserSchema,
      answer: { name: 'ConnectionList', schema: z.object({ connections: z.array(connectionViewSchema) }) },
      handle: async ({ query, caller }) => ({ connections: await connections.list(whoOf(caller, query.user)) }),
    }),
    route({
      method: 'POST',
      path: `${BASE}/:id`,
      operationId: 'beginConnection',
      summary: 'Begin to connect a server, by its name: the address to open in this browser',
      description:
        'The answer sets a cookie. The issuer sends the browser back, and only with this cookie, once and within ten ' +
        'minutes, the server becomes connected. What an operator connects first also reads the tools of the server.',
      takesPlace: true,
      body: { name: 'ConnectionRequest', schema: ofUserSchema },
      answer: { name: 'BegunConnection', schema: begunSchema },
      async handle({ id, body, caller, setHeader }) {
        const { view, cookie } = await connections.begin(whoOf(caller, body.user), id, origin());
        setHeader('set-cookie', cookie);
        return view;
      },
    }),
    route({
      method: 'DELETE',
      path: `${BASE}/:id`,
      operationId: 'removeConnection',
      summary: 'Disconnect a server, by its name: its tokens are taken back where the issuer does that, and forgotten',
      query: ofUserSchema,
      answer: {
        name: 'RemovedConnection',
        schema: z.object({ removed: z.string(), isRevoked: z.boolean().describe('The issuer took the tokens back.') }),
      },
      handle: async ({ id, query, caller }) => ({
        removed: id,
        isRevoked: await connections.remove(whoOf(caller, query.user), id),
      }),
    }),
  ];
}

function whoOf(caller: Caller | undefined, named: string | undefined): Caller & { user: string } {
  return { user: ownerOf(caller, named), roles: caller ? (caller.roles ?? []) : [OPERATOR_ROLE] };
}

interface CallbackParts extends Pick<Agents, 'rebuild'> {
  connections: Connections;
  reportError: ReportError;
}

/** Without a caller: a browser that comes from the issuer has the cookie alone. */
export function addConnectionCallback(app: FastifyInstance, parts: CallbackParts): void {
  const { connections, rebuild, reportError } = parts;
  const operation = {
    operationId: 'endConnection',
    summary: 'Where the issuer sends the browser back; a page in plain text',
    answerType: 'text/plain',
    isOpen: true,
  };
  app.get(CALLBACK_PATH, { config: { operation, isPage: true } }, async (request, reply) => {
    reply.headers({ ...PAGE_HEADERS, 'cache-control': 'no-store' }).type('text/plain; charset=utf-8');
    try {
      const answer = parseInput(callbackSchema, request.query);
      const { server, user, byOperator } = await connections.end(answer, request.headers.cookie ?? '');
      if (byOperator) await rebuild({ by: user });
      return `The server "${server}" is connected. You can close this page.\n`;
    } catch (error) {
      const { status, detail, requestId } = reportError(error, request);
      return reply.code(status).send(`${detail}\n\n${requestId}\n`);
    }
  });
}
