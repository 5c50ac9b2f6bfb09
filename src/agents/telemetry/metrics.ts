/**
 * The same facts for Prometheus, as they happen. The registry is its own; users and what is theirs never become labels, and
 * tools only up to a number, since each label value is a series that the server keeps.
 */
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { INDEX_STATES, type IndexStatus } from '../index/tool-index.js';
import type { TelemetryEvent } from '../records.js';
import { createSearchFollower, type SearchOutcome } from './follow-searches.js';
import { createPlannerMetrics, type PlannerMetrics } from './planner-metrics.js';
import { isRefused } from './rates.js';

export interface MetricsOptions {
  /** For the state of the index. Default: it is left out. */
  index?: (() => IndexStatus) | undefined;
  /** Whether a tool may stand there by its name; the others are counted as `other`. Default: all may. */
  isNamed?: ((tool: string) => boolean) | undefined;
  /** Tools with series of their own; the others are counted together as `other`. Default: 500. */
  maxTools?: number | undefined;
}

export interface HttpAnswer {
  readonly method: string;
  /** As the server has it, with `:id`. Undefined: no route of it. */
  readonly route: string | undefined;
  readonly status: number;
  readonly milliseconds: number;
}

export interface Metrics extends PlannerMetrics {
  observe(event: TelemetryEvent): void;
  observeAnswer(answer: HttpAnswer): void;
  /** In the text format of Prometheus. */
  render(): Promise<string>;
  readonly contentType: string;
}

/** In seconds. */
const SEARCH_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.12, 0.5, 2, 8];
const CALL_BUCKETS = [0.005, 0.02, 0.1, 0.5, 1, 3, 10, 60];

export function createMetrics({ index, isNamed, maxTools = 500 }: MetricsOptions = {}): Metrics {
  const registry = new Registry();
  const series = createSeries(registry, index);
  const labelOf = createToolLabels(maxTools, isNamed);
  const follower = createSearchFollower({
    onOutcome: (_, outcome) => series.outcomes.inc({ outcome: nameOf(outcome) }),
  });
  return {
    observe(event) {
      follower.observe(event);
      switch (event.type) {
        case 'search':
          series.searches.inc({ ranked_by: event.rankedBy });
          series.searchSeconds.observe(event.milliseconds / 1000);
          break;
        case 'enable':
          series.enablements.inc({ via: event.via });
          break;
        case 'expire':
          series.ended.inc({ used: event.calls > 0 ? 'yes' : 'no' });
          break;
        case 'call':
          series.calls.inc({
            tool: labelOf(event.tool),
            outcome: event.ok ? 'ok' : isRefused(event) ? 'refused' : 'error',
          });
          if (!isRefused(event)) series.callSeconds.observe({ tool: labelOf(event.tool) }, event.milliseconds / 1000);
          break;
        case 'disable':
          break;
      }
    },
    observeAnswer({ method, route, status, milliseconds }) {
      const known = route === undefined ? { method: 'other', route: 'other' } : { method, route };
      series.answers.inc({ ...known, status: `${Math.floor(status / 100)}xx` });
      series.answerSeconds.observe({ route: known.route }, milliseconds / 1000);
    },
    ...createPlannerMetrics(registry),
    render: () => registry.metrics(),
    contentType: registry.contentType,
  };
}

function createSeries(registry: Registry, index: MetricsOptions['index']) {
  const registers = [registry];
  if (index) addIndexGauges(registry, index);
  return {
    searches: new Counter({
      name: 'winnow_searches_total',
      help: 'Searches for tools.',
      labelNames: ['ranked_by'],
      registers,
    }),
    searchSeconds: new Histogram({
      name: 'winnow_search_seconds',
      help: 'How long searches for tools take.',
      buckets: SEARCH_BUCKETS,
      registers,
    }),
    outcomes: new Counter({
      name: 'winnow_search_outcomes_total',
      help: 'What became of searches: first, top3, lower or elsewhere is where the used tool stood; again, left.',
      labelNames: ['outcome'],
      registers,
    }),
    enablements: new Counter({
      name: 'winnow_enablements_total',
      help: 'Tools enabled.',
      labelNames: ['via'],
      registers,
    }),
    ended: new Counter({
      name: 'winnow_enablements_ended_total',
      help: 'Enablements that ended, by whether the tool was ever called.',
      labelNames: ['used'],
      registers,
    }),
    calls: new Counter({
      name: 'winnow_calls_total',
      help: 'Calls of tools.',
      labelNames: ['tool', 'outcome'],
      registers,
    }),
    answers: new Counter({
      name: 'winnow_http_requests_total',
      help: 'Requests over HTTP, by route and class of the status.',
      labelNames: ['method', 'route', 'status'],
      registers,
    }),
    answerSeconds: new Histogram({
      name: 'winnow_http_request_seconds',
      help: 'How long requests over HTTP take.',
      labelNames: ['route'],
      buckets: CALL_BUCKETS,
      registers,
    }),
    callSeconds: new Histogram({
      name: 'winnow_call_seconds',
      help: 'How long calls take that the gate let through.',
      labelNames: ['tool'],
      buckets: CALL_BUCKETS,
      registers,
    }),
  };
}

function addIndexGauges(registry: Registry, index: () => IndexStatus): void {
  new Gauge({
    name: 'winnow_index_state',
    help: '1 for the state that the index of tools is in.',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      const { state } = index();
      for (const one of INDEX_STATES) this.set({ state: one }, one === state ? 1 : 0);
    },
  });
  new Gauge({
    name: 'winnow_index_tools',
    help: 'Tools in the index that answers.',
    registers: [registry],
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
