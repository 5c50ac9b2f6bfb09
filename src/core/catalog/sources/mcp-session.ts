/**
 * A connection to one MCP server that stays open over many calls. How a call ended is a value, and it tells whether
 * the server can have begun with it: only the caller knows whether it may be made again.
 */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { isNeverConnected } from '../../errors.js';
import { orAborted } from '../../promises.js';
import { readVersion } from '../../version.js';
import { failureReason } from './mcp-failure.js';
import { openConnection } from './mcp-server.js';
import type { McpServer } from './source.js';

/** `not_sent`: the server has not seen the call. `lost`: the connection broke on the way. `refused`: it said no. */
export type McpAnswer =
  | { ok: true; content: readonly unknown[]; structuredContent?: unknown; isError: boolean }
  | { ok: false; kind: 'not_sent' | 'lost' | 'refused'; reason: string };

export interface McpToolCall {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** When it fires, the server is told by `notifications/cancelled`, and the answer is `lost`. */
  readonly signal: AbortSignal;
}

export interface McpSession {
  /** False when the process has ended or the connection was closed. */
  isOpen(): boolean;
  callTool(call: McpToolCall): Promise<McpAnswer>;
  /** Ends the process, or gives the session back. Idempotent. */
  close(): Promise<void>;
}

export interface McpSessionOptions {
  /** For the start of the server and the handshake, in milliseconds. */
  readonly connectTimeoutMs: number;
}

/** The SDK's own time-out of a request; the signal of each call is what bounds it. */
const NO_TIMEOUT_MS = 2 ** 31 - 1;

const resultSchema = z.looseObject({
  content: z.array(z.unknown()).default([]),
  structuredContent: z.unknown().optional(),
  isError: z.boolean().default(false),
});

/** @throws Error whose message says what the server did, in words that follow its name */
export async function openMcpSession(server: McpServer, options: McpSessionOptions): Promise<McpSession> {
  const life = new AbortController();
  const connection = openConnection(server, life.signal);
  const client = new Client({ name: 'winnow', version: readVersion() });
  let open = true;
  client.onclose = () => {
    open = false;
  };
  let closing: Promise<void> | undefined;
  const close = () => {
    closing ??= closeConnection(connection.close, life);
    return closing;
  };
  const patience = AbortSignal.timeout(options.connectTimeoutMs);
  try {
    const timeout = options.connectTimeoutMs + 1_000;
    await orAborted(client.connect(connection.transport, { signal: patience, timeout }), patience);
  } catch (error) {
    await close();
    const reason = patience.aborted ? `did not start within ${options.connectTimeoutMs} ms` : failureReason(error);
    throw new Error(`can't be reached (${reason})${connection.lastWords()}`, { cause: error });
  }
  return {
    isOpen: () => open && closing === undefined,
    close,
    async callTool({ name, arguments: input, signal }) {
      if (!open || closing) return { ok: false, kind: 'not_sent', reason: 'the connection is closed' };
      try {
        const params = { name, arguments: { ...input } };
        const request = { method: 'tools/call', params } as const;
        const answer = await client.request(request, resultSchema, { signal, timeout: NO_TIMEOUT_MS });
        return { ok: true, ...answer };
      } catch (error) {
        return { ok: false, ...readFailure(error) };
      }
    },
  };
}

function readFailure(error: unknown): { kind: 'not_sent' | 'lost' | 'refused'; reason: string } {
  const reason = failureReason(error);
  if (error instanceof McpError) {
    const isConnection = error.code === ErrorCode.ConnectionClosed || error.code === ErrorCode.RequestTimeout;
    return { kind: isConnection ? 'lost' : 'refused', reason };
  }
  if (error instanceof StreamableHTTPError) {
    // By the specification of MCP, 404 says that the session has ended and must be opened anew.
    if (error.code === 404) return { kind: 'not_sent', reason };
    return { kind: error.code !== undefined && error.code >= 500 ? 'lost' : 'refused', reason };
  }
  if (error instanceof z.core.$ZodError) return { kind: 'refused', reason: 'the answer is not of the form of MCP' };
  if (error instanceof Error && error.name === 'UnauthorizedError') return { kind: 'refused', reason };
  const isUnsent = reason === 'Not connected' || isNeverConnected(String(causeCode(error)));
  return { kind: isUnsent ? 'not_sent' : 'lost', reason };
}

function causeCode(error: unknown): unknown {
  const cause = error instanceof Error ? error.cause : undefined;
  return typeof cause === 'object' && cause !== null && 'code' in cause ? cause.code : undefined;
}

async function closeConnection(close: () => Promise<void>, life: AbortController): Promise<void> {
  try {
    await close();
  } catch {
    // What can't be closed is gone already.
  } finally {
    life.abort();
  }
}
