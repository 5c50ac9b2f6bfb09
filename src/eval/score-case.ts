/** All scores of one case, whether it is right as a whole, and the cause in one word if not. */
import type { Selection } from '../core/result.js';
import type { CompareOptions } from './compare-steps.js';
import { type PlanFault, scorePlan } from './plan-scores.js';
import type { CaseRecord } from './record.js';
import { type Scores, scoreSelection } from './selection-scores.js';
import { toolSets } from './variants.js';

export type Result = NonNullable<CaseRecord['result']>;

export interface Outcome extends CompareOptions {
  expected: CaseRecord['expected'];
  /** Absent for planning alone. */
  selection: Selection | undefined;
  /** Absent for selection alone. */
  result: Result | undefined;
  schemaTokens: CaseRecord['usage']['schemaTokens'];
  /** Whether the caller sees the tool. */
  isVisible: (name: string) => boolean;
  /** Whether the model saw the tool; undefined where it saw all. */
  wasShown?: ((name: string) => boolean) | undefined;
}

/** No comparison where no plan is judged. `schemaTokensSaved`: 1 - schema tokens of the selected tools / schema tokens of all visible tools. */
export function scoreCase(outcome: Outcome) {
  const { expected, selection, result, schemaTokens } = outcome;
  const plan = result ? scoreResult(outcome, result) : undefined;
  const right = plan ? plan.right : selectionRight(expected, selection);
  const cause = right === 1 || right === null ? undefined : (causeOf(outcome) ?? plan?.cause ?? 'wrong-tools');
  const scores: Scores = {
    right,
    ...(selection ? scoreSelection(expected, selection) : {}),
    ...plan?.scores,
    schemaTokensSaved: schemaTokens.all > 0 ? 1 - schemaTokens.loaded / schemaTokens.all : null,
  };
  return { scores, cause, comparison: plan?.comparison };
}

/** Selection alone is right when it passes on all needed tools, or picks none where none is needed. */
function selectionRight(expected: Outcome['expected'], selection: Selection | undefined): number | null {
  if (!selection) return null;
  const { allNeeded = null, abstention = null } = scoreSelection(expected, selection);
  return allNeeded ?? abstention;
}

/** The expected kind. Default: a plan, or none where no tool fits. */
export function expectedKind({ kind, tools }: Outcome['expected']): NonNullable<Outcome['expected']['kind']> {
  return kind ?? (tools.length > 0 ? 'plan' : 'unplannable');
}

/**
 * - `valid`: the model's answer was usable, at the latest after one repair.
 * - `kind`: the result is of the expected kind: a plan, a question or a refusal.
 */
function scoreResult({ expected, ...options }: Outcome, result: Result) {
  const wanted = expectedKind(expected);
  const plan = wanted === 'plan' ? scorePlan(expected, result.steps ?? [], options) : undefined;
  const isKind = result.kind === wanted;
  const none = { nodeF1: null, edgeF1: null, argumentValueF1: null };
  return {
    scores: { valid: Number(result.kind !== 'plan_invalid'), kind: Number(isKind), ...(plan?.scores ?? none) },
    right: Number(isKind && plan?.fault === undefined),
    cause: resultCause(wanted, result.kind, plan?.fault),
    comparison: plan?.comparison,
  };
}

function resultCause(wanted: string, got: Result['kind'], fault: PlanFault | undefined): string | undefined {
  if (got === wanted) return fault;
  if (got === 'plan_invalid') return 'plan-invalid';
  if (got === 'plan') return wanted === 'unplannable' ? 'planned-anyway' : 'did-not-ask';
  return got === 'clarification' ? 'asked-back' : 'gave-up';
}

/** The fault of selection, if any. A missing needed tool also explains a wrong plan. */
function causeOf({ expected, selection, result, isVisible, wasShown }: Outcome): string | undefined {
  if (!selection || selection.mode === 'passthrough') return undefined;
  if (expected.tools.length === 0) return result ? undefined : 'should-abstain';
  const names = new Set(selection.tools.map((tool) => tool.name));
  if (toolSets(expected).some((set) => set.every((name) => names.has(name)))) return undefined;
  const missing = expected.tools.filter((name) => !names.has(name));
  if (missing.some((name) => !isVisible(name))) return 'not-in-catalogue';
  if (selection.mode === 'none') return 'abstained';
  if (selection.mode === 'fallback') return 'fallback';
  const dropped = new Map(selection.dropped.map(({ name, reason }) => [name, reason]));
  if (missing.some((name) => ['cap', 'schemaTokens'].includes(dropped.get(name) ?? ''))) return 'cap';
  if (wasShown && missing.some((name) => !wasShown(name))) return 'not-shown';
  return 'not-ranked';
}
