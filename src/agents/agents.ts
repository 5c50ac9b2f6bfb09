/**
 * Builds all that agents in a loop need: sessions behind the policy, discovery, the sandbox, runs of plans, telemetry.
 * All lasting state is in the store, so several processes may share it.
 */

import type { Catalog } from '../core/catalog/catalog.js';
import { oncePer } from '../core/kept.js';
import type { Planner } from '../core/planner.js';
import { type Adaptation, type AdaptationOptions, createAdaptation } from './adaptation/adaptation.js';
import { type Connections, type ConnectionsParts, createConnections } from './connections/connections.js';
import type { Definitions } from './definitions.js';
import { createWeightsKeeper, type GivenWeights, type WeightsKeeperParts } from './index/kept-index.js';
import type { IndexStatus, ToolIndex } from './index/tool-index.js';
import { createKeptAnswers, type KeptAnswers } from './kept-answers.js';
import { createKeptPlans, type KeptPlans } from './kept-plans.js';
import { createKeptRules, type KeptRules } from './kept-rules.js';
import { createAuditWriter } from './ledger.js';
import type { CatalogReload } from './live-catalog.js';
import { createToolChanges, type RouterOptions } from './parts.js';
import type { PolicySource } from './policy/policy-file.js';
import { createPolicyTrial, type PolicyTrial } from './policy/trial.js';
import { createPrivateTools, type PrivateTools } from './private-tools.js';
import { parseQuotas } from './quotas.js';
import { createRateLimiter, type RateLimiter } from './rates/rate-limiter.js';
import { createTokenBudget } from './rates/token-budget.js';
import { createRouter, type Router } from './router.js';
import { createPlanRuns, type PlanRuns } from './runs/plan-runs.js';
import type { Executor } from './sandbox/executors/executor.js';
import type { SandboxLimitsInput } from './sandbox/limits.js';
import { createSandbox } from './sandbox/sandbox.js';
import { createDiscovery, type DiscoveryParts } from './search/discovery.js';
import { createDownServers, type DownServersParts } from './search/down-servers.js';
import type { Store } from './store/sql/sql-store.js';
import type { Metrics, MetricsOptions } from './telemetry/metrics.js';
import { readEvents, reportTelemetry, type TelemetryReport, type TelemetryReportQuery } from './telemetry/rates.js';

export interface AgentsParts {
  /** Closed by `close`. */
  store: Store;
  /** The current tools, without those that users have added. Called for each request, so it may be reloaded. */
  catalog: () => Catalog;
  /** Sources that failed when they were last read. Default: none. */
  failures?: DownServersParts['failures'];
  /** Reads the sources of the catalogue again. Default: the catalogue never changes. */
  reload?: (() => Promise<CatalogReload>) | undefined;
  /** Users connect MCP servers to their own accounts. Default: no server can be connected. */
  connections?: Pick<ConnectionsParts, 'tokens' | 'key' | 'servers' | 'publicUrl'> | undefined;
  /** Holds back unreviewed definitions; `catalog` must already leave them out. Default: nothing is held back. */
  definitions?: Definitions | undefined;
  /** Default: made from `catalog` and `store`. */
  privateTools?: PrivateTools | undefined;
  /** Where the planner gets its rules. Default: made from `catalog` and `store`. */
  rules?: KeptRules | undefined;
  policy: PolicySource;
  /** The first that can run a tool runs it. Closed by `close`. */
  executors: readonly Executor[];
  /** Counts what the rates and `quotas.modelTokens` limit; servers may share it. Default: one for this process. */
  rates?: RateLimiter | undefined;
  /** Time-outs, rates and sizes of calls. Default: those of `sandboxLimitsSchema`. */
  limits?: SandboxLimitsInput | undefined;
  /** Plans again where a run requests it. Default: runs are never planned again. */
  planner?: Pick<Planner, 'plan'> | undefined;
  /** A model that reorders what a search found. Default: none. */
  rerank?: DiscoveryParts['rerank'];
  /** Synonyms of the catalogue's own domain. Default: only the general ones. */
  synonyms?: DiscoveryParts['synonyms'];
  index?: Omit<NonNullable<DiscoveryParts['index']>, 'clock'> | undefined;
  /** Called once where the weights in the store are not usable. Default: not reported. */
  onUnusableWeights?: WeightsKeeperParts['onUnusable'];
  /** Learning from use. Default: off. */
  adaptation?: AdaptationOptions | undefined;
  /** Counts for Prometheus; its module needs the package prom-client. Default: nothing is counted. */
  createMetrics?: ((options: MetricsOptions) => Metrics) | undefined;
  options?: RouterOptions | undefined;
  /** Default: the system clock. */
  clock?: (() => Date) | undefined;
}

