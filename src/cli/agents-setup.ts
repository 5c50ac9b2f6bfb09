/** Opens all that agents need from the configuration: store, policy, executors and upkeep. */

import { type AdaptationOptions, adaptationOptionsSchema } from '../agents/adaptation/adaptation.js';
import { type Agents, type AgentsParts, createAgents } from '../agents/agents.js';
import { createUserTokens } from '../agents/connections/user-tokens.js';
import { createDefinitions } from '../agents/definitions.js';
import { createSnapshotKeeper, parseIndexSettings, type SnapshotKeeper } from '../agents/index/kept-index.js';
import { createKeptRules } from '../agents/kept-rules.js';
import { createAuditWriter } from '../agents/ledger.js';
import { createLivePlanner } from '../agents/live-catalog.js';
import { withCallLog } from '../agents/logging/call-log.js';
import { parseSessionSettings } from '../agents/parts.js';
import { createPolicy } from '../agents/policy/policy.js';
import { fixedPolicy, openPolicyFile, type PolicySource } from '../agents/policy/policy-file.js';
import { createPrivateTools } from '../agents/private-tools.js';
import { parseQuotas, parseRetention } from '../agents/quotas.js';
import { openRates } from '../agents/rates/rate-limiter.js';
import type { McpOffers } from '../agents/sandbox/executors/offers.js';
import { createRerank, parseRerankSettings } from '../agents/search/rerank.js';
import { openStore } from '../agents/store/open-store.js';
import { createCatalog } from '../core/catalog/catalog.js';
import { type EntryIssue, renderIssue } from '../core/catalog/tool.js';
import { messageOf } from '../core/errors.js';
import { loadOptional } from '../core/optional-package.js';
import type { Planner } from '../core/planner.js';
import { openCatalog } from './catalog-setup.js';
import { readConnections } from './connections-setup.js';
import type { ConfigFlags } from './flags.js';
import { loadTools } from './load-tools.js';
import { rerankModelSettings } from './model-settings.js';
import { writeLine } from './output.js';
import { readConfig, requireStorePlace, storePlaceOf } from './read-config.js';
import { openModel, type Setup } from './set-up.js';
import { type Chore, reportAtStart, reportFlagged, startUpkeep, watchPolicy } from './upkeep.js';

export interface AgentsSetup
  extends Pick<Setup, 'loaded' | 'sources' | 'isStrict' | 'config' | 'logger'>,
    Partial<Pick<Setup, 'plannerOf' | 'model' | 'localModels' | 'callLog'>> {
  /** Shows the progress of a model download. Default: that of the process. */
  stderr?: NodeJS.WriteStream | undefined;
  signal?: AbortSignal | undefined;
}

export interface OpenAgents {
  readonly agents: Agents;
  /** Plans with the current tools. Undefined: the set-up has none. */
  readonly planner: Planner | undefined;
  /** The store is in memory and ends with this process. */
  readonly isTrial: boolean;
  /** How many tools of the catalogue can be run. */
  readonly runnable: number;
  /** What the MCP servers currently offer besides tools. */
  readonly offers: () => McpOffers | undefined;
}

/** @throws WinnowError `invalid_option`, `store_failed`, `prompt_invalid`, `model_unavailable` */
export async function openAgents(setup: AgentsSetup): Promise<OpenAgents> {
  const { config } = setup;
  const place = storePlaceOf(config);
  const policy = await openPolicy(config.policy);
  const onNotice = (notice: string) => setup.logger.warn(notice);
  const ends: (() => unknown)[] = [];
  const close = async () => void (await ends.splice(0).reduce((last, end) => last.finally(end), Promise.resolve()));
  try {
    const { rates, close: closeRates } = await openRates(config.redis, onNotice);
    ends.unshift(closeRates);
    const opinion = await openOpinion(setup);
    ends.unshift(opinion.close);
    const store = await openStore(place, { onNotice });
    ends.unshift(store.close);
    const opened = await putTogether(setup, { store, policy, rates, rerank: opinion.rerank });
    // From here on the agents close the store.
    ends[0] = opened.agents.close;
    return { ...opened, agents: { ...opened.agents, close }, isTrial: place === undefined };
  } catch (error) {
    await close();
    throw error;
  }
}

