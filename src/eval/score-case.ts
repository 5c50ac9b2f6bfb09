/** All scores of one case, whether it is right as a whole, and in one word why not. */
import type { Selection } from '../core/result.js';
import { type PlanFault, scorePlan } from './plan-scores.js';
import type { CaseRecord, PlanComparison } from './record.js';
import { isAbstention, type Scores, scoreConduct, scoreSelection } from './selection-scores.js';
import { toolSets } from './variants.js';

export type Result = NonNullable<CaseRecord['result']>;

export interface Outcome {
  expected: CaseRecord['expected'];
  ignoreCase: boolean;
  /** What a tool takes for an argument that is left out. */
  defaultOf: (tool: string, argument: string) => unknown;
  /** Absent where planning was judged alone. */
  selection: Selection | undefined;
  selectionRepaired: boolean;
  /** Absent where only selection was asked for. */
  result: Result | undefined;
  usage: CaseRecord['usage'];
  /** Of a tool of the catalogue. */
  schemaTokens: (name: string) => number;
  /** Tools that the caller sees. */
  isVisible: (name: string) => boolean;
  /** Tools that the model was shown; undefined where it saw all. */
  wasShown?: ((name: string) => boolean) | undefined;
}

export interface Verdict {
  scores: Scores;
  cause: string | undefined;
  /** Undefined where no plan was to be judged. */
  comparison: PlanComparison | undefined;
}

export function scoreCase(outcome: Outcome): Verdict {
  const { expected, selection, result, schemaTokens } = outcome;
  const plan = result ? scoreResult(outcome, result) : undefined;
  const selectionScores = selection
    ? {
        ...scoreSelection(expected, selection, schemaTokens),
        ...scoreConduct(expected, selection, outcome.selectionRepaired),
      }
    : {};
  const right = plan ? plan.right : selectionRight(expected, selection);
  const cause = right === 1 || right === null ? undefined : (causeOf(outcome) ?? plan?.cause ?? 'wrong-tools');
  return {
    scores: { right, ...selectionScores, ...plan?.scores, ...savedTokens(outcome) },
    cause,
    comparison: plan?.comparison,
  };
}

/**
 * `schemaTokensSaved`: 1 - tokens of the schemas of the tools handed on / tokens of those of all visible tools. Our own;
 * null where no tool is visible.
 */
function savedTokens({ usage: { schemaTokens } }: Outcome): Scores {
  return { schemaTokensSaved: schemaTokens.all > 0 ? 1 - schemaTokens.loaded / schemaTokens.all : null };
}

/** Selection alone is right when all needed tools are handed on; where none is, when none was picked. */
function selectionRight(expected: Outcome['expected'], selection: Selection | undefined): number | null {
  if (!selection) return null;
  if (expected.tools.length > 0) {
    const names = new Set(selection.tools.map((tool) => tool.name));
    return Number(toolSets(expected).some((set) => set.every((name) => names.has(name))));
  }
  const wasSkipped = selection.mode === 'passthrough';
  if (expected.kind === 'clarification' || wasSkipped) return null;
  return Number(isAbstention(selection));
}

/** What a case wants where it does not say: a plan, or none where no tool fits. */
export function expectedKind({
  kind,
  tools,
}: Pick<Outcome['expected'], 'kind' | 'tools'>): NonNullable<Outcome['expected']['kind']> {
  return kind ?? (tools.length > 0 ? 'plan' : 'unplannable');
}

interface ResultVerdict extends Verdict {
  right: number;
}

/**
 * - `validFirst`: the first answer of the model was usable; `valid`: it was, at the latest after one repair.
 * - `kind`: a plan where one was wanted, a question where one was, a refusal where one was.
 * - `unplannableRight`, `clarificationRight`: of the cases that want it, those that got it; `...Wrong`: of the cases
 *   that want a plan, those that got a refusal or a question in its place.
 */
function scoreResult({ expected, ...options }: Outcome, result: Result): ResultVerdict {
  const wanted = expectedKind(expected);
  const isWanted = (kind: string) => wanted === kind;
  const isGot = (kind: string) => Number(result.kind === kind);
  const plan = isWanted('plan') ? scorePlan(expected, result.steps ?? [], options) : undefined;
  const scores: Scores = {
    valid: 1 - isGot('plan_invalid'),
    validFirst: Number(result.kind !== 'plan_invalid' && !result.repaired),
    planRepaired: Number(result.repaired ?? false),
    kind: isGot(wanted),
    unplannableRight: isWanted('unplannable') ? isGot('unplannable') : null,
    unplannableWrong: isWanted('plan') ? isGot('unplannable') : null,
    clarificationRight: isWanted('clarification') ? isGot('clarification') : null,
    clarificationWrong: isWanted('plan') ? isGot('clarification') : null,
    ...(plan?.scores ?? NO_PLAN_SCORES),
    planExact: plan && expected.steps ? plan.scores.planExact : null,
  };
  const right = result.kind === wanted && (plan?.fault === undefined || !isWanted('plan')) ? 1 : 0;
  return { scores, right, cause: resultCause(wanted, result.kind, plan?.fault), comparison: plan?.comparison };
}

const NO_PLAN_SCORES = {
  nodeF1: null,
  edgeF1: null,
  order: null,
  argumentNameF1: null,
  argumentValueF1: null,
  references: null,
};

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
