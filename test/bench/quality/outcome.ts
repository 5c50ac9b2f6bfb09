/** What one contestant made of one case: a line of `quality.json`. An error of the model is no outcome of a contestant. */
import type { Tool } from '../../../src/core/catalog/tool.js';
import type { Step } from '../../../src/core/result.js';
import { defaultsIn, type PlanFault, scorePlan } from '../../../src/eval/plan-scores.js';
import type { CaseRecord } from '../../../src/eval/record.js';
import { scoreSelection } from '../../../src/eval/selection-scores.js';
import { toolSets } from '../../../src/eval/variants.js';
import type { Reply, Trial } from './contestant.js';
import type { Spent } from './remembered-model.js';
import type { QualitySet } from './sets.js';

export const METRICS = {
  recall: 'recall of the needed tools',
  allNeeded: 'all needed tools there',
  abstention: 'right abstentions',
  valid: 'valid plans',
  nodeF1: 'steps (node F1)',
  argumentValueF1: 'argument values (F1)',
  edgeF1: 'dependencies (edge F1)',
  planExact: 'plans exactly right',
} as const;
export type MetricName = keyof typeof METRICS;
export const METRIC_NAMES = Object.keys(METRICS) as readonly MetricName[];

export interface Outcome {
  readonly set: string;
  readonly contestant: string;
  readonly id: string;
  readonly query: string;
  readonly status: 'answered' | 'unanswered' | 'does-not-fit' | 'error';
  /** Why it is not `answered`. */
  readonly reason?: string;
  /** What it would have sent, in tokens, where that does not fit. */
  readonly neededTokens?: number;
  readonly mode?: string;
  readonly tools: readonly string[];
  /** Needed and not there, by the alternative that is fulfilled best. */
  readonly missing: readonly string[];
  /** On sets of plans: what was expected, what came, and what is wrong with it. */
  readonly plan?: {
    readonly expected: CaseRecord['expected']['steps'];
    readonly got: readonly Step[];
    readonly fault: PlanFault | undefined;
  };
  /** Absent where the metric does not apply to the case. */
  readonly scores: Readonly<Partial<Record<MetricName, number>>>;
  /** Of all that is visible, and of what is handed on to the second call. */
  readonly schemaTokens: { readonly all: number; readonly loaded: number };
  readonly spent: Spent;
}

export interface Failed {
  readonly kind: 'error';
  readonly reason: string;
}

export interface Measured {
  set: Pick<QualitySet, 'id' | 'judged'>;
  contestant: string;
  trial: Trial;
  reply: Reply | Failed;
  spent: Spent;
  schemaTokens: (tool: Tool) => number;
}

export function toOutcome(measured: Measured): Outcome {
  const { set, contestant, trial, reply, spent, schemaTokens } = measured;
  const tools = reply.kind === 'answered' ? reply.tools : [];
  const loaded = new Set(reply.kind === 'answered' ? (reply.loaded ?? tools) : []);
  const sum = (some: readonly Tool[]) => some.reduce((total, tool) => total + schemaTokens(tool), 0);
  const isJudged = reply.kind === 'answered' || reply.kind === 'unanswered';
  return {
    set: set.id,
    contestant,
    id: trial.case.id,
    query: trial.case.request.message,
    status: reply.kind,
    ...('reason' in reply ? { reason: reply.reason } : {}),
    ...(reply.kind === 'does-not-fit' ? { neededTokens: reply.tokens } : {}),
    ...(reply.kind === 'answered' && reply.mode !== undefined ? { mode: reply.mode } : {}),
    tools,
    missing: missingOf(trial, tools),
    ...(isJudged ? judge(measured, tools) : { scores: {} }),
    schemaTokens: { all: sum(trial.tools), loaded: sum(trial.tools.filter(({ name }) => loaded.has(name))) },
    spent,
  };
}

function missingOf({ case: { expected } }: Trial, tools: readonly string[]): string[] {
  const missing = toolSets(expected).map((set) => set.filter((name) => !tools.includes(name)));
  return missing.reduce((best, one) => (one.length < best.length ? one : best));
}

/** Without an answer nothing is there: no tool, no step, and no right abstention either. */
function judge({ set, trial, reply }: Measured, tools: readonly string[]): Pick<Outcome, 'scores' | 'plan'> {
  const { expected, ignoreCase } = trial.case;
  const isAnswered = reply.kind === 'answered';
  if (expected.tools.length === 0) return { scores: { abstention: Number(isAnswered && reply.abstained) } };
  const chosen = scoreTools(expected, tools);
  if (set.judged !== 'plan') return { scores: pick(chosen) };
  const got = (isAnswered && reply.steps) || [];
  const { scores, fault } = scorePlan(expected, got, {
    ignoreCase,
    defaultOf: defaultsIn(new Map(trial.tools.map((tool) => [tool.name, tool]))),
  });
  return {
    scores: pick({ ...chosen, ...scores, valid: Number(got.length > 0), planExact: Number(fault === undefined) }),
    plan: { expected: expected.steps, got, fault },
  };
}

function scoreTools(
  expected: CaseRecord['expected'],
  names: readonly string[],
): Readonly<Record<string, number | null>> {
  const tools = names.map((name) => ({ name, via: 'model' as const }));
  const selection = { mode: 'selected' as const, reason: '', tools, dropped: [], leftOut: 0 };
  return scoreSelection(expected, selection);
}

function pick(scores: Readonly<Record<string, number | null>>): Outcome['scores'] {
  return Object.fromEntries(
    METRIC_NAMES.flatMap((name): [MetricName, number][] => {
      const score = scores[name];
      return score === null || score === undefined ? [] : [[name, score]];
    }),
  );
}
