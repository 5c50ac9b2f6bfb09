/** What a planner does, for Prometheus: outcomes, tokens, and what models did wrong. No label holds a word of a request. */
import { Counter, Histogram, type Registry } from 'prom-client';
import { ERROR_TABLE, type ErrorCode, toWinnowError } from '../../core/errors.js';
import type { Planner } from '../../core/planner.js';
import type { PlanResult, Selection, SelectResult } from '../../core/result.js';

export interface PlannerMetrics {
  /** The same planner, counted. */
  measure(planner: Planner): Planner;
  measurePlan(plan: Planner['plan']): Planner['plan'];
}

/** In seconds. */
const BUCKETS = [0.05, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 300];
const OUTCOMES = { plan: 'planned', clarification: 'question', unplannable: 'unplannable' } as const;

export function createPlannerMetrics(registry: Registry): PlannerMetrics {
  const series = createSeries(registry);

  function countSelection({ mode, reason }: Pick<Selection, 'mode' | 'reason'>): void {
    series.selections.inc({ mode });
    if (mode !== 'fallback') return;
    const code = codeIn(reason);
    series.fallbacks.inc({ code: code ?? 'other' });
    countModelError(code);
  }

  function countUsage({ usage }: Pick<SelectResult, 'usage'>): void {
    for (const stage of ['selection', 'planning'] as const)
      for (const kind of ['read', 'cached', 'written'] as const) series.tokens.inc({ stage, kind }, usage[stage][kind]);
  }

  function countModelError(code: ErrorCode | undefined): void {
    if (code && MODEL_ERRORS.has(code)) series.modelErrors.inc({ code });
  }

  /** @returns what the work that failed is counted as */
  function countFailure(thrown: unknown): 'failed' | 'cancelled' {
    const { code } = toWinnowError(thrown);
    countModelError(code);
    return code === 'cancelled' ? 'cancelled' : 'failed';
  }

  const measurePlan =
    (plan: Planner['plan']): Planner['plan'] =>
    async (...asked) => {
      const end = series.planSeconds.startTimer();
      try {
        const result: PlanResult = await plan(...asked);
        series.plans.inc({ outcome: OUTCOMES[result.kind] });
        countSelection(result.selection);
        countUsage(result);
        return result;
      } catch (error) {
        series.plans.inc({ outcome: countFailure(error) });
        throw error;
      } finally {
        end();
      }
    };

  return {
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
          series.selections.inc({ mode: countFailure(error) });
          throw error;
        }
      },
    }),
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

/** The reason of a fallback begins with a code where an error was the cause. */
function codeIn(reason: string): ErrorCode | undefined {
  const [code = ''] = reason.split(':', 1);
  return isErrorCode(code) ? code : undefined;
}

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERROR_TABLE, code);
}

function createSeries(registry: Registry) {
  const registers = [registry];
  return {
    plans: new Counter({
      name: 'winnow_plans_total',
      help: 'Requests for a plan, by what came of them.',
      labelNames: ['outcome'],
      registers,
    }),
    planSeconds: new Histogram({
      name: 'winnow_plan_seconds',
      help: 'How long requests for a plan take.',
      buckets: BUCKETS,
      registers,
    }),
    selections: new Counter({
      name: 'winnow_selections_total',
      help: 'Selections of tools, those of plans too, by mode; failed or cancelled.',
      labelNames: ['mode'],
      registers,
    }),
    tokens: new Counter({
      name: 'winnow_tokens_total',
      help: 'Tokens of the models: read, cached (read before) and written.',
      labelNames: ['stage', 'kind'],
      registers,
    }),
    fallbacks: new Counter({
      name: 'winnow_fallbacks_total',
      help: 'Selections that went on without the model, by the code of the error, or other.',
      labelNames: ['code'],
      registers,
    }),
    modelErrors: new Counter({
      name: 'winnow_model_errors_total',
      help: 'Plans and selections that a model failed, by code.',
      labelNames: ['code'],
      registers,
    }),
  };
}
