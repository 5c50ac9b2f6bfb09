/**
 * Graceful stop: refuses new requests, lets running ones end until the limit, then cancels them and cuts connections.
 * Hooks of `onClose` run after that, so a model closes when no request uses it.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';

export interface Stop {
  readonly isStopping: boolean;
  /** Fires at the limit. */
  readonly signal: AbortSignal;
}

/** Time to send the answers of cancelled requests, in milliseconds. */
const FLUSH_MS = 500;

/**
 * Time to read requests that have already arrived, in milliseconds. Node closes a connection without a read request as
 * idle, and would drop a request in transit silently.
 */
const READING_MS = 20;

export function addGracefulStop(app: FastifyInstance, { stopTimeoutMs }: { stopTimeoutMs: number }): Stop {
  const limit = new AbortController();
  let isStopping = false;
  let timer: NodeJS.Timeout | undefined;
  const atLimit = (): void => {
    limit.abort();
    timer = setTimeout(() => app.server.closeAllConnections(), FLUSH_MS);
  };
  app.addHook('preClose', async () => {
    isStopping = true;
    timer = setTimeout(atLimit, stopTimeoutMs);
    await wait(READING_MS);
  });
  // Otherwise a keep-alive connection would hold the server open after its last answer.
  app.addHook('onSend', async (_request, reply) => {
    if (isStopping) reply.header('connection', 'close');
  });
  app.addHook('onClose', async () => clearTimeout(timer));
  return {
    get isStopping() {
      return isStopping;
    },
    signal: limit.signal,
  };
}
