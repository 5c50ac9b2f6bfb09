/** The budget of model tokens that a user may spend on plans and selections. Calls are counted when they end. */

import { toWinnowError } from '../../core/errors.js';
import { noUsage, sumUsage, type Usage } from '../../core/model/model.js';
import type { CallOptions } from '../../core/planner.js';
import type { PlanRequest } from '../../core/request.js';
import { overQuota, type Quotas } from '../quotas.js';
import type { RateLimiter } from './rate-limiter.js';

type StageUsage = Readonly<Record<'selection' | 'planning', Usage>>;
type Ask<Answer> = (request: PlanRequest, call?: CallOptions) => Promise<Answer>;

/**
 * Wraps a planner function with the budget of the request's user. Without a user or a budget, nothing is counted.
 * @throws WinnowError `quota_exceeded`, with `retryAfterSeconds` in its details, when the budget is spent
 */
export function createTokenBudget(rates: RateLimiter, budget: Quotas['modelTokens']) {
  return <Answer extends { usage: StageUsage }>(ask: Ask<Answer>): Ask<Answer> => {
    if (!budget) return ask;
    const rate = { points: budget.tokens, seconds: budget.seconds };
    return async (request, call) => {
      if (request.user === undefined) return ask(request, call);
      const claim = { key: `model tokens of ${JSON.stringify([request.user])}`, rate };
      const retryAfterSeconds = Math.ceil((await rates.waitOf(claim)) / 1_000);
      if (retryAfterSeconds > 0)
        throw overQuota('modelTokens', budget.tokens, {
          next: `Models are asked for you again in ${retryAfterSeconds} s.`,
          retryAfterSeconds,
        });
      try {
        const answer = await ask(request, call);
        await rates.spend(claim, tokensIn(answer.usage));
        return answer;
      } catch (error) {
        await rates.spend(claim, tokensIn(toWinnowError(error).details.usage));
        throw error;
      }
    };
  };
}

/** Input tokens, including cached ones, and output tokens. */
function tokensIn(usage: unknown): number {
  const { selection = noUsage(), planning = noUsage() }: Partial<StageUsage> = Object(usage);
  const { read, cached, written } = sumUsage(selection, planning);
  return read + cached + written;
}
