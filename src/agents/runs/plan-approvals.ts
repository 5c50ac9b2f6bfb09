/**
 * The approval of a plan as a whole. The approver sees every step. The grant covers, once, the steps whose arguments
 * are all known. A step that uses a result requests its own approval when the value is known, since it can't be shown
 * before. The grant is bound to the plan's hash, its inputs, the session, the policy, and the definition of each tool.
 */
import { RISKS } from '../../core/catalog/tool.js';
import { WinnowError } from '../../core/errors.js';
import { runInSlices } from '../../core/in-slices.js';
import type { ApprovalRequest, Approvals } from '../approvals/approvals.js';
import type { Digest } from '../approvals/canonical-json.js';
import { sourcesOf } from '../argument-sources.js';
import type { Asked, CallGate } from '../calls/call-gate.js';
import { destinationOf, planDefinitionOf } from '../calls/definition.js';
import type { Caller } from '../contracts.js';
import type { Ledger } from '../ledger.js';
import { refusalOf } from '../policy/decide.js';
import type { ApprovalOutput, ApprovedPlan } from '../records.js';
import { MOST_ARGUMENT_BYTES } from '../sandbox/prepare-arguments.js';
import type { ReadSituation, Situation } from '../sessions/situation.js';
import { createMasking, secretsAmong } from './mask-secrets.js';
import type { ParsedPlan, ParsedStep } from './plan-run.js';
import { type ResolvedStep, resolveAhead } from './resolve-arguments.js';
import { rootsOf } from './step-order.js';

interface AskOptions {
  readonly caller?: Caller | undefined;
}

export interface AskedPlan {
  readonly name: string;
  /** Hash of the kept plan. */
  readonly hash: string;
  /** The plan with the inputs of the run. */
  readonly plan: ParsedPlan;
}

interface PlanApprovalParts {
  situationOf: ReadSituation;
  gate: Pick<CallGate, 'look'>;
  approvals: Pick<Approvals, 'pass' | 'ask' | 'giveBack'>;
  digest: () => Promise<Digest>;
  ledger: Pick<Ledger, 'writeAsking'>;
}

type Step = ApprovedPlan['steps'][number];
type Refused = Extract<ApprovalOutput, { ok: false }>;
/** A plan as asked for, and as its approver sees it: without secrets. */
interface Looked extends AskedPlan {
  readonly hidden: ParsedPlan;
  /** Masks the plan's secrets in a text. */
  readonly mask: (text: string) => string;
}
/** A step, and as written in the plan, without secrets. */
interface Written {
  readonly known: ResolvedStep;
  readonly written: ParsedStep;
}
/** A step as shown to the approver, or its refusal. */
type Shown = { ok: true; step: Step; needsApproval: boolean } | { ok: false; refused: Asked & { result: Refused } };

export type PlanApprovals = ReturnType<typeof createPlanApprovals>;

