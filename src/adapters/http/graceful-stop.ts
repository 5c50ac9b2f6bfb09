/**
 * The way down: nothing new is taken, what runs may end until the limit, then it is cancelled and connections are
 * cut. Hooks of `onClose` come after that, so a model is closed when nobody uses it any more.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';

export interface Stop {
  readonly isStopping: boolean;
  /** Fires at the limit. */
  readonly signal: AbortSignal;
}

/** For the answers of cancelled requests to get out, in milliseconds. */
const LAST_WORDS_MS = 500;

/**
 * For what has reached this machine to be read, in milliseconds. A connection without a request that was read is closed as
 * idle, and a request on its way to it would be lost without a word.
 */
const READING_MS = 20;

export function addGracefulStop(app: FastifyInstance, { stopTimeoutMs }: { stopTimeoutMs: number }): Stop {
  const limit = new AbortController();
  let isStopping = false;
  let timer: NodeJS.Timeout | undefined;
  const atLimit = (): void => {
    limit.abort();
    timer = setTimeout(() => app.server.closeAllConnections(), LAST_WORDS_MS);
  };
  app.addHook('preClose', async () => {
    isStopping = true;
    timer = setTimeout(atLimit, stopTimeoutMs);
    await wait(READING_MS);
  });
  // Else a connection that is kept alive would hold the server open after its last answer.
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
