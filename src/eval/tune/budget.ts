/**
 * How long tuning may take, in time and in model calls, over all processes that work at it, and what came of the calls: a
 * run that was killed is resumed by doing it again with every answer at hand, since seed and answers decide alone. Calls
 * are a hard bound: the call that would be one too many is not made. Time is looked at between cases.
 */
import { WinnowError } from '../../core/errors.js';
import { type Model, wrapModel } from '../../core/model/model.js';
import type { RunStore } from '../run-store.js';
import { hashOf } from '../run-summary.js';

export interface Spent {
  /** Completions and rank readings that were really asked for. */
  calls: number;
  milliseconds: number;
}

/** Ends a search, which keeps what it has. */
export class BudgetEnded extends Error {}

export interface Budget {
  spent(): Spent;
  /** Whether less than the reserve is left. */
  isOver(reserve?: Spent): boolean;
  /** Without the reserve. */
  millisecondsLeft(reserve: Spent): number;
  /** Has fired when a call was refused: answers that come now are no answers. */
  readonly exhausted: AbortSignal;
  /** The model, counted. */
  meter(model: Model): Model;
  /** What this process or an earlier one kept under the key, its cost counted once. */
  recall<Value>(key: readonly unknown[]): Promise<Value | undefined>;
  keep(key: readonly unknown[], value: unknown, calls: number): Promise<void>;
  /** Recalled, or worked out and kept. @throws BudgetEnded when a call was refused meanwhile */
  once<Value>(key: readonly unknown[], work: () => Promise<Value>): Promise<Value>;
}

export interface BudgetLimits {
  milliseconds: number;
  /** Default: no bound. */
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
