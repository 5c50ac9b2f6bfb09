/** `winnow serve`: planning and agents over HTTP until SIGINT or SIGTERM. It logs its address first. */
import { resolve } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import type { createServer } from '../../adapters/http/app.js';
import type { Agents } from '../../agents/agents.js';
import type { Logger } from '../../agents/logging/logger.js';
import { messageOf, WinnowError } from '../../core/errors.js';
import type { Model } from '../../core/model/model.js';
import { command, type FlagsOf, text, valued, withDefault } from '../command.js';
import { JSON_OUTPUT, PLANNING, STORE } from '../flags.js';
import { createStopSignal } from '../interrupts.js';
import type { Setup } from '../set-up.js';

const FLAGS = {
  ...PLANNING,
  ...STORE,
  host: withDefault(text('--host <address>', 'address to listen on'), '127.0.0.1'),
  port: withDefault(valued('--port <number>', 'port to listen on; 0 takes a free one', portNumber), 8787),
  ...JSON_OUTPUT,
};
type Flags = FlagsOf<typeof FLAGS>;

interface ServeOutput {
  stdout?: Pick<NodeJS.WritableStream, 'write'>;
  stderr?: NodeJS.WriteStream;
  /** Default: the logger of the command line. */
  logger?: Logger;
}

export function serveCommand(output: ServeOutput = {}): Command {
  return command({
    name: 'serve',
    about: 'answer requests over HTTP, and MCP under /mcp; GET /openapi.json describes it',
    flags: FLAGS,
    examples: [
      'winnow serve -c winnow.yaml',
      'winnow serve --catalog tools.json --set toolsModule=tools.mjs --store agents.db --port 8080',
    ],
    run: (_, flags) => serve(flags, output),
  });
}

function portNumber(words: string): number {
  const port = Number(words);
  if (words.trim() === '' || !Number.isInteger(port) || port < 0 || port > 65_535)
    throw new InvalidArgumentError('must be a whole number from 0 to 65535.');
  return port;
}

async function serve(flags: Flags, output: ServeOutput): Promise<void> {
  const { openPlanning, readTools } = await import('../set-up.js');
  const { openAuth } = await import('../auth-setup.js');
  const { parseServerSettings } = await import('../config-file.js');
  const { withTracing } = await import('../tracing.js');
  const { stderr = process.stderr } = output;
  const stop = createStopSignal();
  const lines = holdLines(stderr);
  try {
    const { signal } = stop;
    const tools = await readTools(flags, { signal, defaultLogLevel: 'info', logTo: lines, needsSources: true });
    const { hostNames, ...settings } = parseServerSettings(tools.config.server);
    const auth = await openAuth({ host: flags.host, hostNames }, tools.config.auth);
    // Last, since the model may have to be fetched.
    const planning = await openPlanning(tools.config, { signal, stderr });
    const setup = { ...tools, ...planning, planner: planning.plannerOf(tools.loaded.catalog) };
    const { logger = setup.logger } = output;
    const parts = { flags, output, stderr, logger, lines, auth, settings, stopped: stop.fired };
    await withTracing({ config: setup.config, logger }, () => answerUntilStopped(setup, parts));
  } finally {
    lines.release();
    stop.forget();
  }
}

interface Serving extends AppParts {
  output: ServeOutput;
  lines: ReturnType<typeof holdLines>;
  stopped: Promise<void>;
}

async function answerUntilStopped(setup: Setup, { output, lines, stopped, ...parts }: Serving): Promise<void> {
  const { flags, logger } = parts;
  const { stdout = process.stdout } = output;
  const { app, agents, tokenFile, isTrial, runnable, pages } = await createApp(setup, parts);
  const forgetReload = reloadOn('SIGHUP', agents, logger);
  try {
    const address = await listen(app, flags);
    const models = { model: setup.model.id, planningModel: setup.planningModel?.id };
    const tools = setup.loaded.catalog.tools.length;
    const facts = { address, ...(pages ? { console: `${address}/` } : {}), tools, runnable, ...models };
    lines.release(() => logger.info(facts, 'listening'));
    logger.info({ file: tokenFile }, "the operator's token, which deciding on approvals needs, is in this file");
    if (isTrial) logger.info('sessions and approvals last as long as this process: give --store a file or a URL');
    if (flags.json) stdout.write(`${JSON.stringify({ address })}\n`);
    await stopped;
    logger.info('stopping');
  } finally {
    forgetReload();
    await app.close();
  }
}

