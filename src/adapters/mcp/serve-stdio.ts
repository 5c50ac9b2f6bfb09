/** One client over stdin and stdout, as clients start a server from their configuration. Ends when the client leaves. */
import type { Readable, Writable } from 'node:stream';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import type { CreateSessionInput } from '../../agents/contracts.js';
import { type ConnectionOptions, createConnection, type McpParts } from './connection.js';

export interface StdioStreams {
  stdin: Readable;
  /** Nothing else may be written to it: it is the protocol. */
  stdout: Writable;
}

export interface StdioOptions extends Pick<ConnectionOptions, 'onClient'> {
  signal?: AbortSignal | undefined;
}

/** What runs when the client closes stdin gets so long, in milliseconds: clients kill a server after two seconds. */
const LAST_WORDS_MS = 1_500;

/**
 * Serves one client over the pipes of this process.
 * Resolves when the client has left, or the signal has fired, and the session has ended.
 * @param owner in whose name the session is opened
 * @example
 * const parts = { router, options: resolveMcpOptions(), logger: console };
 * await serveStdio(parts, { user: 'ann' }, { stdin: process.stdin, stdout: process.stdout });
 */
export async function serveStdio(
  parts: McpParts,
  owner: CreateSessionInput,
  { stdin, stdout, signal, onClient }: StdioStreams & StdioOptions,
): Promise<void> {
  // Whoever starts a process and speaks over its pipes is the user's own program.
  const connection = createConnection(parts, owner, { asksPerson: true, onClient });
  const close = () => void connection.close();
  const onEnd = async (): Promise<void> => {
    await Promise.race([connection.idle(), delay(LAST_WORDS_MS, undefined, { ref: false })]);
    // For the last answer to be written.
    await nextTurn();
    close();
  };
  for (const event of ['end', 'close']) stdin.once(event, () => void onEnd());
  // Of a client that was killed.
  stdout.on('error', close);
  signal?.addEventListener('abort', close, { once: true });
  await connection.connect(new StdioServerTransport(stdin, stdout));
  if (signal?.aborted) close();
  await connection.closed;
}
