/**
 * How long tuning may take, in time and in model calls, over all processes that work at it. Calls are a hard bound: the
 * call that would be one too many is not made. Time is looked at between cases.
 */
import { WinnowError } from '../../core/errors.js';
import { type Model, wrapModel } from '../../core/model/model.js';

export interface Spent {
  /** Completions and rank readings that were really asked for. */
  calls: number;
  milliseconds: number;
}

export interface Budget {
  spent(): Spent;
  /** Whether less than the reserve is left. */
  isOver(reserve?: Spent): boolean;
  /** What may still be spent; without a bound on calls, any number of them. */
  left(): Spent;
  /** Has fired when a call was refused: answers that come now are no answers. */
  readonly exhausted: AbortSignal;
  /** What an earlier process spent: so many calls, up to this time. */
  recall(calls: number, elapsedInMs: number): void;
  /** The model, counted. */
  meter(model: Model): Model;
}

export interface BudgetLimits {
  milliseconds: number;
  /** Default: no bound. */
  calls?: number | undefined;
  /** Milliseconds of a clock that never goes back. Default: `performance.now`. */
  now?: () => number;
}

export function createBudget({
  milliseconds,
  calls: most = Number.POSITIVE_INFINITY,
  now = () => performance.now(),
}: BudgetLimits): Budget {
  const startedAt = now();
  const exhausted = new AbortController();
  let before = 0;
  let calls = 0;
  const spent = () => ({ calls, milliseconds: before + now() - startedAt });
  const count = () => {
    if (calls >= most) {
      exhausted.abort();
      throw new WinnowError('cancelled', `The budget of ${most} model calls is used up.`);
    }
    calls += 1;
  };
  return {
    spent,
    isOver: (reserve = { calls: 0, milliseconds: 0 }) => {
      const used = spent();
      return used.calls + reserve.calls >= most || used.milliseconds + reserve.milliseconds >= milliseconds;
    },
    left: () => {
      const used = spent();
      return { calls: Math.max(0, most - used.calls), milliseconds: Math.max(0, milliseconds - used.milliseconds) };
    },
    exhausted: exhausted.signal,
    recall(earlier, elapsedInMs) {
      calls += earlier;
      before = Math.max(before, elapsedInMs - (now() - startedAt));
    },
    meter: (model) =>
      wrapModel(model, {
        complete: async (request) => {
          count();
          return model.complete(request);
        },
        openReader: async (request, open) => {
          count();
          return open(request);
        },
      }),
  };
}
