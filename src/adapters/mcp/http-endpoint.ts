/**
 * MCP over Streamable HTTP, of all revisions. Of those with sessions each id that a client got in answer to its `initialize`
 * is one connection, with a router session of its own. It belongs to its user: to all others its id looks like none.
 */
import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { NodeStreamableHTTPServerTransport } from '@modelcontextprotocol/node';
import { isInitializeRequest } from '@modelcontextprotocol/server';
import { accountOf, type Caller } from '../../agents/contracts.js';
import { createPageGuard, LOOPBACK_HOSTS, type PageGuardOptions } from '../http/auth/page-guard.js';
import type { McpParts } from './answering.js';
import { type Connection, createConnection } from './connection.js';
import { askerOf } from './handles.js';
import { createStatelessEndpoint, isSessionful, type McpExchange, untilAborted } from './stateless-endpoint.js';

export interface McpHttpParts extends McpParts, Partial<PageGuardOptions> {
  /**
   * Most connections at a time, and most requests without one that only listen; then the oldest that waits for nothing ends,
   * of the user who has most. Default: 1,000.
   */
  maxConnections?: number | undefined;
  /** Most of one user; then their own make room. Not for a caller without a gateway. Default: 64. */
  maxUserConnections?: number | undefined;
  /** A connection on which nothing is open or asked for so long is over, in milliseconds. Default: 1 hour. */
  idleMs?: number | undefined;
}

export interface McpEndpoint {
  /** Answers the request, also when it is refused. */
  handle(exchange: McpExchange): Promise<void>;
  /** Takes nobody new, lets what runs end until the signal fires, then closes all. */
  close(signal?: AbortSignal): Promise<void>;
}

interface Open {
  readonly connection: Connection;
  readonly transport: NodeStreamableHTTPServerTransport;
  /** Who has opened it; roles of later requests may be others. */
  readonly caller: Caller | undefined;
  /** Responses under way, with the stream on which a client listens. */
  responses: number;
  /** Those streams. */
  listeners: number;
  idle: NodeJS.Timeout | undefined;
}

const HOUR_MS = 3_600_000;
/** As the SDK's own transport numbers them. */
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
  /** Those that did something last are last. */
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

  /** A client that is gone did not say so: one that waits for nothing makes room, and it is never a frugal user's. */
  function findRoom(caller: Caller | undefined): 'free' | 'full' | 'own' {
    const own = [...opened.values()].filter((one) => accountOf(one.caller) === accountOf(caller));
    if (caller && own.length >= maxUserConnections) return endOldest(own) ? 'free' : 'own';
    if (opened.size < maxConnections) return 'free';
    const idle = [...opened.values()].filter(({ responses }) => responses === 0);
    return endOldest(ofGreediest(idle, [...opened.values()])) ? 'free' : 'full';
  }

  /** Of those that wait for nothing; else, of one's own, one on which the client only listens. */
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
      if (one.responses === 0 && opened.get(transport.sessionId ?? '') === one)
        one.idle = setTimeout(() => void connection.close(), idleMs).unref();
    });
    // Of this request, also while another one with other roles is under way.
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
    // Its `initialize` was refused: nobody can name it.
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
        else refuse(response, 500, 'The server failed. Its log tells more.');
      }
    },

    async close(signal) {
      isClosing = true;
      const closing = [...opened.values()].map(({ connection }) => closeWhenIdle(connection, signal));
      await Promise.all([...closing, stateless.close(signal)]);
    },
  };
}

async function closeWhenIdle(connection: Connection, signal: AbortSignal | undefined): Promise<void> {
  await untilAborted(connection.idle(), signal);
  // For the last answer to be handed to its response.
  await nextTurn();
  await connection.close();
  await connection.closed;
}

/** Those of the user who has most connections in all. */
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
