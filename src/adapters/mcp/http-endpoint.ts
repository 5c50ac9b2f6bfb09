/**
 * MCP over Streamable HTTP, in all revisions. In those with sessions, each id that `initialize` returned is one connection,
 * with its own router session. Only its user can find it.
 */
import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { NodeStreamableHTTPServerTransport } from '@modelcontextprotocol/node';
import { isInitializeRequest, isJSONRPCRequest } from '@modelcontextprotocol/server';
import { accountOf, type Caller } from '../../agents/contracts.js';
import { createPageGuard, LOOPBACK_HOSTS, type PageGuardOptions } from '../http/auth/page-guard.js';
import type { McpParts } from './answering.js';
import { type Connection, createConnection } from './connection.js';
import { askerOf } from './handles.js';
import { createStatelessEndpoint, isSessionful, type McpExchange, untilAborted } from './stateless-endpoint.js';

export interface McpHttpParts extends McpParts, Partial<PageGuardOptions> {
  /**
   * Most open connections, and most listening requests without one. One more ends the oldest idle connection of the user
   * who has most. Default: 1,000.
   */
  maxConnections?: number | undefined;
  /** The same limit for one user, whose own connections make room. Not for a caller without a gateway. Default: 64. */
  maxUserConnections?: number | undefined;
  /** Idle time after which a connection ends, in milliseconds. Default: 1 hour. */
  idleMs?: number | undefined;
}

export interface McpEndpoint {
  /** Answers the request, also when it is refused. */
  handle(exchange: McpExchange): Promise<void>;
  /** Refuses new clients, lets running requests end until the signal fires, then closes all. */
  close(signal?: AbortSignal): Promise<void>;
}

interface Open {
  readonly connection: Connection;
  readonly transport: NodeStreamableHTTPServerTransport;
  /** The caller that opened it; later requests may have other roles. */
  readonly caller: Caller | undefined;
  /** Open responses, including streams on which a client listens. */
  responses: number;
  /** The listening streams alone. */
  listeners: number;
  idle: NodeJS.Timeout | undefined;
}

const HOUR_MS = 3_600_000;
/** The codes of the SDK's own transport. */
const CODES = { refused: -32_000, unknown: -32_001 } as const;

/**
 * Streamable HTTP for a web server of your own: give each request to `handle`.
 * @example
 * const endpoint = createMcpEndpoint({ router, options: resolveMcpOptions(), logger: console });
 */
