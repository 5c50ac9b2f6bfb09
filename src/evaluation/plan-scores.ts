/**
 * How good a plan is, as numbers between 0 and 1, each null where it does not apply to the case. F1 is
 * 2 · hits / (expected + got) over a case, then averaged over cases, as in NESTFUL (Basu et al., 2024).
 */
import type { Step } from '../result.js';
import { judgeArgument, type Matching, matchSteps, type ValueContext } from './match-steps.js';
import type { CaseRecord } from './record.js';
import { isSameValue, type ValueOptions } from './values.js';
import { type PlanVariant, planVariants } from './variants.js';

export interface PlanScores {
  /** Tools of the steps as a multiset (node F1 of NESTFUL and of TaskBench, Shen et al., NeurIPS 2024). */
  nodeF1: number | null;
  /** Dependencies between matched steps (link F1 of TaskBench). Null where neither side has any, or none are known. */
  edgeF1: number | null;
  /**
   * Of the pairs of matched steps that the case puts in order, the share that the plan has in that order: concordant
   * pairs (Kendall, 1938; for ordering tasks Lapata, 2006). Ordered are steps with a path of edges between them; where
   * edges are not known, all pairs.
   */
  order: number | null;
  /** Names of the arguments of matched steps (F1 param. of NESTFUL). Arguments that may be left out count neither way. */
  argumentNameF1: number | null;
  /** The same, where a name counts only with a right value; accepted values as in BFCL's AST check. */
  argumentValueF1: number | null;
  /** Share of the expected references that point to the right step and field. */
  references: number | null;
  /** All steps and no other, every argument right, every expected dependency there, in order. */
  planExact: number | null;
}

export interface PlanVerdict {
  readonly scores: PlanScores;
  /** What is wrong, the gravest first; undefined for an exact plan. */
  readonly fault: PlanFault | undefined;
}

