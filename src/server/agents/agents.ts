/**
 * All that agents in a loop need, put together once: sessions behind the policy, discovery, the sandbox, runs of plans,
 * telemetry. Everything that lasts is in the store, so several processes may share it.
 */
import type { Catalog } from '../../catalog/catalog.js';
import type { Executor } from '../../execution/executors/executor.js';
import type { SandboxLimitsInput } from '../../execution/limits.js';
import { createSandbox } from '../../execution/sandbox.js';
import type { Planner } from '../../planner.js';
import { type AdaptationOptions, createAdaptation } from '../../routing/adaptation/adaptation.js';
import type { ToolIndex } from '../../routing/index/tool-index.js';
import type { RouterOptions } from '../../routing/parts.js';
import type { PolicySource } from '../../routing/policy/policy-file.js';
import { createRouter, type Router } from '../../routing/router.js';
import { createDiscovery, type DiscoveryParts } from '../../routing/search/discovery.js';
import { createMetrics, type Metrics } from '../../routing/telemetry/metrics.js';
import type { TelemetryReport } from '../../routing/telemetry/rates.js';
import { readEvents } from '../../routing/telemetry/read-events.js';
import { reportTelemetry, type TelemetryReportQuery } from '../../routing/telemetry/report.js';
import type { Store } from '../../store/store.js';
import { createPlanRuns, type PlanRuns } from './plan-runs.js';

export interface AgentsParts {
  /** Closed by `close`. */
  store: Store;
  /** The tools of now; asked anew for each request, so it may be reloaded. */
  catalog: () => Catalog;
  policy: PolicySource;
  /** Asked in this order; the first that can run a tool does. Closed by `close`. */
  executors: readonly Executor[];
  /** Time-outs, rates and room of calls. Default: those of `sandboxLimitsSchema`. */
  limits?: SandboxLimitsInput | undefined;
  /** Plans again where a run asks for it. Default: nothing is planned again. */
  planner?: Pick<Planner, 'plan'> | undefined;
  /** A model that reorders what a search found. Default: none. */
  rerank?: DiscoveryParts['rerank'];
  /** Learning from use. Default: off. */
  adaptation?: AdaptationOptions | undefined;
  options?: RouterOptions | undefined;
  /** Default: the clock of the machine. */
  clock?: (() => Date) | undefined;
}

export interface Agents {
  readonly router: Router;
  readonly index: ToolIndex;
  readonly metrics: Metrics;
  readonly plans: PlanRuns;
  readonly policy: PolicySource['current'];
  /** @throws WinnowError `store_failed` */
  telemetry(query: TelemetryReportQuery): Promise<TelemetryReport>;
  /** Learns from use, where it is switched on: at the start, then now and then. @throws WinnowError `store_failed` */
  learn(): Promise<void>;
  /** Idempotent. */
  close(): Promise<void>;
}

/** @throws WinnowError `invalid_option` */
export function createAgents({ store, catalog, policy, executors, ...parts }: AgentsParts): Agents {
  const { clock, options } = parts;
  const sandbox = createSandbox({ executors, limits: parts.limits });
  const adaptation = createAdaptation({
    store: store.weights,
    events: (since) => readEvents(store.journal, { since }),
    options: parts.adaptation,
    clock,
  });
  const discovery = createDiscovery({ catalog, rerank: parts.rerank, learnt: adaptation.learntFor, index: { clock } });
  const metrics = createMetrics({ index: discovery.index.status });
  const router = createRouter({
    store,
    catalog,
    policy,
    search: discovery.search,
    handOut: discovery.handOut,
    prepare: sandbox.prepare,
    execute: sandbox.run,
    onEvent: metrics.observe,
    options,
    clock,
  });
  return {
    router,
    index: discovery.index,
    metrics,
    policy: policy.current,
    plans: createPlanRuns({ router, sandbox, catalog, store: store.planRuns, planner: parts.planner }),
    telemetry: (query) => reportTelemetry(store.journal, query),
    async learn() {
      await adaptation.learn();
    },
    async close() {
      discovery.index.close();
      await sandbox.close();
      await store.close();
    },
  };
}
