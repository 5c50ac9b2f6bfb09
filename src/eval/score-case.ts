/** All scores of one case, whether it is right as a whole, and in one word why not. */
import type { Selection } from '../core/result.js';
import type { CompareOptions } from './compare-steps.js';
import { type PlanFault, scorePlan } from './plan-scores.js';
import type { CaseRecord } from './record.js';
import { type Scores, scoreSelection } from './selection-scores.js';
import { toolSets } from './variants.js';

export type Result = NonNullable<CaseRecord['result']>;

export interface Outcome extends CompareOptions {
  expected: CaseRecord['expected'];
  /** Absent where planning was judged alone. */
  selection: Selection | undefined;
  /** Absent where only selection was asked for. */
  result: Result | undefined;
  schemaTokens: CaseRecord['usage']['schemaTokens'];
  /** Tools that the caller sees. */
  isVisible: (name: string) => boolean;
  /** Tools that the model was shown; undefined where it saw all. */
  wasShown?: ((name: string) => boolean) | undefined;
}

/** No comparison where no plan was to be judged. `schemaTokensSaved`: 1 - tokens of the schemas of the tools handed on / tokens of those of all visible tools. */
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

/** Selection alone is right when all needed tools are handed on; where none is, when none was picked. */
function selectionRight(expected: Outcome['expected'], selection: Selection | undefined): number | null {
  if (!selection) return null;
  const { allNeeded = null, abstention = null } = scoreSelection(expected, selection);
  return allNeeded ?? abstention;
}

/** What a case wants where it does not say: a plan, or none where no tool fits. */
export function expectedKind({ kind, tools }: Outcome['expected']): NonNullable<Outcome['expected']['kind']> {
  return kind ?? (tools.length > 0 ? 'plan' : 'unplannable');
}

/**
 * - `valid`: the answer of the model was usable, at the latest after one repair.
 * - `kind`: a plan where one was wanted, a question where one was, a refusal where one was.
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

/** What selection got wrong; undefined where it did not. A needed tool that is missing is why the plan is wrong, too. */
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