async function putTogether(
  setup: AgentsSetup,
  { store, policy, rates, rerank }: Pick<AgentsParts, 'store' | 'policy' | 'rates' | 'rerank'>,
) {
  const { config, logger, plannerOf } = setup;
  const audit = createAuditWriter(store.journal);
  const connections = readConnections(config.connections);
  const tokens = connections && createUserTokens({ store: store.connections, key: connections.key });
  const opened = await openCatalog({ ...setup, audit, policy, userTokens: tokens });
  const { live, synonyms, executors, runnable, servers } = opened;
  const onIssue = (issue: EntryIssue) => logger.warn({ entry: issue.entry }, renderIssue(issue));
  const definitions = createDefinitions({
    base: () => live.current().catalog,
    store: store.definitions,
    reviewNew: config.reviewNew,
    onIssue,
    onFirst: (origin, tools) =>
      logger.info({ origin, tools }, 'a source seen for the first time: its tools are accepted'),
  });
  const base = definitions.catalog;
  const quotas = parseQuotas(config.quotas);
  const maxBytes = quotas.privateToolBytes;
  const privateTools = createPrivateTools({ base, store: store.privateTools, onIssue, maxBytes });
  const rules = createKeptRules({ base, store: store.rules, onIssue });
  // The index is built with accepted definitions and private tools; `agents.refresh` reads the rest.
  await definitions.refresh();
  await privateTools.refresh();
  const planner =
    plannerOf &&
    createLivePlanner({
      catalog: privateTools.catalog,
      plannerOf: (catalog) => plannerOf(catalog, rules.inForce),
    });
  const { snapshot, maxSnapshotBytes, ...index } = parseIndexSettings(config.index ?? {});
  const { adaptation = {} } = config;
  const agents = createAgents({
    store,
    catalog: privateTools.catalog,
    failures: () => live.current().failures,
    reload: live.reload,
    connections: connections && tokens && { ...connections, tokens, servers },
    definitions,
    privateTools,
    rules,
    policy,
    executors: [executors],
    planner,
    rerank,
    synonyms,
    rates,
    limits: config.sandbox,
    options: { ...parseSessionSettings(config.sessions ?? {}), retention: parseRetention(config.retention), quotas },
    adaptation,
    createMetrics: await loadMetrics(logger),
    index,
    onUnusableWeights: ({ code, message }) =>
      logger.warn(
        { code },
        `the configured weights hold, those in the store are left out: ${message} Give others with POST /v1/index/rebuild.`,
      ),
  });
  const snapshots = createSnapshotKeeper({
    index: agents.index,
    store: store.snapshots,
    snapshot,
    maxSnapshotBytes,
    onFailure: ({ code, message }) => logger.warn({ code }, `no snapshot of the index is kept: ${message}`),
  });
  // Reads the weights of the store first: a snapshot fits only the weights it was made with.
  await agents.refresh();
  await snapshots.restore();
  reportAtStart({ agents, config, weights: index.weights }, logger);
  void reportFlagged(live.current().catalog, logger);
  const endChores = startUpkeep(choresOf(agents, { adaptation, snapshots }), logger);
  const endWatch =
    config.policy === undefined ? undefined : watchPolicy(config.policy, { router: agents.router, logger });
  return {
    agents: {
      ...agents,
      async close() {
        await endChores();
        endWatch?.();
        await snapshots.save();
        await agents.close();
      },
    },
    planner,
    runnable,
    offers: () => executors.offers,
  };
}

const SWEEP_MS = 60_000;
const REFRESH_MS = 15_000;
const SNAPSHOT_MS = 60_000;
const MINUTE_MS = 60_000;

function choresOf(
  agents: Agents,
  { adaptation, snapshots }: { adaptation: AdaptationOptions; snapshots: SnapshotKeeper },
): Chore[] {
  const { learnEveryMinutes } = adaptationOptionsSchema.parse(adaptation);
  return [
    { name: 'the upkeep of sessions', everyMs: SWEEP_MS, work: agents.router.sweep },
    {
      name: 'learning from use',
      everyMs: learnEveryMinutes * MINUTE_MS,
      // It reads months of use, which must not delay the start.
      atOnce: true,
      work: agents.adaptation.learn,
    },
    { name: 'reading what other processes did', everyMs: REFRESH_MS, work: agents.refresh },
    { name: 'keeping a snapshot of the index', everyMs: SNAPSHOT_MS, work: snapshots.save },
  ];
}

/** Without a file, a policy of defaults. */
export async function openPolicy(path: string | undefined): Promise<PolicySource> {
  return path === undefined ? fixedPolicy(createPolicy()) : openPolicyFile(path);
}

/** Reranking of search results by a model. Undefined: switched off, or there is no model. */
async function openOpinion(setup: AgentsSetup) {
  const { config, logger, model, callLog, signal, localModels, stderr = process.stderr } = setup;
  if (!model || !callLog) return { rerank: undefined, close: async () => {} };
  const { model: _, ...given } = config.rerank ?? {};
  const settings = parseRerankSettings(given);
  const ofOwn = rerankModelSettings(config);
  const own = ofOwn && withCallLog(await openModel(ofOwn, { stderr, signal, localModels }), callLog);
  const rerank = createRerank(own ?? model, {
    settings,
    prompts: config.prompts ?? {},
    onFailure: ({ code, message }) => logger.warn({ code }, `no second opinion on a search: ${message}`),
  });
  return { rerank, close: async () => own?.close() };
}

/** Undefined without prom-client: a server works without metrics, too. */
async function loadMetrics(logger: Setup['logger']) {
  try {
    const packages = { packages: ['prom-client'], neededBy: 'GET /metrics' };
    return (await loadOptional(() => import('../agents/telemetry/metrics.js'), packages)).createMetrics;
  } catch (error) {
    logger.info(messageOf(error));
    return undefined;
  }
}

/**
 * @param needsTools loads the catalogue with private tools and reports its problems on stderr. Default: no tools
 * @throws WinnowError `invalid_option`, `store_failed`, or what the work throws
 */
export async function withStoredAgents<Result>(
  flags: ConfigFlags,
  work: (agents: Agents) => Promise<Result>,
  { needsTools = false }: { needsTools?: boolean } = {},
): Promise<Result> {
  const config = await readConfig(flags);
  const place = requireStorePlace(config);
  const policy = await openPolicy(config.policy);
  const { stderr } = process;
  const catalog = needsTools ? (await loadTools(config, { stderr })).loaded.catalog : createCatalog([]);
  // The server's field weights, so that its snapshot fits.
  const { weights } = parseIndexSettings(config.index ?? {});
  const options = parseSessionSettings(config.sessions ?? {});
  const store = await openStore(place, { onNotice: (notice) => writeLine(notice, stderr) });
  const agents = createAgents({ store, catalog: () => catalog, policy, index: { weights }, options, executors: [] });
  try {
    // Adds the private tools to lists and index.
    if (needsTools) await agents.refresh();
    return await work(agents);
  } finally {
    await agents.close();
  }
}
