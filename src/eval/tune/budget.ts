/**
 * Limits of tuning in time and model calls over all its processes, with the kept results. A resumed run repeats the search from
 * kept results, since only seed and answers decide. The limit of calls is strict; time is checked between cases.
 */
import { WinnowError } from '../../core/errors.js';
import { type Model, wrapModel } from '../../core/model/model.js';
import type { RunStore } from '../run-store.js';
import { hashOf } from '../run-summary.js';

export interface Spent {
  /** Completions and rank readings that the model really made. */
  calls: number;
  milliseconds: number;
}

/** Ends a search, which keeps its results so far. */
export class BudgetEnded extends Error {}

export interface Budget {
  spent(): Spent;
  /** Whether less than the reserve is left. */
  isOver(reserve?: Spent): boolean;
  /** Time left after the reserve. */
  millisecondsLeft(reserve: Spent): number;
  /** Aborted once a call was refused; answers from then on are invalid. */
  readonly exhausted: AbortSignal;
  /** The model with its calls counted. */
  meter(model: Model): Model;
  /** The value that this or an earlier process kept under the key; its cost counts once. */
  recall<Value>(key: readonly unknown[]): Promise<Value | undefined>;
  keep(key: readonly unknown[], value: unknown, calls: number): Promise<void>;
  /** Recalls the value, or computes and keeps it. @throws BudgetEnded when a call was refused meanwhile */
  once<Value>(key: readonly unknown[], work: () => Promise<Value>): Promise<Value>;
}

export interface BudgetLimits {
  milliseconds: number;
  /** Default: no limit. */
  calls?: number | undefined;
  /** Milliseconds of a clock that never goes back. Default: `performance.now`. */
  now?: () => number;
}

export function createBudget(
  { milliseconds, calls: most = Number.POSITIVE_INFINITY, now = () => performance.now() }: BudgetLimits,
  store: Pick<RunStore, 'recall' | 'remember'>,
): Budget {
  const startedAt = now();
  const exhausted = new AbortController();
  const counted = new Set<string>();
  let before = 0;
  let calls = 0;
  const spent = () => ({ calls, milliseconds: before + now() - startedAt });
  const millisecondsLeft = (reserve: Spent) => milliseconds - spent().milliseconds - reserve.milliseconds;
  const count = () => {
    if (calls >= most) {
      exhausted.abort();
      throw new WinnowError('cancelled', `The budget of ${most} model calls is used up.`);
    }
    calls += 1;
  };
  const budget: Budget = {
    spent,
    millisecondsLeft,
    isOver: (reserve = { calls: 0, milliseconds: 0 }) =>
      calls + reserve.calls >= most || millisecondsLeft(reserve) <= 0,
    exhausted: exhausted.signal,
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
    async recall(key) {
      const hash = hashOf(key);
      const entry = Object(await store.recall('tuning', hash));
      if (!counted.has(hash)) {
        calls += Number(entry.calls) || 0;
        before = Math.max(before, (Number(entry.elapsedInMs) || 0) - (now() - startedAt));
      }
      if (entry.value !== undefined) counted.add(hash);
      return entry.value;
    },
    async keep(key, value, cost) {
      const hash = hashOf(key);
      counted.add(hash);
      const elapsedInMs = Math.round(spent().milliseconds);
      await store.remember('tuning', hash, { value, calls: cost, elapsedInMs, about: key });
    },
    async once(key, work) {
      const known = await budget.recall<Awaited<ReturnType<typeof work>>>(key);
      if (known !== undefined) return known;
      const asked = calls;
      const value = await work().catch((error: unknown) => {
        throw exhausted.signal.aborted ? new BudgetEnded() : error;
      });
      await budget.keep(key, value, calls - asked);
      return value;
    },
  };
  return budget;
}