export interface RebuildRequest {
  /** Weights of the index from now on, kept in the store; null: back to those of `index`. Default: unchanged. */
  readonly weights?: GivenWeights | undefined;
  /** Who asks, for the audit. */
  readonly by?: string | undefined;
}

/** An answer of `rebuild`. */
export interface Rebuilt extends IndexStatus {
  /** The result of reading the sources; absent where they can't be read again. */
  readonly catalog?: CatalogReload;
}

export interface Agents {
  readonly router: Router;
  /** With the private tools of all users. */
  readonly catalog: () => Catalog;
  readonly privateTools: PrivateTools;
  /** Undefined: no server can be connected. */
  readonly connections: Connections | undefined;
  /** Undefined: no definition is held back. */
  readonly definitions: Definitions | undefined;
  readonly rules: KeptRules;
  readonly adaptation: Adaptation;
  readonly index: ToolIndex;
  /** Undefined: nothing is counted. */
  readonly metrics: Metrics | undefined;
  /** The same planner: counted in the metrics, and within `quotas.modelTokens` of the user who asks. */
  measure(planner: Planner): Planner;
  readonly plans: PlanRuns;
  readonly keptPlans: KeptPlans;
  /** Answers to requests that a caller may send twice. */
  readonly answers: KeptAnswers;
  readonly policy: PolicySource['current'];
  readonly policyTrial: PolicyTrial;
  /** @throws WinnowError `store_failed` */
  telemetry(query: TelemetryReportQuery): Promise<TelemetryReport>;
  /** Reads the sources again, and resolves when their index has settled. Searches are answered meanwhile. */
  rebuild(request?: RebuildRequest): Promise<Rebuilt>;
  /** Checks that the store can write. @throws WinnowError `store_failed` */
  ready(): Promise<void>;
  /** Describes each limit that has no effect on the current tools. */
  checkLimits(): string[];
  /** Reads what other processes have added, changed, learnt or decided. @throws WinnowError `store_failed` */
  refresh(): Promise<void>;
  /** Idempotent. */
  close(): Promise<void>;
}

/**
 * Sessions, policy, approvals, index, runs of plans and learning on one store: what `winnow serve` answers from.
 * @throws WinnowError `invalid_option`
 * @example
 * const agents = createAgents({ store: await openStore(), catalog: () => catalog, policy, executors: [] });
 */
