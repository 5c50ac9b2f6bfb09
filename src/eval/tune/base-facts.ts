/** What the prompt as it is does on the training cases: where tuning starts from, and what a case costs. */
import { WinnowError } from '../../core/errors.js';
import type { Spent } from './budget.js';
import type { Measurements } from './measure.js';
import type { TunePromptParts } from './tune-parts.js';

export interface BaseFacts {
  meanOfBase: number;
  failing: number;
  withoutScore: number;
  withoutExample: number;
  allowedGrowth: number;
  /** For one case, on average. */
  cost: Spent;
}

/** @throws WinnowError `invalid_option` where no training case asks the model */
export function baseFactsOf(
  { prompt, maxTokensGrowth, jobs, split, exampleOf }: TunePromptParts,
  first: Measurements,
): BaseFacts {
  const all = [...first.values()];
  const scores = all.flatMap(({ score }) => score ?? []);
  const asked = all.filter(({ stableTokens }) => stableTokens > 0);
  if (scores.length === 0 || asked.length === 0) {
    const hint =
      prompt === 'select-tools'
        ? 'selection is skipped for small catalogues: --set passthroughTools=0'
        : 'give cases with expectedSteps';
    throw new WinnowError('invalid_option', `No training case says anything about ${prompt}: ${hint}.`);
  }
  return {
    meanOfBase: mean(scores),
    failing: scores.filter((score) => score < 1).length,
    withoutScore: all.length - scores.length,
    withoutExample: split.training.filter((one) => (first.get(one.id)?.score ?? 1) < 1 && !exampleOf(one)).length,
    allowedGrowth: Math.floor(maxTokensGrowth * mean(asked.map(({ stableTokens }) => stableTokens))),
    cost: costOf(first, jobs),
  };
}

/** Of one case, on average, where so many are done at once. */
export function costOf(measured: Measurements, jobs: number): Spent {
  const all = [...measured.values()];
  return {
    calls: mean(all.map(({ calls }) => calls)),
    milliseconds: mean(all.map(({ milliseconds }) => milliseconds)) / jobs,
  };
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}