/** Each method throws WinnowError `not_found` for an unknown session, `store_failed`. */
export function createPlanApprovals(parts: PlanApprovalParts) {
  const { situationOf, gate, approvals, digest, ledger } = parts;
  return {
    /** Requests approval before a run, or finds the pending request for it. @param reason why it is wanted */
    async ask(
      session: string,
      asked: AskedPlan,
      { caller, reason }: AskOptions & { reason?: string | undefined } = {},
    ): Promise<ApprovalOutput> {
      const situation = await situationOf(session, caller);
      const plan = withoutSecrets(asked, situation);
      const shown = await showSteps(situation, plan);
      if (!Array.isArray(shown)) {
        await ledger.writeAsking(situation, shown.refused);
        return shown.refused.result;
      }
      if (!shown.some(({ step, needsApproval }) => needsApproval && step.argumentsHash !== undefined))
        return NOT_NEEDED;
      return approvals.ask(await requestFor(situation, plan, { steps: stepsOf(shown), reason }));
    },

    /** Uses a grant for one run of this plan. @throws WinnowError `conflict` if it is for another plan, or not granted */
    async use(session: string, asked: AskedPlan, id: string, { caller }: AskOptions = {}): Promise<void> {
      const situation = await situationOf(session, caller);
      const plan = withoutSecrets(asked, situation);
      const shown = await showSteps(situation, plan);
      const passed = Array.isArray(shown)
        ? await approvals.pass(await requestFor(situation, plan, { steps: stepsOf(shown) }), id)
        : shown.refused.result;
      if (!passed.ok) throw new WinnowError('conflict', `approval: ${passed.code}: ${passed.reason} ${passed.next}`);
    },

    /** Undoes a use whose run has not begun. */
    giveBack: approvals.giveBack,
  };

  /** All steps, or the refusal of the first that could not run. */
  async function showSteps(situation: Situation, { plan, hidden }: Looked) {
    const shown = [];
    // As much as one call may have is more than an approver reads; the steps beyond it are shown as written.
    const ahead = await runInSlices(resolveAhead(plan, MOST_ARGUMENT_BYTES));
    for (const [at, known] of ahead.entries()) {
      const one = await showStep(situation, plan, { known, written: hidden.steps[at] ?? known.step });
      if (!one.ok) return one;
      shown.push(one);
    }
    return shown;
  }

  async function showStep(situation: Situation, plan: ParsedPlan, { known, written }: Written): Promise<Shown> {
    const { step } = known;
    const { id, tool: name, purpose, dependsOn, each, when } = written;
    const isWhole = each === undefined && known.unresolved.length === 0 && known.issues.length === 0;
    const looked = await gate.look(situation, { tool: name, arguments: known.arguments, sources: known.sources });
    const { tool, prepared, argumentsHash } = looked;
    // With unknown arguments, the only question is whether the tool may be called at all.
    const decision = isWhole ? looked.decision : situation.decide(tool, 'find');
    const end = (result: Refused): Shown => ({ ok: false, refused: { ...looked, decision, result } });
    if (decision.decision === 'deny' || !tool || !prepared) return end({ ...refusalOf(decision, name), ok: false });
    if (isWhole && !prepared.ok) return end({ ...prepared, issues: prepared.issues && [...prepared.issues] });
    const given = isWhole
      ? { arguments: { ...Object(looked.shown) }, sources: looked.sources, argumentsHash, risk: decision.risk }
      : { arguments: written.arguments, sources: sourcesOf(step, rootsOf(plan, step)), risk: tool.risk };
    const shown = { id, tool: name, purpose, dependsOn, each, when, where: destinationOf(tool), ...given };
    return { ok: true, step: shown, needsApproval: decision.decision === 'needs_approval' };
  }

  async function requestFor(
    situation: Situation,
    { name, hash, hidden: { goal, inputs = {} }, mask }: Looked,
    { steps, reason }: { steps: readonly Step[]; reason?: string | undefined },
  ): Promise<ApprovalRequest> {
    const { session } = situation;
    const values = Object.entries(inputs).map(([input, { value }]) => [input, value]);
    const shown = { arguments: Object.fromEntries(values), plan: { name, hash, goal, steps: [...steps] } };
    const risk = RISKS.findLast((one) => steps.some((step) => step.risk === one)) ?? 'high';
    return {
      ...shown,
      session: session.id,
      user: session.user,
      tool: `plan ${name}`,
      argumentsHash: (await digest())(shown),
      runs: { where: `${steps.length} steps, of the plan with the hash ${hash}`, risk },
      policyVersion: planDefinitionOf(
        steps.map(({ tool }) => tool),
        situation,
      ),
      reason: reason === undefined ? WHY : `${WHY} The asker says: ${JSON.stringify(mask(reason))}`,
    };
  }
}

/** Hides values that the current tools mark secret. */
function withoutSecrets(asked: AskedPlan, { find }: Pick<Situation, 'find'>): Looked {
  const masking = createMasking(secretsAmong(find));
  return { ...asked, hidden: masking.plan(asked.plan), mask: masking.text };
}

const stepsOf = (shown: readonly { step: Step }[]): Step[] => shown.map(({ step }) => step);

const WHY =
  'A plan as a whole: granted once, its steps run without a further question where all of their arguments stand here.';

const NOT_NEEDED: Refused = {
  ok: false,
  code: 'approval_not_needed',
  reason: 'No step needs an approval that can be given ahead: each is allowed, or takes values of results.',
  next: 'Run the plan; a step that needs an approval asks for it when its values are known.',
};
