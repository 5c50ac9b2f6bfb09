/**
 * How good a plan is, as numbers between 0 and 1, each null where it does not apply to the case. F1 is
 * 2 · hits / (expected + got) over a case, then averaged over cases, as in NESTFUL (Basu et al., 2024).
 */
import type { Step } from '../core/result.js';
import { type ComparedArgument, type ComparedStep, type CompareOptions, compareSteps } from './compare-steps.js';
import { type Matching, matchSteps } from './match-steps.js';
import type { ArgumentVerdict, CaseRecord, PlanComparison } from './record.js';
import { isSameValue } from './values.js';
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
  /** With the variant that the plan was judged against. */
  readonly comparison: PlanComparison;
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

/** Judged against the variant that fits best; the expected steps win a draw. */
export function scorePlan(
  expected: CaseRecord['expected'],
  steps: readonly Step[],
  options: CompareOptions,
): PlanVerdict {
  const verdicts = planVariants(expected).map((variant) => scoreVariant(variant, steps, options));
  const value = ({ scores }: PlanVerdict) =>
    (scores.planExact ?? 0) * 4 + (scores.nodeF1 ?? 0) * 2 + (scores.argumentValueF1 ?? 0) + (scores.order ?? 0) / 2;
  return verdicts.reduce((best, verdict) => (value(verdict) > value(best) ? verdict : best));
}

function scoreVariant(variant: PlanVariant, steps: readonly Step[], options: CompareOptions): PlanVerdict {
  const matching = matchSteps(variant, steps, options);
  const compared = compareSteps({ ...options, variant, steps, matching });
  const tally = countArguments(compared);
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
  return { scores, fault, comparison: toComparison(compared, variant) };
}

function toComparison(compared: readonly ComparedStep[], { alternative }: PlanVariant): PlanComparison {
  const steps = compared.map(({ arguments: list, ...places }) => ({
    ...places,
    arguments: Object.fromEntries(list.map(({ name, verdict }) => [name, verdict])),
  }));
  return { ...(alternative === undefined ? {} : { alternative }), steps };
}

const RIGHT = ['same', 'form', 'accepted', 'default'] as const;

interface ArgumentTally {
  /** Arguments of the expected steps, also of those that the plan lacks. */
  expected: number;
  /** Of these, named by the matched step, or at the default of its tool; and right. */
  named: number;
  right: number;
  missing: number;
  /** Neither expected nor allowed. */
  extra: number;
  references: number;
  rightReferences: number;
}

function countArguments(compared: readonly ComparedStep[]): ArgumentTally {
  const all = compared.flatMap((step) => step.arguments);
  // What may be left out, and is, counts neither way.
  const wanted = all.filter(({ isWanted, verdict }) => isWanted && verdict !== 'optional');
  const count = (list: readonly ComparedArgument[], ...verdicts: readonly ArgumentVerdict[]) =>
    list.filter(({ verdict }) => verdicts.includes(verdict)).length;
  const references = wanted.filter(({ isReference }) => isReference);
  const missing = count(wanted, 'missing');
  return {
    expected: wanted.length,
    named: wanted.length - missing,
    right: count(wanted, ...RIGHT),
    missing,
    extra: count(all, 'extra'),
    references: references.length,
    rightReferences: count(references, ...RIGHT),
  };
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

/**
 * The excluded values that an argument holds, as a value of its own or as one of several in a text with commas. Free text
 * that merely mentions one does not count.
 */
export function touchedValues(steps: readonly Pick<Step, 'arguments'>[], excluded: readonly string[]): string[] {
  const held = steps.flatMap((step) => scalarsIn(step.arguments));
  return excluded.filter((value) => held.some((one) => isSameValue(value, one, { ignoreCase: true })));
}

function scalarsIn(value: unknown): unknown[] {
  if (typeof value === 'object' && value !== null) return Object.values(value).flatMap(scalarsIn);
  return typeof value === 'string' ? [value, ...value.split(/[,;，；、]/u)] : [value];
}
