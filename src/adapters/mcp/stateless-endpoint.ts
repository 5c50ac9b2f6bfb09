/** Requests of MCP 2026-07-28 over HTTP: each is stateless and has its own caller. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { classifyInboundRequest, createMcpHandler, type ServerEventBus } from '@modelcontextprotocol/server';
import { accountOf, type Caller } from '../../agents/contracts.js';
import { withoutUndefined } from '../../core/catalog/schema/json.js';
import { orAborted } from '../../core/errors.js';
import { type McpParts, reportTo } from './answering.js';
import { type Asker, askerOf } from './handles.js';
import { createStateless } from './stateless.js';

export interface McpExchange {
  request: IncomingMessage;
  response: ServerResponse;
  /** Parsed already, within the limit of the server. */
  body: unknown;
  /** Undefined: the operator's own program asks. */
  caller: Caller | undefined;
}

interface StatelessEndpointParts extends McpParts {
  /** Most concurrent listening requests, in all and of one user. */
  most: { all: number; ofUser: number };
}

interface StatelessEndpoint {
  /** Answers the request, also when it is refused. */
  handle(exchange: McpExchange): Promise<void>;
  /** Ends listening requests at once, and lets the others run until the signal fires. */
  close(signal?: AbortSignal): Promise<void>;
}

/** Whether a request uses a revision with sessions. */
export function isSessionful({ request, body }: Pick<McpExchange, 'request' | 'body'>): boolean {
  const { method = '', headers } = request;
  if (method !== 'POST' || body === undefined) return true;
  const named = withoutUndefined({
    protocolVersionHeader: headerOf(headers['mcp-protocol-version']),
    mcpMethodHeader: headerOf(headers['mcp-method']),
    mcpNameHeader: headerOf(headers['mcp-name']),
  });
  return classifyInboundRequest({ httpMethod: method, body, ...named }).kind === 'legacy';
}

function headerOf(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(', ') : value;
}

const LISTEN = 'subscriptions/listen';

/** Waits for work that never fails, at most until the signal fires. */
export async function untilAborted(work: Promise<unknown>, signal: AbortSignal | undefined): Promise<void> {
  await (signal ? orAborted(work, signal).catch(() => undefined) : work);
}

interface Open {
  readonly account: string | undefined;
  readonly listens: boolean;
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

export function createStatelessEndpoint({ most, ...parts }: StatelessEndpointParts): StatelessEndpoint {
  const stateless = createStateless(parts);
  const opened = new Set<Open>();
  const onError = reportTo(parts.logger);

  /** For one request: changes of the tools that are always on for its caller. */
  function busFor(asker: Asker): ServerEventBus {
    return {
      publish() {},
      subscribe: (listener) => stateless.watch(asker, () => listener({ kind: 'tools_list_changed' })),
    };
  }

  function hasRoom(account: string | undefined): boolean {
    const listening = [...opened].filter(({ listens }) => listens);
    const own = listening.filter((one) => one.account === account).length;
    return listening.length < most.all && (account === undefined || own < most.ofUser);
  }

  return {
    async handle({ request, response, body, caller }) {
      const asker = askerOf(caller);
      const listens = Object(body).method === LISTEN;
      const account = accountOf(caller);
      const handler = createMcpHandler(() => stateless.serverFor(asker).server, {
        legacy: 'reject',
        bus: busFor(asker),
        maxSubscriptions: !listens || hasRoom(account) ? 1 : 0,
        onerror: onError,
      });
      const { method = 'POST', url = '/', headers } = request;
      const asked = { method, url, headers, [Symbol.asyncIterator]: () => request[Symbol.asyncIterator]() };
      const answer = toNodeHandler(handler, { onerror: onError });
      const ended = answer(asked, response, body).finally(() => opened.delete(one));
      const one: Open = { account, listens, ended, close: handler.close };
      opened.add(one);
      await ended;
    },

    async close(signal) {
      const all = [...opened];
      await Promise.all(all.filter(({ listens }) => listens).map((one) => one.close()));
      await untilAborted(Promise.allSettled(all.map(({ ended }) => ended)), signal);
      stateless.cancel();
      await Promise.all(all.map((one) => one.close()));
    },
  };
}
