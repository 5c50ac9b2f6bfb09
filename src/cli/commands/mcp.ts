/** `winnow mcp`: serves one MCP client over stdin and stdout; the client starts it. */
import { Writable } from 'node:stream';
import type { Command } from 'commander';
import type { CreateSessionInput } from '../../agents/contracts.js';
import { RISKS } from '../../core/catalog/risk.js';
import type { OpenAgents } from '../agents-setup.js';
import { choice, command, type FlagsOf, text } from '../command.js';
import { CALLER, PLANNING, STORE } from '../flags.js';
import { createStopSignal } from '../interrupts.js';
import type { ToolSetup } from '../set-up.js';

const FLAGS = {
  ...PLANNING,
  ...STORE,
  ...CALLER,
  project: text('--project <name>', 'for telemetry and adaptation'),
  riskCeiling: choice('--risk-ceiling <risk>', 'tools above it can not be found or run', RISKS),
};
type Flags = FlagsOf<typeof FLAGS>;

export function mcpCommand(): Command {
  return command({
    name: 'mcp',
    about: 'serve one MCP client over stdin and stdout; risky calls need a --user, for whom they are approved',
    flags: FLAGS,
    examples: [
      'winnow mcp -c winnow.yaml --user ann',
      '{"mcpServers": {"winnow": {"command": "winnow", "args": ["mcp", "-c", "/path/to/winnow.yaml", "--user", "ann"]}}}',
    ],
    run: (_, flags) => serveClient(flags),
  });
}

/** Returns when the client has left. @throws WinnowError as `winnow serve` does */
async function serveClient(flags: Flags): Promise<void> {
  const { readTools } = await import('../set-up.js');
  const { withTracing } = await import('../tracing.js');
  const stop = createStopSignal();
  const kept = keepStdout();
  const { signal } = stop;
  try {
    const tools = await readTools(flags, { signal, needsSources: true });
    await withTracing(tools, () => serveUntilGone(flags, tools, { signal, stdout: kept.stdout }));
  } finally {
    kept.release();
    stop.forget();
  }
}

interface Client {
  signal: AbortSignal;
  stdout: Writable;
}

async function serveUntilGone(flags: Flags, tools: ToolSetup, { signal, stdout }: Client): Promise<void> {
  const { serveStdio } = await import('../../adapters/mcp/serve-stdio.js');
  const { resolveMcpOptions } = await import('../../adapters/mcp/mcp-options.js');
  const { reportApprovers } = await import('../upkeep.js');
  const { http: _, planner: hasPlanner = true, offers = 'stdio', ...options } = tools.config.mcp ?? {};
  const { agents, planner, isTrial, close, ...opened } = await open(tools, signal);
  const { logger } = tools;
  if (isTrial) logger.info('sessions and approvals last as long as this process: give --store a file or a URL');
  try {
    const shown = hasPlanner && planner ? agents.measure(planner) : undefined;
    const { router, plans } = agents;
    const more = offers === 'none' ? {} : { offers: opened.offers };
    const parts = { router, plans, planner: shown, ...more, options: resolveMcpOptions(options), logger };
    const onClient = reportApprovers({ agents, isTrial, user: flags.user }, logger);
    await serveStdio(parts, ownerOf(flags), { stdin: process.stdin, stdout, signal, onClient });
  } finally {
    await close();
  }
}

async function open(tools: ToolSetup, signal: AbortSignal): Promise<OpenAgents & { close(): Promise<void> }> {
  const { openAgents } = await import('../agents-setup.js');
  const planning = await planningFor(tools, signal);
  try {
    const opened = await openAgents({ ...tools, ...planning, signal });
    return { ...opened, close: () => opened.agents.close().finally(() => planning?.close()) };
  } catch (error) {
    await planning?.close();
    throw error;
  }
}

/** Clients give a server only seconds to start, so the model is opened at once only for reranking. */
async function planningFor({ config }: ToolSetup, signal: AbortSignal) {
  const { createLazyPlanning, openPlanning } = await import('../set-up.js');
  const { stderr } = process;
  if (config.rerank?.enabled === true) return openPlanning(config, { signal, stderr });
  if (config.mcp?.planner === false) return undefined;
  return createLazyPlanning((life) => openPlanning(config, { signal: life, stderr }));
}

function ownerOf({ user, role: roles = [], project, riskCeiling }: Flags): CreateSessionInput {
  return {
    roles,
    ...(user === undefined ? {} : { user }),
    ...(project === undefined ? {} : { project }),
    ...(riskCeiling === undefined ? {} : { riskCeiling }),
  };
}

/**
 * Keeps stdout for the protocol: all other output of this process, for example of a user's tool function, goes to stderr.
 * Writes to the returned stream fail when its reader is gone.
 */
export function keepStdout({ stdout, stderr }: { stdout: Writable; stderr: Writable } = process) {
  const { write } = stdout;
  const kept = new Writable({
    decodeStrings: false,
    write: (chunk, encoding, done) => void write.call(stdout, chunk, encoding, done),
  });
  // The failed write reports the error too; without a listener it would end the process.
  const onError = (): void => {};
  stdout.on('error', onError);
  stdout.write = stderr.write.bind(stderr);
  return {
    stdout: kept,
    release(): void {
      stdout.write = write;
      stdout.off('error', onError);
    },
  };
}
