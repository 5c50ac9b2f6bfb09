/**
 * Prometheus metrics in a registry of their own. Users, their private names and words of requests never become labels.
 * Tools do up to a limit, since each label value is a time series.
 */
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { ERROR_TABLE, type ErrorCode, toWinnowError } from '../../core/errors.js';
import type { Planner } from '../../core/planner.js';
import type { PlanResult, Selection, SelectResult } from '../../core/result.js';
import { INDEX_STATES, type IndexStatus } from '../index/tool-index.js';
import type { TelemetryEvent } from '../records.js';
import { createSearchFollower, type SearchOutcome } from './follow-searches.js';
import { isRefused } from './rates.js';

export interface MetricsOptions {
  /** The state of the index. Default: left out. */
  index?: (() => IndexStatus) | undefined;
  /** Whether a tool may appear by name; others count as `other`. Default: all may. */
  isNamed?: ((tool: string) => boolean) | undefined;
  /** Limit of tools with their own series; others count as `other`. Default: 500. */
  maxTools?: number | undefined;
}

export interface HttpAnswer {
  readonly method: string;
  /** The route pattern, with `:id`. Undefined: no known route. */
  readonly route: string | undefined;
  readonly status: number;
  readonly milliseconds: number;
}

export interface Metrics {
  observe(event: TelemetryEvent): void;
  observeAnswer(answer: HttpAnswer): void;
  /** The same planner, with metrics. */
  measure(planner: Planner): Planner;
  measurePlan(plan: Planner['plan']): Planner['plan'];
  /** In the text format of Prometheus. */
  render(): Promise<string>;
  readonly contentType: string;
}

/** Name -> help, and the labels. */
const COUNTERS = {
  searches: ['Searches for tools.', 'ranked_by'],
  search_outcomes: [
    'What became of searches: first, top3, lower or elsewhere is where the used tool stood; again, left.',
    'outcome',
  ],
  enablements: ['Tools enabled.', 'via'],
  enablements_ended: ['Enablements that ended, by whether the tool was ever called.', 'used'],
  calls: ['Calls of tools.', 'tool', 'outcome'],
  http_requests: ['Requests over HTTP, by route and class of the status.', 'method', 'route', 'status'],
  plans: ['Requests for a plan, by what came of them.', 'outcome'],
  selections: ['Selections of tools, those of plans too, by mode; failed or cancelled.', 'mode'],
  tokens: ['Tokens of the models: read, cached (read before) and written.', 'stage', 'kind'],
  fallbacks: ['Selections that went on without the model, by the code of the error, or other.', 'code'],
  model_errors: ['Plans and selections that a model failed, by code.', 'code'],
} as const satisfies Readonly<Record<string, readonly [help: string, ...labels: string[]]>>;

/** Name -> help, the buckets in seconds, and the labels. */
const CALL_BUCKETS = [0.005, 0.02, 0.1, 0.5, 1, 3, 10, 60];
const HISTOGRAMS = {
  search: ['How long searches for tools take.', [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.12, 0.5, 2, 8]],
  call: ['How long calls take that the gate let through.', CALL_BUCKETS, 'tool'],
  http_request: ['How long requests over HTTP take.', CALL_BUCKETS, 'route'],
  plan: ['How long requests for a plan take.', [0.05, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 300]],
} as const satisfies Readonly<Record<string, readonly [help: string, buckets: number[], ...labels: string[]]>>;

const OUTCOMES = { plan: 'planned', clarification: 'question', unplannable: 'unplannable' } as const;