export const PLAN_FAULTS = [
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

export interface PlanScoreOptions extends ValueOptions {
  /**
   * The value that a tool takes for an argument that is left out; undefined where its schema has none. Such an argument
   * is as good left out as written down, on either side.
   */
  defaultOf?: ((tool: string, argument: string) => unknown) | undefined;
}

/** Judged against the variant that fits best; the expected steps win a draw. */
export function scorePlan(
  expected: CaseRecord['expected'],
  steps: readonly Step[],
  options: PlanScoreOptions,
): PlanVerdict {
  const verdicts = planVariants(expected).map((variant) => scoreVariant(variant, steps, options));
  const value = ({ scores }: PlanVerdict) =>
    (scores.planExact ?? 0) * 4 + (scores.nodeF1 ?? 0) * 2 + (scores.argumentValueF1 ?? 0) + (scores.order ?? 0) / 2;
  return verdicts.reduce((best, verdict) => (value(verdict) > value(best) ? verdict : best));
}

function scoreVariant(variant: PlanVariant, steps: readonly Step[], options: PlanScoreOptions): PlanVerdict {
  const matching = matchSteps(variant, steps, options);
  const tally = countArguments(variant, steps, { ...options, variant, steps, matching });
  const edges = countEdges(variant, steps, matching);
  const order = orderOf(variant, matching);
  const areKnown = variant.steps.every((step) => !step.argumentsUnknown);
  const extra = steps.length - matching.gotOf.size;
  const missing = variant.steps.length - matching.gotOf.size;
  const faults: Record<PlanFault, boolean> = {
    'wrong-tool': extra > 0 && missing > 0,
    'missing-step': missing > 0,
    'extra-step': extra > 0,
    'wrong-reference': tally.references > tally.rightReferences,
    'missing-argument': tally.missing > 0,
    'wrong-argument': tally.named > tally.right,
    'extra-argument': tally.extra > 0,
    'missing-edge': edges !== undefined && edges.hits < edges.expected,
    'wrong-order': order !== null && order < 1,
  };
  const fault = PLAN_FAULTS.find((one) => faults[one]);
  const isJudged = areKnown && variant.steps.length > 0;
  const scores = {
    nodeF1: f1(matching.gotOf.size, variant.steps.length, steps.length),
    edgeF1: edges && edges.expected + edges.got > 0 ? f1(edges.hits, edges.expected, edges.got) : null,
    order,
    argumentNameF1: isJudged ? f1(tally.named, tally.expected, tally.named + tally.extra) : null,
    argumentValueF1: isJudged ? f1(tally.right, tally.expected, tally.named + tally.extra) : null,
    references: tally.references > 0 ? tally.rightReferences / tally.references : null,
    planExact: fault === undefined ? 1 : 0,
  };
  return { scores, fault };
}

interface ArgumentTally {
  /** Arguments of the expected steps, also of those that the plan lacks. */
  expected: number;
  /** Of these, named by the matched step; and right. */
  named: number;
  right: number;
  missing: number;
  /** Neither expected nor allowed. */
  extra: number;
  references: number;
  rightReferences: number;
}

function countArguments(
  variant: PlanVariant,
  steps: readonly Step[],
  context: ValueContext & PlanScoreOptions,
): ArgumentTally {
  const tally = { expected: 0, named: 0, right: 0, missing: 0, extra: 0, references: 0, rightReferences: 0 };
  const matched = new Set(context.matching.gotOf.values());
  for (const [place, expected] of variant.steps.entries()) {
    if (expected.argumentsUnknown) continue;
    const isThere = context.matching.gotOf.has(place);
    const got = steps[context.matching.gotOf.get(place) ?? -1]?.arguments ?? {};
    for (const name of Object.keys(expected.arguments)) {
      const isWritten = Object.hasOwn(got, name);
      const mayBeLeftOut = expected.argumentsAnyOf[name]?.includes('') ?? false;
      // What may be left out, and is, counts neither way.
      if (isThere && !isWritten && mayBeLeftOut) continue;
      const value = isWritten || !isThere ? got[name] : context.defaultOf?.(expected.tool, name);
      const { right, isReference } = judgeArgument({ name, got: value }, expected, context);
      const isRight = value !== undefined && right;
      const isNamed = isWritten || isRight;
      tally.expected += 1;
      tally.named += Number(isNamed);
      tally.right += Number(isRight);
      tally.missing += Number(isThere && !isNamed);
      tally.references += Number(isReference);
      tally.rightReferences += Number(isReference && isRight);
    }
    for (const [name, value] of Object.entries(got)) {
      if (Object.hasOwn(expected.arguments, name) || isDefault(expected.tool, [name, value], context)) continue;
      const isAllowed = judgeArgument({ name, got: value }, expected, context).right;
      tally.extra += Number(!isAllowed);
    }
  }
  for (const [place, step] of steps.entries()) {
    if (matched.has(place)) continue;
    tally.extra += Object.entries(step.arguments).filter((one) => !isDefault(step.tool, one, context)).length;
  }
  return tally;
}

function isDefault(tool: string, [name, value]: readonly [string, unknown], options: PlanScoreOptions): boolean {
  const given = options.defaultOf?.(tool, name);
  return given !== undefined && isSameValue(given, value, options);
}

/** `dependsOn` holds both the references and what the plan waits for besides. */
function countEdges({ edges }: PlanVariant, steps: readonly Step[], { gotOf }: Matching) {
  if (!edges) return undefined;
  const got = new Set(
    steps.flatMap((step, to) => step.dependsOn.map((id) => `${steps.findIndex((other) => other.id === id)}-${to}`)),
  );
  const hits = edges.filter(([from, to]) => got.has(`${gotOf.get(from)}-${gotOf.get(to)}`)).length;
  return { hits, expected: edges.length, got: got.size };
}

function orderOf({ steps, edges, isOrdered }: PlanVariant, { gotOf }: Matching): number | null {
  const isBefore = edges ? reachability(steps.length, edges) : (from: number, to: number) => isOrdered && from < to;
  let pairs = 0;
  let inOrder = 0;
  for (const [from, gotFrom] of gotOf) {
    for (const [to, gotTo] of gotOf) {
      if (from === to || !isBefore(from, to)) continue;
      pairs += 1;
      inOrder += Number(gotFrom < gotTo);
    }
  }
  return pairs === 0 ? null : inOrder / pairs;
}

/** Whether a path of edges leads from one step to another. */
function reachability(count: number, edges: readonly (readonly [number, number])[]) {
  const after = Array.from({ length: count }, () => new Set<number>());
  for (let round = 0; round < count; round++) {
    for (const [from, to] of edges) {
      after[from]?.add(to);
      for (const next of after[to] ?? []) after[from]?.add(next);
    }
  }
  return (from: number, to: number) => after[from]?.has(to) ?? false;
}

function f1(hits: number, expected: number, got: number): number {
  return expected + got === 0 ? 1 : (2 * hits) / (expected + got);
}
