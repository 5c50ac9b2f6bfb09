/** What `winnow serve` does: set up, listen until a signal, stop in order. Its address is the first thing it logs. */

import { createServer } from '../adapters/http/app.js';
import { allowedHosts } from '../adapters/http/auth/add-auth.js';
import type { Agents } from '../agents/agents.js';
import type { Logger } from '../agents/logging/logger.js';
import { parseQuotas } from '../agents/quotas.js';
import { messageOf, WinnowError } from '../core/errors.js';
import type { Model } from '../core/model/model.js';
import { openAgents } from './agents-setup.js';
import { openAuth } from './auth-setup.js';
import { openMcpEndpoint } from './mcp-endpoint-setup.js';
import type { ServeCommandOptions, ServeFlags } from './serve-flags.js';
import { type Setup, setUp } from './set-up.js';
import { createStopSignal } from './stop-signal.js';

export async function serve(flags: ServeFlags, output: ServeCommandOptions): Promise<void> {
  const { stdout = process.stdout, stderr = process.stderr } = output;
  const stop = createStopSignal();
  const lines = holdLines(stderr);
  try {
    const setup = await setUp(flags, {
      ...{ signal: stop.signal, stderr, defaultLogLevel: 'info', logTo: lines },
      needsSources: true,
    });
    const logger = output.logger ?? setup.logger;
    const { app, agents, tokenFile, isTrial, runnable } = await createApp(setup, { flags, logger, stderr });
    const forgetReload = reloadOn('SIGHUP', agents, logger);
    try {
      const address = await listen(app, flags);
      const models = { model: setup.model.id, planningModel: setup.planningModel?.id };
      const tools = setup.loaded.catalog.tools.length;
      lines.release(() => logger.info({ address, tools, runnable, ...models }, 'listening'));
      logger.info({ file: tokenFile }, "the operator's token, which deciding on approvals needs, is in this file");
      if (isTrial) logger.info('sessions and approvals last as long as this process: give --store a file or a URL');
      if (flags.json) stdout.write(`${JSON.stringify({ address })}\n`);
      await stop.fired;
      logger.info('stopping');
    } finally {
      forgetReload();
      await app.close();
    }
  } finally {
    lines.release();
    stop.forget();
  }
}

interface AppParts {
  flags: ServeFlags;
  logger: Logger;
  stderr: NodeJS.WriteStream;
}

async function createApp(setup: Setup, { flags, logger, stderr }: AppParts) {
  const { concurrency, bodyLimit: bodyLimitBytes, stopTimeout } = flags;
  const options = { concurrency, bodyLimitBytes, stopTimeoutMs: stopTimeout * 1000 };
  const { close } = setup;
  try {
    const { tokenFile, ...auth } = await openAuth(flags, setup.config.auth);
    const { agents, planner = setup.planner, ...facts } = await openAgents({ ...setup, flags, logger, stderr });
    const { connections: maxUserConnections } = parseQuotas(setup.config.quotas);
    const shared = { planner: agents.metrics?.measure(planner) ?? planner, logger };
    const hosts = { allowedHosts: allowedHosts(auth), maxUserConnections };
    const mcp = openMcpEndpoint({ ...shared, ...hosts, flags, router: agents.router });
    const askModel = flags.readyModel ? () => askForOneToken(setup.model) : undefined;
    const { plannerOf } = setup;
    const app = createServer({ ...auth, plannerOf, planner, agents, mcp, options, logger, askModel, onClose: close });
    return { app, agents, tokenFile, ...facts };
  } catch (error) {
    await close();
    throw error;
  }
}

const MODEL_ANSWER_MS = 30_000;

/** @throws WinnowError `model_unavailable`, whatever is wrong with the model */
async function askForOneToken(model: Model): Promise<void> {
  const signal = AbortSignal.timeout(MODEL_ANSWER_MS);
  const prompt = { system: 'Answer with one word.', user: 'ping' };
  try {
    await model.complete({ stage: 'selection', prompt, maxTokens: 8, signal });
  } catch (error) {
    throw new WinnowError('model_unavailable', `The model does not answer: ${messageOf(error)}`, { cause: error });
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

/** Keeps log lines until `release`: what `first` writes goes out before them. Idempotent. */
function holdLines(destination: { write(line: string): unknown }) {
  const held: string[] = [];
  let isReleased = false;
  return {
    write: (line: string): void => void (isReleased ? destination.write(line) : held.push(line)),
    release(first?: () => void): void {
      isReleased = true;
      first?.();
      for (const line of held.splice(0)) destination.write(line);
    },
  };
}

/** As other servers do: the sources are read anew, and what is asked meanwhile is answered by what there is. */
function reloadOn(signal: NodeJS.Signals, { rebuild }: Pick<Agents, 'rebuild'>, logger: Logger): () => void {
  const reload = (): void => {
    rebuild().catch((error: unknown) => logger.error({ err: error }, 'the catalogue could not be read anew'));
  };
  process.on(signal, reload);
  return () => process.off(signal, reload);
}
