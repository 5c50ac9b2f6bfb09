/** Runs cases in this process with its own model. `eval-queue.ts` is the other evaluator. */
import { createCaseRunner, type Judging } from '../eval/case-runner.js';
import { createLocalDispatcher, type Dispatcher } from '../eval/evaluate.js';
import type { Prices } from '../eval/prices.js';
import type { Settings } from '../eval/run-summary.js';
import { createSuitePlanners, type OnStablePart } from '../eval/suite.js';
import { openAnsweringModels } from './answering-models.js';
import type { EvaluationSetup, SetupContext } from './eval-setup.js';

export interface Evaluator {
  /** The model, or both. */
  readonly model: string;
  /** Settings of the model. Undefined: the workers have them. */
  readonly asked?: Settings;
  dispatcher(parts: { judging: Judging; prices: Prices | undefined; onStablePart: OnStablePart }): Dispatcher;
  close(): Promise<void>;
}

/** @throws WinnowError `invalid_option`, `model_unavailable`, `cancelled` */
export async function openLocalEvaluator(
  { flags, config, suites, options, prompts }: EvaluationSetup,
  context: SetupContext,
): Promise<Evaluator> {
  const { id, asked, answering, close } = await openAnsweringModels(config, { ...context, cache: flags.cache });
  return {
    model: id,
    asked,
    dispatcher({ judging, prices, onStablePart }) {
      const parts = { ...answering(true), options, prompts, onStablePart };
      const planners = suites.map((suite) => [suite.name, createSuitePlanners(suite, parts)] as const);
      return createLocalDispatcher(createCaseRunner({ ...judging, prices, suites: new Map(planners) }), flags.jobs);
    },
    close,
  };
}