export function createMcpEndpoint(parts: McpHttpParts): McpEndpoint {
  const { maxConnections = 1_000, maxUserConnections = 64, idleMs = HOUR_MS } = parts;
  const allowedHosts = 'allowedHosts' in parts ? parts.allowedHosts : LOOPBACK_HOSTS;
  const guard = createPageGuard({ allowedHosts });
  /** Most recently used last. */
  const opened = new Map<string, Open>();
  const stateless = createStatelessEndpoint({ ...parts, most: { all: maxConnections, ofUser: maxUserConnections } });
  let isClosing = false;

  async function open(caller: Caller | undefined): Promise<Open> {
    const connection = createConnection(parts, askerOf(caller).owner, {
      isListening: () => one.listeners > 0,
      caller: ({ http }) => http?.authInfo?.extra?.caller as Caller | undefined,
    });
    const transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized(id) {
        opened.set(id, one);
        void connection.closed.then(() => {
          opened.delete(id);
          clearTimeout(one.idle);
        });
      },
    });
    const one: Open = { connection, transport, caller, responses: 0, listeners: 0, idle: undefined };
    await connection.server.connect(transport);
    return one;
  }

  /** Clients may leave without notice, so an idle connection makes room: the caller's own, or one of the user with most. */
  function findRoom(caller: Caller | undefined): 'free' | 'full' | 'own' {
    const own = [...opened.values()].filter((one) => accountOf(one.caller) === accountOf(caller));
    if (caller && own.length >= maxUserConnections) return endOldest(own) ? 'free' : 'own';
    if (opened.size < maxConnections) return 'free';
    const idle = [...opened.values()].filter(({ responses }) => responses === 0);
    return endOldest(ofGreediest(idle, [...opened.values()])) ? 'free' : 'full';
  }

  /** Prefers an idle connection; else, of the caller's own, one on which the client only listens. */
  function endOldest(among: readonly Open[]): boolean {
    const oldest =
      among.find(({ responses }) => responses === 0) ?? among.find((one) => one.responses === one.listeners);
    if (!oldest) return false;
    for (const [id, one] of opened) if (one === oldest) opened.delete(id);
    void oldest.connection.close();
    return true;
  }

  async function answer(one: Open, { request, response, body, caller }: McpExchange): Promise<void> {
    const { transport, connection } = one;
    clearTimeout(one.idle);
    const listens = request.method === 'GET' ? 1 : 0;
    one.responses += 1;
    one.listeners += listens;
    response.once('close', () => {
      one.responses -= 1;
      one.listeners -= listens;
      if (!response.writableFinished) cancelRequests(transport, body);
      if (one.responses === 0 && opened.get(transport.sessionId ?? '') === one)
        one.idle = setTimeout(() => void connection.close(), idleMs).unref();
    });
    // Set for each request, since a concurrent one may have other roles.
    const auth = { token: '', clientId: 'winnow', scopes: [], extra: { caller } };
    await transport.handleRequest(Object.assign(request, { auth }), response, body);
  }

  function find(id: string, caller: Caller | undefined): Open | undefined {
    const one = opened.get(id);
    if (!one || accountOf(one.caller) !== accountOf(caller)) return undefined;
    opened.delete(id);
    opened.set(id, one);
    return one;
  }

  async function handle(exchange: McpExchange): Promise<void> {
    const { request, response, body, caller } = exchange;
    const { 'mcp-session-id': id } = request.headers;
    const page = guard(request.headers);
    if (page !== undefined) return refuse(response, 403, page);
    if (!isSessionful(exchange))
      return isClosing ? refuse(response, 503, 'The server is stopping.') : stateless.handle(exchange);
    if (typeof id === 'string') {
      const one = find(id, caller);
      return one ? answer(one, exchange) : refuse(response, 404, 'Session not found', CODES.unknown);
    }
    if (request.method !== 'POST' || !isInitializeRequest(body))
      return refuse(response, 400, 'The header Mcp-Session-Id is missing: send `initialize` first.');
    const room = isClosing ? 'full' : findRoom(caller);
    if (room === 'own')
      return refuse(response, 429, `${maxUserConnections} connections of yours are at work. End one.`);
    if (room === 'full') return refuse(response, 503, 'Too many clients are connected. Come back later.');
    const one = await open(caller);
    await answer(one, exchange);
    // Its `initialize` was refused, so no client can name it.
    if (one.transport.sessionId === undefined) await one.connection.close();
  }

  return {
    async handle(exchange) {
      const { response } = exchange;
      try {
        await handle(exchange);
      } catch (error) {
        parts.logger.error({ err: error }, 'a request of MCP failed');
        if (response.headersSent) response.destroy();
        else refuse(response, 500, 'The server failed. See its log.');
      }
    },

    async close(signal) {
      isClosing = true;
      const closing = [...opened.values()].map(({ connection }) => closeWhenIdle(connection, signal));
      await Promise.all([...closing, stateless.close(signal)]);
    },
  };
}

/** A client that leaves cancels its requests: answers are not kept for its return. */
function cancelRequests(transport: NodeStreamableHTTPServerTransport, body: unknown): void {
  for (const message of [body].flat()) {
    if (!isJSONRPCRequest(message)) continue;
    const { id } = message;
    const reason = 'The client has left.';
    transport.onmessage?.({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id, reason } });
    // Otherwise the transport would keep the id, since a cancelled request has no answer.
    transport.send({ jsonrpc: '2.0', id, error: { code: CODES.refused, message: reason } }).catch(() => {});
  }
}

async function closeWhenIdle(connection: Connection, signal: AbortSignal | undefined): Promise<void> {
  await untilAborted(connection.idle(), signal);
  // Lets the last answer reach its response.
  await nextTurn();
  await connection.close();
  await connection.closed;
}

/** The connections of the user who has most in all. */
function ofGreediest(among: readonly Open[], all: readonly Open[]): Open[] {
  const counts = new Map<string | undefined, number>();
  const keyOf = ({ caller }: Open) => accountOf(caller);
  for (const one of all) counts.set(keyOf(one), (counts.get(keyOf(one)) ?? 0) + 1);
  const most = Math.max(0, ...among.map((one) => counts.get(keyOf(one)) ?? 0));
  return among.filter((one) => counts.get(keyOf(one)) === most);
}

function refuse(response: ServerResponse, status: number, message: string, code: number = CODES.refused): void {
  const body = JSON.stringify({ jsonrpc: '2.0', error: { code, message }, id: null });
  response.writeHead(status, { 'content-type': 'application/json' }).end(body);
}