export function createAgents({ store, policy, executors, ...parts }: AgentsParts): Agents {
  const { clock, options, onUnusableWeights: onUnusable } = parts;
  const audit = createAuditWriter(store.journal, clock);
  const changes = createToolChanges();
  const { rates = createRateLimiter() } = parts;
  const quotas = parseQuotas(options?.quotas);
  const inBudget = createTokenBudget(rates, quotas.modelTokens);
  const sandbox = createSandbox({ executors, limits: parts.limits, rates });
  const privateTools =
    parts.privateTools ?? createPrivateTools({ base: parts.catalog, store: store.privateTools, clock });
  const rules = parts.rules ?? createKeptRules({ base: parts.catalog, store: store.rules, clock });
  const { catalog } = privateTools;
  const adaptation = createAdaptation({
    store: store.weights,
    events: (since) => readEvents(store.journal, { since }),
    options: parts.adaptation,
    audit,
    onAlwaysOn: changes.notify,
    clock,
  });
  const discovery = createDiscovery({
    catalog,
    rerank: parts.rerank,
    synonyms: parts.synonyms,
    learnt: adaptation.learntFor,
    down: createDownServers({ catalog, failures: parts.failures, health: sandbox.health }),
    index: { ...parts.index, clock },
  });
  const { index } = discovery;
  const configured = parts.index?.weights;
  const weights = createWeightsKeeper({ index, store: store.snapshots, configured, onUnusable, audit, clock });
  const metrics = parts.createMetrics?.({ index: index.status, isNamed: isSystemName(catalog) });
  const router = createRouter({
    store,
    catalog,
    policy,
    alwaysOn: adaptation.alwaysOn,
    changes,
    search: discovery.search,
    handOut: discovery.handOut,
    prepare: sandbox.prepare,
    execute: sandbox.run,
    whyDown: sandbox.whyDown,
    onEvent: metrics?.observe,
    options,
    clock,
  });

  const replanner = parts.planner && {
    plan: inBudget(metrics?.measurePlan(parts.planner.plan) ?? parts.planner.plan),
  };

  let followed = catalog();
  /** Passes the current tools to index and clients; unchanged tools cost nothing. */
  function follow(): void {
    const now = catalog();
    index.setTools(now.tools);
    if (now === followed) return;
    followed = now;
    changes.notify();
  }

  async function followSettled(): Promise<void> {
    follow();
    await index.settled();
  }

  /** Makes the change, and updates the index before it returns. */
  function thenFollow<Given extends unknown[], Result>(change: (...given: Given) => Promise<Result>) {
    return async (...given: Given): Promise<Result> => {
      const result = await change(...given);
      await followSettled();
      return result;
    };
  }

  const { definitions } = parts;
  const keptPlans = createKeptPlans({ catalog, store: store.plans, policy: policy.current, clock });
  return {
    router,
    catalog,
    privateTools: { ...privateTools, add: thenFollow(privateTools.add), remove: thenFollow(privateTools.remove) },
    connections:
      parts.connections &&
      createConnections({
        ...{ ...parts.connections, catalog, begun: store.begunConnections },
        ...{ policy: policy.current, clock: clock ?? (() => new Date()) },
      }),
    definitions: definitions && { ...definitions, accept: thenFollow(definitions.accept) },
    rules,
    adaptation,
    index,
    metrics,
    policy: policy.current,
    policyTrial: createPolicyTrial({
      ...{ store, catalog, policy: policy.current, prepare: sandbox.prepare },
      clock: clock ?? (() => new Date()),
    }),
    keptPlans,
    measure(planner) {
      const { plan, select, view } = metrics?.measure(planner) ?? planner;
      return { plan: inBudget(plan), select: inBudget(select), view };
    },
    plans: createPlanRuns({
      router,
      sandbox,
      catalog,
      policy: policy.current,
      store: store.planRuns,
      kept: keptPlans,
      planner: replanner,
      quotas,
      clock,
    }),
    telemetry: (query) => reportTelemetry(store.journal, query),
    answers: createKeptAnswers({
      store,
      maxBytes: quotas.answerBytes,
      clock: clock ?? (() => new Date()),
    }),
    async rebuild({ weights: given, by } = {}) {
      if (given !== undefined) await weights.set(given, by);
      const reloaded = await parts.reload?.();
      await parts.definitions?.refresh();
      follow();
      const status = await index.rebuild();
      return { ...status, ...(reloaded ? { catalog: reloaded } : {}) };
    },
    ready: store.probe,
    checkLimits: () => sandbox.checkLimits(catalog().tools),
    async refresh() {
      try {
        await parts.definitions?.refresh();
        await privateTools.refresh();
        await rules.refresh();
        await adaptation.refresh();
        await weights.refresh();
      } finally {
        // What could be read takes effect, even where another part failed.
        follow();
      }
    },
    async close() {
      index.close();
      await sandbox.close();
      await store.close();
    },
  };
}

/** The metrics of a server must not reveal the names of users' own tools. */
function isSystemName(catalog: () => Catalog): (name: string) => boolean {
  const namesIn = oncePer(({ tools }: Catalog) => {
    return new Set(tools.filter(({ scope }) => scope === 'system').map(({ name }) => name));
  });
  return (name) => namesIn(catalog()).has(name);
}