type OpenAuth = typeof import('../auth-setup.js').openAuth;
type ServerSettings = ReturnType<typeof import('../config-file.js').parseServerSettings>;

interface AppParts {
  flags: Flags;
  auth: Awaited<ReturnType<OpenAuth>>;
  settings: Omit<ServerSettings, 'hostNames'>;
  logger: Logger;
  stderr: NodeJS.WriteStream;
}

async function createApp(setup: Setup, { auth: { tokenFile, ...auth }, settings, logger, stderr }: AppParts) {
  const { createServer: create } = await import('../../adapters/http/app.js');
  const { allowedHosts } = await import('../../adapters/http/auth/add-auth.js');
  const { readConsole } = await import('../../adapters/console/console.js');
  const { createMcpEndpoint } = await import('../../adapters/mcp/http-endpoint.js');
  const { resolveMcpOptions } = await import('../../adapters/mcp/mcp-options.js');
  const { parseQuotas } = await import('../../agents/quotas.js');
  const { openEvaluations } = await import('../../eval/report/evaluations.js');
  const { openAgents } = await import('../agents-setup.js');
  const { runsFolder } = await import('../out-folder.js');
  const { close, config, plannerOf } = setup;
  const { readyModel, cors, console: hasConsole, ...options } = settings;
  const { http: hasMcp = true, planner: _, offers: offersTo, ...mcpOptions } = config.mcp ?? {};
  try {
    const { agents, planner = setup.planner, offers, ...facts } = await openAgents({ ...setup, logger, stderr });
    const endpoint = {
      ...{ planner: agents.measure(planner), logger, router: agents.router, plans: agents.plans },
      options: resolveMcpOptions(mcpOptions),
      ...(offersTo === 'all' ? { offers } : {}),
      ...{ allowedHosts: allowedHosts(auth), maxUserConnections: parseQuotas(config.quotas).connections },
    };
    const mcp = hasMcp ? createMcpEndpoint(endpoint) : undefined;
    const askModel = readyModel ? () => askForOneToken(setup.model) : undefined;
    const pages = hasConsole ? await readConsole() : undefined;
    const evaluations = openEvaluations(resolve(config.evaluations ?? runsFolder('eval')));
    const shared = { ...auth, cors, plannerOf, planner, agents, evaluations };
    const parts = { ...shared, mcp, pages, options, logger, askModel, onClose: close };
    return { app: create(parts), agents, tokenFile, pages, ...facts };
  } catch (error) {
    await close();
    throw error;
  }
}

const MODEL_ANSWER_MS = 30_000;

/** @throws WinnowError `model_unavailable` for every failure of the model */
export async function askForOneToken(model: Model): Promise<void> {
  const signal = AbortSignal.timeout(MODEL_ANSWER_MS);
  const prompt = { system: 'Answer with one word.', user: 'ping' };
  try {
    await model.complete({ stage: 'selection', prompt, maxTokens: 8, signal });
  } catch (error) {
    throw new WinnowError('model_unavailable', `The model does not answer: ${messageOf(error)}`, { cause: error });
  }
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

/** Holds log lines back until `release`, which writes those of `first` before them. Idempotent. */
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

/** Reads the sources again on a signal, as other servers do; the old catalogue serves meanwhile. */
function reloadOn(signal: NodeJS.Signals, { rebuild }: Pick<Agents, 'rebuild'>, logger: Logger): () => void {
  const reload = (): void => {
    rebuild().catch((error: unknown) => logger.error({ err: error }, 'the catalogue could not be read again'));
  };
  process.on(signal, reload);
  return () => process.off(signal, reload);
}
