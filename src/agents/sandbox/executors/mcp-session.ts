/**
 * A connection to one MCP server that stays open over many calls. How a call ended is a value that tells whether the
 * server can have begun: the caller knows whether it may be repeated.
 */
import { type Client, LOG_LEVEL_META_KEY, ProtocolError, SdkError, SdkErrorCode } from '@modelcontextprotocol/client';
import { z } from 'zod';
import {
  connect,
  failureReason,
  NO_TIMEOUT_MS,
  statusOf,
  type Way,
} from '../../../core/catalog/sources/mcp-connection.js';
import type { McpServer } from '../../../core/catalog/sources/mcp-server.js';
import { rawResultSchema } from '../../../core/catalog/sources/mcp-transport.js';
import { isNeverConnected, messageOf } from '../../../core/errors.js';
import type { LogMessage, Progress } from '../../contracts.js';
import type { ExecutorCall } from './executor.js';

export type McpContent = z.infer<typeof rawResultSchema>['raw'];

/** `not_sent`: the server has not seen the call. `lost`: the connection broke on the way. `refused`: it said no. */
export interface McpRefusal {
  readonly ok: false;
  readonly kind: 'not_sent' | 'lost' | 'refused';
  readonly reason: string;
}

export interface McpToolCall extends Pick<ExecutorCall, 'arguments' | 'user' | 'onProgress' | 'onLog'> {
  readonly name: string;
  /** Of the tool as the server described it: some of its arguments may have to be headers, too. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** When it fires, the server is told, and the answer is `lost`. */
  readonly signal: AbortSignal;
}

export interface McpSession {
  readonly client: Client;
  /** In which the server answered; the next connection need not try others. */
  readonly way: Way;
  /** False when the process has ended or the connection was closed. */
  isOpen(): boolean;
  callTool(call: McpToolCall): Promise<({ ok: true } & McpContent) | McpRefusal>;
  /** Ends the process, or gives the session back. Idempotent. */
  close(): Promise<void>;
}

export interface McpSessionOptions {
  /** For the start of the server and the handshake. */
  readonly connectTimeoutMs: number;
  readonly way?: Way | undefined;
}

/** @throws McpFailure whose message says what the server did, and what to do */
export async function openMcpSession(server: McpServer, options: McpSessionOptions): Promise<McpSession> {
  const { client, way, close } = await connect(server, { timeoutMs: options.connectTimeoutMs, way: options.way });
  const logs = listenToLogs(client);
  let isOpen = true;
  client.onclose = () => {
    isOpen = false;
  };
  return {
    client,
    way,
    isOpen: () => isOpen,
    close() {
      isOpen = false;
      return close();
    },
    async callTool({ name, arguments: input, inputSchema, user, signal, onProgress, onLog }) {
      if (!isOpen) return { ok: false, kind: 'not_sent', reason: 'the connection is closed' };
      const stopLogs = logs.tell(user, onLog);
      try {
        const _meta = onLog && way.era === 'modern' ? { _meta: { [LOG_LEVEL_META_KEY]: 'info' } } : {};
        const onprogress = ({ progress, total, message }: Progress) => onProgress?.({ progress, total, message });
        const toolDefinition = { name, inputSchema: { ...inputSchema, type: 'object' as const } };
        const options = { signal, timeout: NO_TIMEOUT_MS, onprogress, toolDefinition };
        const answer = await client.callTool({ name, arguments: { ...input }, ..._meta }, options);
        return { ok: true, ...readContent(answer) };
      } catch (error) {
        return readFailure(error);
      } finally {
        stopLogs();
      }
    },
  };
}

/** An answer without any content has nothing of which the raw form was kept. */
function readContent(answer: object): McpContent {
  return rawResultSchema.parse('raw' in answer ? answer : { raw: {} }).raw;
}

interface Logs {
  /** @returns a function that ends it */
  tell(user: string | undefined, listener: ExecutorCall['onLog']): () => void;
}

/**
 * A log message says not to which call it belongs, and may come after its end. So it goes to the calls that are under way as
 * long as one user alone has used the connection, and to nobody after that.
 */
function listenToLogs(client: Client): Logs {
  const listeners = new Set<(message: LogMessage) => void>();
  const users = new Set<string | undefined>();
  client.setNotificationHandler('notifications/message', ({ params: { level, logger, data } }) => {
    if (users.size > 1) return;
    for (const listener of listeners) listener({ level, logger, data });
  });
  return {
    tell(user, listener) {
      users.add(user);
      if (!listener) return () => {};
      const own = (message: LogMessage) => listener(message);
      listeners.add(own);
      return () => void listeners.delete(own);
    },
  };
}

const LOST: readonly string[] = [SdkErrorCode.ConnectionClosed, SdkErrorCode.RequestTimeout];

export function readFailure(error: unknown): McpRefusal {
  const end = (kind: McpRefusal['kind'], reason = failureReason(error)): McpRefusal => ({ ok: false, kind, reason });
  const status = statusOf(error);
  if (error instanceof ProtocolError) return end('refused');
  // By the specification of MCP, 404 says that the session has ended and must be opened anew.
  if (status === 404) return end('not_sent');
  if (status !== undefined) return end(status >= 500 ? 'lost' : 'refused');
  if (error instanceof z.core.$ZodError) return end('refused', NO_FORM);
  if (error instanceof SdkError) {
    if (error.code === SdkErrorCode.InvalidResult) return end('refused', NO_FORM);
    if (error.code === SdkErrorCode.NotConnected) return end('not_sent');
    return end(LOST.includes(error.code) ? 'lost' : 'refused');
  }
  const { code } = Object(error instanceof Error ? error.cause : undefined);
  const isUnsent = messageOf(error) === 'Not connected' || isNeverConnected(String(code));
  return end(isUnsent ? 'not_sent' : 'lost');
}

const NO_FORM = 'the answer is not of the form of MCP';
