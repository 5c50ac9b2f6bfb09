/** `winnow serve`: the planner over HTTP until SIGINT or SIGTERM. Its address is the first thing it logs. */
import { Command, InvalidArgumentError } from 'commander';
import { WinnowError } from '../errors.js';
import type { Logger } from '../logging/logger.js';
import { createServer } from '../server/app.js';
import { SERVER_DEFAULTS } from '../server/server-options.js';
import { addSharedOptions, type Setup, type SharedFlags, setUp, wholeNumber } from './shared-options.js';

export interface ServeCommandOptions {
  stdout?: Pick<NodeJS.WritableStream, 'write'>;
  stderr?: NodeJS.WriteStream;
  /** In place of the logger of the command line. */
  logger?: Logger;
}

interface Flags extends SharedFlags {
  host: string;
  port: number;
  concurrency: number;
  bodyLimit: number;
  stopTimeout: number;
  json?: boolean;
}

const LOOPBACK = /^(localhost|127(\.\d+){3}|::1)$/;

/** The action throws WinnowError and returns when the server has stopped. */
export function serveCommand(output: ServeCommandOptions = {}): Command {
  const command = new Command('serve').description('answer requests over HTTP; see GET /openapi.json');
  return addSharedOptions(command)
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--port <number>', 'port to listen on; 0 takes a free one', portNumber, 8787)
    .option(
      '--concurrency <number>',
      'most requests at once; more are told to come back',
      wholeNumber,
      SERVER_DEFAULTS.concurrency,
    )
    .option('--body-limit <bytes>', 'longest body of a request', wholeNumber, SERVER_DEFAULTS.bodyLimitBytes)
    .option(
      '--stop-timeout <seconds>',
      'what running requests get to end',
      wholeNumber,
      SERVER_DEFAULTS.stopTimeoutMs / 1000,
    )
    .option('--json', 'print the address as one line of JSON')
    .action((flags: Flags) => serve(flags, { output, version: command.parent?.version() }));
}

async function serve(
  flags: Flags,
  { output, version }: { output: ServeCommandOptions; version: string | undefined },
): Promise<void> {
  const { stdout = process.stdout, stderr = process.stderr } = output;
  const stop = createStopSignal();
  try {
    const setup = await setUp(flags, { signal: stop.signal, stderr, defaultLogLevel: 'info' });
    const logger = output.logger ?? setup.logger;
    const app = createApp(setup, { flags, logger, version });
    try {
      const address = await listen(app, flags);
      logger.info({ address, tools: setup.loaded.catalog.tools.length, model: setup.model.id }, 'listening');
      if (!LOOPBACK.test(flags.host))
        logger.warn('whoever reaches this address may ask, and as any user: put a gateway before it');
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

function createApp(
  { planner, close }: Setup,
  { flags, logger, version }: { flags: Flags; logger: Logger; version: string | undefined },
): ReturnType<typeof createServer> {
  const { concurrency, bodyLimit: bodyLimitBytes, stopTimeout } = flags;
  const options = { concurrency, bodyLimitBytes, stopTimeoutMs: stopTimeout * 1000 };
  return createServer({ planner, options, version, logger, onClose: close });
}

async function listen(app: ReturnType<typeof createServer>, { host, port }: Flags): Promise<string> {
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

function portNumber(text: string): number {
  const port = Number(text);
  if (text.trim() === '' || !Number.isInteger(port) || port < 0 || port > 65_535)
    throw new InvalidArgumentError('must be a whole number from 0 to 65535.');
  return port;
}
