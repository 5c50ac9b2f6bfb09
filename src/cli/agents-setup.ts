/** From flags and configuration to all that agents need: the store, the policy, what runs tools, and the upkeep of them. */
import type { Catalog } from '../catalog/catalog.js';
import { renderIssue } from '../catalog/load.js';
import type { Logger } from '../logging/logger.js';
import { checkPolicy } from '../routing/policy/check-policy.js';
import { createPolicy } from '../routing/policy/policy.js';
import { fixedPolicy, openPolicyFile, type PolicySource } from '../routing/policy/policy-file.js';
import { withPrivateTools } from '../routing/private-tools.js';
import { type Agents, createAgents } from '../server/agents/agents.js';
import { openStore } from '../store/open-store.js';
import type { Store } from '../store/store.js';
import { type AgentFlags, storePlaceOf } from './agent-options.js';
import { openExecutors } from './executors.js';
import type { Setup } from './shared-options.js';
import { watchPolicy } from './watch-policy.js';

export interface AgentsSetup extends Pick<Setup, 'loaded' | 'sources' | 'config' | 'logger'> {
  /** Plans again where a run of a plan asks for it. Default: nothing is planned again. */
  planner?: Setup['planner'];
  flags: AgentFlags;
}

export interface OpenAgents {
  readonly agents: Agents;
  /** Nothing lasts longer than this process. */
  readonly isTrial: boolean;
  /** How many tools of the catalogue can be run. */
  readonly runnable: number;
}

const SWEEP_MS = 60_000;
/** Learning reads the events of months. */
const LEARN_MS = 3_600_000;

/** @throws WinnowError `invalid_option`, `store_failed` */
export async function openAgents({
  flags,
  config,
  loaded,
  sources,
  planner,
  logger,
}: AgentsSetup): Promise<OpenAgents> {
  const place = storePlaceOf(flags, config);
  const policyPath = flags.policy ?? config.policy;
  const policy = await openPolicy(policyPath);
  const { executors, runnable } = await openExecutors({ flags, config, sources, catalog: loaded.catalog, logger });
  const store = await openStore(place ?? { memory: true });
  try {
    const catalog = await addPrivateTools(loaded.catalog, store, logger);
    if (policyPath !== undefined)
      for (const note of checkPolicy(policy.current(), catalog.tools)) logger.warn({ policy: policyPath }, note);
    const { sandbox: limits, adaptation } = config;
    const tools = () => catalog;
    const agents = createAgents({ store, catalog: tools, policy, executors, planner, limits, adaptation });
    await agents.learn();
    const { router } = agents;
    const stops = [
      every(SWEEP_MS, router.sweep, logger),
      every(LEARN_MS, agents.learn, logger),
      ...(policyPath === undefined ? [] : [watchPolicy(policyPath, { router, logger })]),
    ];
    return { runnable, isTrial: place === undefined, agents: withStops(agents, stops) };
  } catch (error) {
    await store.close();
    throw error;
  }
}

function withStops(agents: Agents, stops: readonly (() => void)[]): Agents {
  return {
    ...agents,
    async close() {
      for (const stop of stops) stop();
      await agents.close();
    },
  };
}

/** The defaults of the policy where no file says otherwise. */
export async function openPolicy(path: string | undefined): Promise<PolicySource> {
  return path === undefined ? fixedPolicy(createPolicy()) : openPolicyFile(path);
}

async function addPrivateTools(catalog: Catalog, store: Store, logger: Logger): Promise<Catalog> {
  const { catalog: whole, issues } = await withPrivateTools(catalog, store.privateTools);
  for (const issue of issues) logger.warn({ entry: issue.entry }, renderIssue(issue));
  return whole;
}

/** @returns a function that ends it */
function every(intervalMs: number, work: () => Promise<void>, logger: Logger): () => void {
  let isRunning = false;
  const once = async (): Promise<void> => {
    // A slow store must not be asked twice at once.
    if (isRunning) return;
    isRunning = true;
    try {
      await work();
    } catch (error) {
      logger.warn({ err: error }, 'the upkeep of sessions failed');
    } finally {
      isRunning = false;
    }
  };
  const timer = setInterval(() => void once(), intervalMs).unref();
  return () => clearInterval(timer);
}
