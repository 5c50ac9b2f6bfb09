/** Serves one client over stdin and stdout, as clients start servers from their configuration. Ends with the client. */
import { PassThrough, type Readable, type Writable } from 'node:stream';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import { StdioServerTransport, serveStdio as serve } from '@modelcontextprotocol/server/stdio';
import type { CreateSessionInput } from '../../agents/contracts.js';
import { type McpParts, reportTo } from './answering.js';
import { type ConnectionOptions, createConnection } from './connection.js';
import { untilIdle } from './connection-session.js';
import type { Asker } from './handles.js';
import { createStateless } from './stateless.js';

export interface StdioStreams {
  stdin: Readable;
  /** It carries the protocol; write nothing else to it. */
  stdout: Writable;
}

interface StdioOptions extends Pick<ConnectionOptions, 'onClient'> {
  signal?: AbortSignal | undefined;
}

/** Time for running work after the client closes stdin, in milliseconds: clients kill a server after two seconds. */
const END_TIMEOUT_MS = 1_500;

/**
 * Serves one client over the pipes of this process, in the revision of its first message.
 * Resolves when the client has left, or the signal has fired, and the sessions have ended.
 * @param owner of the sessions
 * @example
 * const parts = { router, options: resolveMcpOptions(), logger: console };
 * await serveStdio(parts, { user: 'ann' }, { stdin: process.stdin, stdout: process.stdout });
 */
export async function serveStdio(
  parts: McpParts,
  owner: CreateSessionInput,
  { stdin, stdout, signal, onClient }: StdioStreams & StdioOptions,
): Promise<void> {
  // A program that starts this process and uses its pipes is the user's own.
  const options = { asksPerson: true, onClient };
  const onError = reportTo(parts.logger);
  const served: { idle(): Promise<void>; end(): Promise<unknown> }[] = [];
  // Otherwise the transport would cancel running work as soon as stdin ends.
  const messages = stdin.pipe(new PassThrough(), { end: false });
  const transport = new StdioServerTransport(messages, stdout);
  let isOver: () => void = () => {};
  const over = new Promise<void>((resolve) => {
    isOver = resolve;
  });

  const handle = serve(
    ({ era }) => {
      const one = era === 'legacy' ? serveConnection() : serveRequests();
      served.push(one);
      return one.server;
    },
    { transport, onerror: onError },
  );
  const { onclose } = transport;
  transport.onclose = () => {
    onclose?.();
    isOver();
  };

  function serveConnection() {
    const { server, idle, closed } = createConnection(parts, owner, options);
    return { server, idle, end: () => closed };
  }

  function serveRequests() {
    const { user, roles } = owner;
    // A handle gives no more rights than the roles with which the client was started.
    const caller = { ...(user === undefined ? {} : { user }), ...(roles === undefined ? {} : { roles }) };
    const asker: Asker = { owner, caller };
    const stateless = createStateless(parts, options);
    const { server, idle } = stateless.serverFor(asker);
    const forget = stateless.watch(asker, () => void server.sendToolListChanged().catch(onError));
    server.onclose = forget;
    const end = async () => {
      await untilIdle(idle());
      await stateless.end();
    };
    return { server, idle, end };
  }

  const onEnd = async (): Promise<void> => {
    const idle = Promise.all(served.map((one) => one.idle()));
    await Promise.race([idle, delay(END_TIMEOUT_MS, undefined, { ref: false })]);
    // Lets the last answer be written.
    await nextTurn();
    isOver();
  };
  for (const event of ['end', 'close']) stdin.once(event, () => void onEnd());
  signal?.addEventListener('abort', isOver, { once: true });
  if (signal?.aborted) isOver();
  await over;
  await handle.close();
  await Promise.all(served.map((one) => one.end()));
}
