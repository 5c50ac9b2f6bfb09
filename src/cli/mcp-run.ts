/** What `winnow mcp` does: tools, what runs them and the policy are set up, then one client is served until it leaves. */
import { serveStdio } from '../adapters/mcp/serve-stdio.js';
import type { CreateSessionInput } from '../agents/contracts.js';
import { type OpenAgents, openAgents } from './agents-setup.js';
import { keepStdout } from './keep-stdout.js';
import { createLazyPlanning, type LazyPlanning } from './lazy-planning.js';
import type { McpCommandFlags } from './mcp-flags.js';
import { mcpOptionsOf } from './mcp-options.js';
import { openPlanning, type PlanningSetup, readTools, type ToolSetup } from './set-up.js';
import { createStopSignal } from './stop-signal.js';
import { tellWhoGrants } from './tell-at-start.js';

/** @throws WinnowError as `winnow serve` does */
export async function runMcp(flags: McpCommandFlags): Promise<void> {
  const stop = createStopSignal();
  const kept = keepStdout();
  const { signal } = stop;
  const { stdin } = process;
  try {
    const options = mcpOptionsOf(flags);
    const tools = await readTools(flags, { signal, needsSources: true });
    const { agents, planner, isTrial, close } = await open(flags, tools, signal);
    const { logger } = tools;
    if (isTrial) logger.info('sessions and approvals last as long as this process: give --store a file or a URL');
    try {
      const parts = { router: agents.router, planner: flags.planner ? planner : undefined, options, logger };
      const onClient = tellWhoGrants({ agents, isTrial, user: flags.user }, logger);
      await serveStdio(parts, ownerOf(flags), { stdin, stdout: kept.stdout, signal, onClient });
    } finally {
      await close();
    }
  } finally {
    kept.release();
    stop.forget();
  }
}

async function open(
  flags: McpCommandFlags,
  tools: ToolSetup,
  signal: AbortSignal,
): Promise<OpenAgents & { close(): Promise<void> }> {
  const planning = await planningFor(flags, tools, signal);
  try {
    const opened = await openAgents({ ...tools, ...planning, flags, signal });
    return { ...opened, close: () => opened.agents.close().finally(() => planning?.close()) };
  } catch (error) {
    await planning?.close();
    throw error;
  }
}

/** Only a second opinion on searches needs the model from the start; clients give a server some seconds to start. */
async function planningFor(
  flags: McpCommandFlags,
  { config }: ToolSetup,
  signal: AbortSignal,
): Promise<PlanningSetup | LazyPlanning | undefined> {
  const { stderr } = process;
  if (flags.rerank ?? config.rerank?.enabled === true) return openPlanning(flags, config, { signal, stderr });
  if (!flags.planner) return undefined;
  return createLazyPlanning((life) => openPlanning(flags, config, { signal: life, stderr }));
}

function ownerOf({ user, role: roles = [], project, riskCeiling }: McpCommandFlags): CreateSessionInput {
  return {
    roles,
    ...(user === undefined ? {} : { user }),
    ...(project === undefined ? {} : { project }),
    ...(riskCeiling === undefined ? {} : { riskCeiling }),
  };
}