export function createMetrics({ index, isNamed, maxTools = 500 }: MetricsOptions = {}): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const counters = mapTable(COUNTERS, (name, [help, ...labelNames]) => {
    return new Counter<string>({ name: `winnow_${name}_total`, help, labelNames, registers });
  });
  const seconds = mapTable(HISTOGRAMS, (name, [help, buckets, ...labelNames]) => {
    return new Histogram<string>({
      name: `winnow_${name}_seconds`,
      help,
      buckets: [...buckets],
      labelNames,
      registers,
    });
  });
  if (index) addIndexGauges(registers, index);
  const labelOf = createToolLabels(maxTools, isNamed);
  const follower = createSearchFollower((_, outcome) => counters.search_outcomes.inc({ outcome: nameOf(outcome) }));

  function countSelection({ mode, reason }: Pick<Selection, 'mode' | 'reason'>): void {
    counters.selections.inc({ mode });
    if (mode !== 'fallback') return;
    const code = codeIn(reason);
    counters.fallbacks.inc({ code: code ?? 'other' });
    countModelError(code);
  }

  function countUsage({ usage }: Pick<SelectResult, 'usage'>): void {
    for (const stage of ['selection', 'planning'] as const)
      for (const kind of ['read', 'cached', 'written'] as const)
        counters.tokens.inc({ stage, kind }, usage[stage][kind]);
  }

  function countModelError(code: ErrorCode | undefined): void {
    if (code && MODEL_ERRORS.has(code)) counters.model_errors.inc({ code });
  }

  /** @returns the outcome to count for failed work */
  function countFailure(thrown: unknown): 'failed' | 'cancelled' {
    const { code } = toWinnowError(thrown);
    countModelError(code);
    return code === 'cancelled' ? 'cancelled' : 'failed';
  }

  const measurePlan =
    (plan: Planner['plan']): Planner['plan'] =>
    async (...asked) => {
      const end = seconds.plan.startTimer();
      try {
        const result: PlanResult = await plan(...asked);
        counters.plans.inc({ outcome: OUTCOMES[result.kind] });
        countSelection(result.selection);
        countUsage(result);
        return result;
      } catch (error) {
        counters.plans.inc({ outcome: countFailure(error) });
        throw error;
      } finally {
        end();
      }
    };

  return {
    observe(event) {
      follower.observe(event);
      if (event.type === 'search') {
        counters.searches.inc({ ranked_by: event.rankedBy });
        seconds.search.observe(event.milliseconds / 1000);
      } else if (event.type === 'enable') counters.enablements.inc({ via: event.via });
      else if (event.type === 'expire') counters.enablements_ended.inc({ used: event.calls > 0 ? 'yes' : 'no' });
      else if (event.type === 'call') {
        const tool = labelOf(event.tool);
        const failed = isRefused(event) ? 'refused' : 'error';
        counters.calls.inc({ tool, outcome: event.ok ? 'ok' : failed });
        if (!isRefused(event)) seconds.call.observe({ tool }, event.milliseconds / 1000);
      }
    },
    observeAnswer({ method, route, status, milliseconds }) {
      const known = route === undefined ? { method: 'other', route: 'other' } : { method, route };
      counters.http_requests.inc({ ...known, status: `${Math.floor(status / 100)}xx` });
      seconds.http_request.observe({ route: known.route }, milliseconds / 1000);
    },
    measurePlan,
    measure: (planner) => ({
      plan: measurePlan((...asked) => planner.plan(...asked)),
      view: (request) => planner.view(request),
      async select(...asked) {
        try {
          const result = await planner.select(...asked);
          countSelection(result);
          countUsage(result);
          return result;
        } catch (error) {
          counters.selections.inc({ mode: countFailure(error) });
          throw error;
        }
      },
    }),
    render: () => registry.metrics(),
    contentType: registry.contentType,
  };
}

const MODEL_ERRORS: ReadonlySet<ErrorCode> = new Set([
  'model_unavailable',
  'model_refused',
  'model_failed',
  'model_timeout',
  'context_exceeded',
  'plan_invalid',
]);

/** The reason of a fallback begins with an error code where an error caused it. */
function codeIn(reason: string): ErrorCode | undefined {
  const [code = ''] = reason.split(':', 1);
  return isErrorCode(code) ? code : undefined;
}

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERROR_TABLE, code);
}

function mapTable<Table extends Readonly<Record<string, unknown>>, Made>(
  table: Table,
  make: (name: string, entry: Table[keyof Table]) => Made,
): Record<keyof Table, Made>;
function mapTable(table: Readonly<Record<string, unknown>>, make: (name: string, entry: unknown) => unknown) {
  return Object.fromEntries(Object.entries(table).map(([name, entry]) => [name, make(name, entry)]));
}

function addIndexGauges(registers: Registry[], index: () => IndexStatus): void {
  new Gauge({
    name: 'winnow_index_state',
    help: '1 for the state that the index of tools is in.',
    labelNames: ['state'],
    registers,
    collect() {
      const { state } = index();
      for (const one of INDEX_STATES) this.set({ state: one }, one === state ? 1 : 0);
    },
  });
  new Gauge({
    name: 'winnow_index_tools',
    help: 'Tools in the index that answers.',
    registers,
    collect() {
      this.set(index().tools);
    },
  });
}

function nameOf(outcome: SearchOutcome): string {
  if (outcome.kind !== 'used') return outcome.kind;
  if (outcome.place < 0) return 'elsewhere';
  if (outcome.place === 0) return 'first';
  return outcome.place < 3 ? 'top3' : 'lower';
}

function createToolLabels(maxTools: number, isNamed: MetricsOptions['isNamed']): (name: string) => string {
  const known = new Set<string>();
  return (name) => {
    if (isNamed?.(name) === false || (!known.has(name) && known.size >= maxTools)) return 'other';
    known.add(name);
    return name;
  };
}
