/** What `winnow serve` does: set up, listen until a signal, stop in order. Its address is the first thing it logs. */
import { WinnowError } from '../errors.js';
import type { Logger } from '../logging/logger.js';
import { createServer } from '../server/app.js';
import { openAgents } from './agents-setup.js';
import type { ServeCommandOptions, ServeFlags } from './serve-flags.js';
import { type Setup, setUp } from './shared-options.js';

const LOOPBACK = /^(localhost|127(\.\d+){3}|::1)$/;

export async function serve(
  flags: ServeFlags,
  { output, version }: { output: ServeCommandOptions; version: string | undefined },
): Promise<void> {
  const { stdout = process.stdout, stderr = process.stderr } = output;
  const stop = createStopSignal();
  try {
    const setup = await setUp(flags, { signal: stop.signal, stderr, defaultLogLevel: 'info' });
    const logger = output.logger ?? setup.logger;
    const { app, isTrial, runnable } = await createApp(setup, { flags, logger, version });
    try {
      const address = await listen(app, flags);
      logger.info({ address, tools: setup.loaded.catalog.tools.length, runnable, model: setup.model.id }, 'listening');
      if (!LOOPBACK.test(flags.host))
        logger.warn('whoever reaches this address may ask, and as any user: put a gateway before it');
      if (isTrial) logger.info('sessions and approvals last as long as this process: give --store a file or a URL');
      if (flags.json) stdout.write(`${JSON.stringify({ address })}\n`);
      await stop.fired;
      logger.info('stopping');
    } finally {
      await app.close();
    }
  } finally {
    stop.forget();
  }
}

interface AppParts {
  flags: ServeFlags;
  logger: Logger;
  version: string | undefined;
}

async function createApp(setup: Setup, { flags, logger, version }: AppParts) {
  const { concurrency, bodyLimit: bodyLimitBytes, stopTimeout, requireUser = false } = flags;
  const options = { concurrency, bodyLimitBytes, stopTimeoutMs: stopTimeout * 1000, requireUser };
  const { planner, close } = setup;
  try {
    const { agents, ...facts } = await openAgents({ ...setup, flags, logger });
    const app = createServer({ planner, agents, options, version, logger, onClose: close });
    return { app, ...facts };
  } catch (error) {
    await close();
    throw error;
  }
}

async function listen(app: ReturnType<typeof createServer>, { host, port }: ServeFlags): Promise<string> {
  try {
    return await app.listen({ host, port });
  } catch (error) {
    const code = String(Reflect.get(Object(error), 'code') ?? error);
    throw new WinnowError(
      'invalid_option',
      `Cannot listen on ${host}, port ${port} (${code}): choose another --host or --port.`,
      { cause: error },
    );
  }
}

/** The first SIGINT or SIGTERM; a second one ends the process at once, as it does by itself. */
function createStopSignal(): { signal: AbortSignal; fired: Promise<void>; forget(): void } {
  const controller = new AbortController();
  const stop = (): void => {
    forget();
    controller.abort();
  };
  const forget = (): void => {
    process.off('SIGINT', stop);
    process.off('SIGTERM', stop);
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
  const fired = new Promise<void>((resolve) =>
    controller.signal.addEventListener('abort', () => resolve(), { once: true }),
  );
  return { signal: controller.signal, fired, forget };
}
