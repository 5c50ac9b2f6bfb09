/**
 * A connection to one MCP server that stays open over many calls. How a call ended is a value that tells whether the
 * server can have begun: the caller knows whether it may be repeated.
 */
import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { connect, failureReason, NO_TIMEOUT_MS } from '../../../core/catalog/sources/mcp-connection.js';
import type { McpServer } from '../../../core/catalog/sources/source.js';
import { isNeverConnected } from '../../../core/errors.js';
import type { Progress } from '../../contracts.js';
import type { ExecutorCall } from './executor.js';

/** `not_sent`: the server has not seen the call. `lost`: the connection broke on the way. `refused`: it said no. */
export type McpAnswer =
  | { ok: true; content: readonly unknown[]; structuredContent?: unknown; isError: boolean }
  | { ok: false; kind: 'not_sent' | 'lost' | 'refused'; reason: string };

export interface McpToolCall {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** When it fires, the server is told by `notifications/cancelled`, and the answer is `lost`. */
  readonly signal: AbortSignal;
  readonly onProgress?: ExecutorCall['onProgress'];
}

export interface McpSession {
  /** False when the process has ended or the connection was closed. */
  isOpen(): boolean;
  callTool(call: McpToolCall): Promise<McpAnswer>;
  /** Ends the process, or gives the session back. Idempotent. */
  close(): Promise<void>;
}

const resultSchema = z.looseObject({
  content: z.array(z.unknown()).default([]),
  structuredContent: z.unknown().optional(),
  isError: z.boolean().default(false),
});

/**
 * @param options `connectTimeoutMs` is for the start of the server and the handshake
 * @throws Error whose message says what the server did, and what to do
 */
export async function openMcpSession(server: McpServer, options: { connectTimeoutMs: number }): Promise<McpSession> {
  const { client, close } = await connect(server, options.connectTimeoutMs);
  let isOpen = true;
  client.onclose = () => {
    isOpen = false;
  };
  return {
    isOpen: () => isOpen,
    close() {
      isOpen = false;
      return close();
    },
    async callTool({ name, arguments: input, signal, onProgress }) {
      if (!isOpen) return { ok: false, kind: 'not_sent', reason: 'the connection is closed' };
      try {
        const params = { name, arguments: { ...input } };
        const request = { method: 'tools/call', params } as const;
        const onprogress = ({ progress, total, message }: Progress) => onProgress?.({ progress, total, message });
        const options = { signal, timeout: NO_TIMEOUT_MS, onprogress };
        const answer = await client.request(request, resultSchema, options);
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
    return { kind: (error.code ?? 0) >= 500 ? 'lost' : 'refused', reason };
  }
  if (error instanceof z.core.$ZodError) return { kind: 'refused', reason: 'the answer is not of the form of MCP' };
  if (error instanceof Error && error.name === 'UnauthorizedError') return { kind: 'refused', reason };
  const { code } = Object(error instanceof Error ? error.cause : undefined);
  return { kind: reason === 'Not connected' || isNeverConnected(String(code)) ? 'not_sent' : 'lost', reason };
}
