/** `winnow-planner/eval`: cases, a runner that runs and scores one, and metrics over many. `winnow eval` does the rest. */
export { type CasePlace, type EvaluationCase, parseCase } from './case.js';
export { type CaseJob, type CaseRunner, type CaseRunnerOptions, createCaseRunner } from './case-runner.js';
export { createTally, type Tally } from './metrics.js';
export type { CaseRecord } from './record.js';
export type { RunMetric } from './run-summary.js';
export { createSuitePlanners, type SuitePlannerOptions, type SuitePlanners } from './suite.js';
