/**
 * Scores of a plan. F1 is 2 · hits / (expected + got) over a case, then averaged over cases, as in NESTFUL (Basu et al., 2024).
 */
import { isObject } from '../core/catalog/schema/json.js';
import { fillDefaults } from '../core/catalog/schema/paths.js';
import type { Tool } from '../core/catalog/tool.js';
import { oncePer } from '../core/kept.js';
import type { Step } from '../core/result.js';
import {
  type ComparedArgument,
  type ComparedPlan,
  type ComparedStep,
  type CompareOptions,
  compareSteps,
  matchSteps,
} from './compare-steps.js';
import type { CaseRecord, PlanComparison } from './record.js';
import { type PlanVariant, planVariants } from './variants.js';

/** Each null where it does not apply to the case. */
interface PlanScores {
  /** Tools of the steps as a multiset (node F1 of NESTFUL and of TaskBench, Shen et al., NeurIPS 2024). */
  nodeF1: number;
  /** Dependencies between matched steps (link F1 of TaskBench). Null where neither side has any, or none are known. */
  edgeF1: number | null;
  /**
   * Names of matched steps' arguments with a right value (F1 param. of NESTFUL); accepted values as in BFCL's AST check.
   * Omitted optional arguments count neither way.
   */
  argumentValueF1: number | null;
}

interface PlanVerdict {
  readonly scores: PlanScores;
  /** The gravest fault; undefined for an exact plan. */
  readonly fault: PlanFault | undefined;
  /** The comparison with the best variant. */
  readonly comparison: PlanComparison;
}

const PLAN_FAULTS = [
  'wrong-tool',
  'missing-step',
  'extra-step',
  'wrong-reference',
  'missing-argument',
  'wrong-argument',
  'extra-argument',
  'missing-edge',
  'wrong-order',
] as const;
export type PlanFault = (typeof PLAN_FAULTS)[number];

/** Judges against the best-fitting variant; the expected steps win a tie. */
export function scorePlan(
  expected: CaseRecord['expected'],
  steps: readonly Step[],
  options: CompareOptions,
): PlanVerdict {
  const [best] = planVariants(expected)
    .map((variant) => scoreVariant({ ...options, variant, steps, gotOf: matchSteps(variant, steps, options) }))
    .sort((one, other) => other.fit - one.fit);
  if (!best) throw new RangeError('A case has at least one variant.');
  return best.verdict;
}

function scoreVariant(context: ComparedPlan): { verdict: PlanVerdict; fit: number } {
  const { variant, steps, gotOf } = context;
  const compared = compareSteps(context);
  const { wanted, named, right, extra, areReferencesRight } = countArguments(compared);
  const edges = countEdges(context);
  const order = orderOf(context);
  const [missingSteps, extraSteps] = [variant.steps.length - gotOf.size, steps.length - gotOf.size];
  const faults: Record<PlanFault, boolean> = {
    'wrong-tool': extraSteps > 0 && missingSteps > 0,
    'missing-step': missingSteps > 0,
    'extra-step': extraSteps > 0,
    'wrong-reference': !areReferencesRight,
    'missing-argument': named < wanted,
    'wrong-argument': right < named,
    'extra-argument': extra > 0,
    'missing-edge': edges !== undefined && edges.hits < edges.expected,
    'wrong-order': order < 1,
  };
  const fault = PLAN_FAULTS.find((one) => faults[one]);
  const isJudged = variant.steps.length > 0 && variant.steps.every((step) => !step.argumentsUnknown);
  const scores = {
    nodeF1: f1(gotOf.size, variant.steps.length, steps.length),
    edgeF1: edges && edges.expected + edges.got > 0 ? f1(edges.hits, edges.expected, edges.got) : null,
    argumentValueF1: isJudged ? f1(right, wanted, named + extra) : null,
  };
  const fit = (fault ? 0 : 4) + scores.nodeF1 * 2 + (scores.argumentValueF1 ?? 0) + order / 2;
  return { verdict: { scores, fault, comparison: toComparison(compared, variant) }, fit };
}

function f1(hits: number, expected: number, got: number): number {
  return expected + got === 0 ? 1 : (2 * hits) / (expected + got);
}

function toComparison(compared: readonly ComparedStep[], { alternative }: PlanVariant): PlanComparison {
  const steps = compared.map(({ arguments: list, ...places }) => ({
    ...places,
    arguments: Object.fromEntries(list.map(({ name, verdict }) => [name, verdict])),
  }));
  return { ...(alternative === undefined ? {} : { alternative }), steps };
}

function countArguments(compared: readonly ComparedStep[]) {
  const all = compared.flatMap((step) => step.arguments);
  // Omitted optional arguments count neither way.
  const wanted = all.filter(({ isWanted, verdict }) => isWanted && verdict !== 'optional');
  const isRightOne = ({ verdict }: ComparedArgument) => !['missing', 'different'].includes(verdict);
  return {
    wanted: wanted.length,
    named: wanted.filter(({ verdict }) => verdict !== 'missing').length,
    right: wanted.filter(isRightOne).length,
    extra: all.filter(({ verdict }) => verdict === 'extra').length,
    areReferencesRight: wanted.filter(({ isReference }) => isReference).every(isRightOne),
  };
}

/** `dependsOn` holds both references and other dependencies. */
function countEdges({ variant: { edges }, steps, gotOf }: ComparedPlan) {
  if (!edges) return undefined;
  const placeOf = (id: string) => steps.findIndex((step) => step.id === id);
  const got = new Set(steps.flatMap((step, to) => step.dependsOn.map((id) => `${placeOf(id)}-${to}`)));
  const hits = edges.filter(([from, to]) => got.has(`${gotOf.get(from)}-${gotOf.get(to)}`)).length;
  return { hits, expected: edges.length, got: got.size };
}

/**
 * Share of concordant pairs (Kendall, 1938) among the matched steps that the case orders: pairs with a path of edges between
 * them, or all pairs where edges are not known.
 */
function orderOf({ variant: { steps, edges, isOrdered }, gotOf }: ComparedPlan): number {
  const after = steps.map((_, place) => new Set(edges?.filter(([from]) => from === place).map(([, to]) => to)));
  for (const set of after) {
    // The set grows during the loop.
    for (const next of set) for (const one of after[next] ?? []) set.add(one);
  }
  const isBefore = (from: number, to: number) => (edges ? after[from]?.has(to) : isOrdered && from < to);
  const pairs = [...gotOf].flatMap(([from, gotFrom]) =>
    [...gotOf].filter(([to]) => from !== to && isBefore(from, to)).map(([, gotTo]) => gotFrom < gotTo),
  );
  return pairs.length === 0 ? 1 : pairs.filter(Boolean).length / pairs.length;
}

const defaultsOf = oncePer((tool: Tool): Record<string, unknown> => {
  const filled = fillDefaults(tool.inputSchema, {});
  return isObject(filled) ? filled : {};
});

/** Schema defaults of top-level arguments; undefined where tool or default is not known. */
export function defaultsIn(tools: ReadonlyMap<string, Tool>): (tool: string, argument: string) => unknown {
  return (name, argument) => {
    const tool = tools.get(name);
    const values = tool ? defaultsOf(tool) : {};
    return Object.hasOwn(values, argument) ? values[argument] : undefined;
  };
}
