/**
 * Decides whether a call may run now: the policy's decision on what would really run, the approval, and one use of the
 * enablement. An approval requested in advance takes the same path and stops at the approval.
 */
import { bindingHash } from '../../core/catalog/catalog.js';
import type { Tool } from '../../core/catalog/tool.js';
import type { ArgumentSources } from '../../core/result.js';
import type { ApprovalRequest, Approvals, EditedCall, PlanGrant } from '../approvals/approvals.js';
import { canonicalJson, type Digest } from '../approvals/canonical-json.js';
import { sourcesFor } from '../argument-sources.js';
import type { Refusal } from '../contracts.js';
import type { PreparedArguments, RouterParts } from '../parts.js';
import { type Decision, refusalOf } from '../policy/decide.js';
import type { ApprovalOutput } from '../records.js';
import { maskOfCall } from '../runs/mask-secrets.js';
import type { CallFailure } from '../sandbox/failure.js';
import { boundedArguments } from '../sandbox/prepare-arguments.js';
import type { Situation } from '../sessions/situation.js';
import type { Store } from '../store/sql/sql-store.js';
import type { ApprovalRecord } from '../store/store.js';
import { definitionOf, destinationOf, planDefinitionOf } from './definition.js';
import { hideSecrets } from './hide-secrets.js';
import { type KeptSecrets, keepSecrets } from './keep-secrets.js';
import { createEarlierCalls, type ToKeep } from './run-call.js';

export interface CallRequest {
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly approval?: string | undefined;
  /** Where the arguments come from, for a step of a plan. */
  readonly sources?: ArgumentSources | undefined;
  /** The grant of a plan that was approved as a whole, for a step of its run. */
  readonly plan?: PlanGrant | undefined;
}

interface Judged {
  readonly name: string;
  readonly decision: Decision;
  readonly argumentsHash: string;
  readonly sources: ArgumentSources | undefined;
  readonly approval?: string | undefined;
  /** Masks the secrets among the arguments in a text about the call. */
  readonly mask: (text: string) => string;
}
export type Passed = Judged & {
  readonly ok: true;
  readonly tool: Tool;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly notes: readonly string[];
  /** Version of policy and tool under which it passed. */
  readonly definition: string;
  /** Makes the record of the successful call; undefined where no requirement needs it. */
  readonly toKeep: ToKeep;
  /** Restores the approval and the single-use enablement of a call that has not reached the tool. */
  giveBack(): Promise<void>;
};
export type Stopped = Judged & { readonly ok: false; readonly result: CallFailure };

/** The outcome of an advance approval request; `result` is what the caller gets. */
export type Asked = Judged & { readonly result: ApprovalOutput };

/** A call as it would run, with the policy's decision on it. */
export interface Candidate extends Judged {
  readonly tool: Tool | undefined;
  /** Undefined: the tool may not run with any arguments, so they were not checked. */
  readonly prepared: PreparedArguments | undefined;
  readonly given: Readonly<Record<string, unknown>>;
  /** The arguments without secrets: what people see of the call, and what an approval binds. */
  readonly shown: unknown;
}

interface Judging {
  /** The call will be made later. */
  readonly isAhead: boolean;
  /** Secrets of which the arguments hold only the masked form. */
  readonly kept?: KeptSecrets;
}

interface CallGateParts {
  store: Pick<Store, 'sessions' | 'journal'>;
  approvals: Pick<Approvals, 'pass' | 'giveBack' | 'ask' | 'compareStep'>;
  prepare: RouterParts['prepare'];
  digest: () => Promise<Digest>;
}

type AskedCall = Pick<ApprovalRecord, 'tool' | 'arguments' | 'policyVersion'>;

export type CallGate = ReturnType<typeof createCallGate>;

export function createCallGate({ store, approvals, prepare, digest }: CallGateParts) {
  const earlier = createEarlierCalls({ journal: store.journal, digest });
  return {
    /** Lets a call pass, or says why not. */
    async pass(situation: Situation, request: CallRequest): Promise<Passed | Stopped> {
      const candidate = await judgeStep(situation, request);
      const { name, decision, argumentsHash, sources, mask, tool, prepared, byPlan } = candidate;
      const judged = { name, decision, argumentsHash, sources, mask };
      const stop = (refusal: Refusal & { approval?: string }): Stopped => ({
        ...judged,
        ok: false,
        approval: refusal.approval,
        result: { ...refusal, ok: false },
      });

      if (decision.decision === 'deny' || !tool || !prepared) return stop(refusalOf(decision, name));
      if (!prepared.ok) return stop(withoutOk(prepared));
      let approval = byPlan;
      if (decision.decision === 'needs_approval' && approval === undefined) {
        const passed = await approvals.pass(approvalFor(tool, situation, candidate), request.approval);
        if (!passed.ok) return stop(withoutOk(passed));
        approval = passed.approval;
      }
      // Only this atomic count decides which of two concurrent calls gets the single use, or the last turn.
      const isCounted = await store.sessions.countCall(situation.session.id, name);
      const isFree = situation.stays(tool) !== undefined || decision.warned !== undefined;
      const giveBack = async () => {
        // The approval of a plan stays with its run.
        if (approval !== undefined && approval !== request.plan?.approval) await approvals.giveBack(approval);
        if (isCounted) await store.sessions.uncountCall(situation.session.id, name);
      };
      if (!isCounted && !isFree) {
        await giveBack();
        return stop(refusalOf({ ...decision, ...USED_UP }, name));
      }
      const toKeep = await earlier.keeping(tool, candidate.given, situation);
      const about = { ok: true, tool, approval, toKeep, giveBack, definition: definitionOf(tool, situation) } as const;
      return { ...judged, ...about, arguments: candidate.given, notes: prepared.notes };
    },

    /**
     * Checks a call that has passed against the current situation. Uses nothing up: what the call has used still counts,
     * as long as policy and tool are unchanged.
     */
    async findRefusal(situation: Situation, passed: Passed): Promise<CallFailure | undefined> {
      const { name, approval } = passed;
      const tool = situation.find(name);
      // An approval holds for one policy version; without one, the current policy's decision is enough.
      const isOther =
        tool &&
        (approval === undefined
          ? bindingHash(tool) !== bindingHash(passed.tool)
          : definitionOf(tool, situation) !== passed.definition);
      if (isOther) return { ...CHANGED, ok: false };
      const decision = situation.decide(tool, 'call', {
        arguments: passed.arguments,
        // A single use is counted already, for this very call.
        isEnabled: tool !== undefined && (situation.stays(tool) !== undefined || situation.enablements.has(name)),
        ...(await earlier.factsFor(tool, situation)),
      });
      if (decision.decision === 'deny') return { ...refusalOf(decision, name), ok: false };
      return decision.decision === 'needs_approval' && approval === undefined ? { ...CHANGED, ok: false } : undefined;
    },

    /** A call as it would be made later, with the policy's decision on it. */
    look: (situation: Situation, request: CallRequest) => judge(situation, request, { isAhead: true }),

    /** Requests the approval of a call without making it. @param reason why it is wanted, in the asker's words */
    async ask(situation: Situation, request: CallRequest, reason?: string): Promise<Asked> {
      const candidate = await judge(situation, request, { isAhead: true });
      const { name, decision, argumentsHash, sources, mask, tool, prepared } = candidate;
      const judged = { name, decision, argumentsHash, sources, mask };
      const end = (result: ApprovalOutput): Asked => {
        return { ...judged, approval: result.ok ? result.approval.id : undefined, result };
      };

      if (decision.decision === 'deny' || !tool || !prepared) return end({ ...refusalOf(decision, name), ok: false });
      if (!prepared.ok) return end({ ...prepared, issues: prepared.issues && [...prepared.issues] });
      if (decision.decision === 'allow') return end({ ...notNeeded(name), ok: false });
      return end(await approvals.ask(approvalFor(tool, situation, { ...candidate, reason })));
    },

    /** Checks edited arguments of a call that waits for approval, as if the asker had called with them. */
    async edit(
      situation: Situation,
      waiting: AskedCall,
      edited: Readonly<Record<string, unknown>>,
    ): Promise<EditedCall> {
      const { tool: name, arguments: asked, policyVersion } = waiting;
      const tool = situation.find(name);
      if (!tool || definitionOf(tool, situation) !== policyVersion) return { ...REDEFINED, ok: false };
      const keeping = keepSecrets(tool.inputSchema, asked, edited);
      if (!keeping.ok) {
        const { issues } = keeping;
        return { ok: false, code: 'invalid_arguments', reason: `${issues.join('; ')}.`, next: EDIT_AGAIN, issues };
      }
      const { arguments: given, kept } = keeping;
      const judged = await judge(situation, { tool: name, arguments: given }, { isAhead: true, kept });
      const { decision, prepared, argumentsHash, shown } = judged;
      // The approver may see the policy's reason, which the asker must not.
      if (decision.decision === 'deny' || !prepared) {
        const code = decision.code === 'denied' ? 'not_allowed' : decision.code;
        return { ok: false, code, reason: decision.reason, next: EDIT_AGAIN };
      }
      if (!prepared.ok) return { ...prepared, next: EDIT_AGAIN };
      return { ok: true, arguments: shown, argumentsHash };
    },
  };

  /** A call as a step of its plan, whose approval may cover it (`byPlan`); where it differs, it needs its own. */
  async function judgeStep(situation: Situation, request: CallRequest): Promise<Candidate & { byPlan?: string }> {
    const candidate = await judge(situation, request, { isAhead: false });
    const { tool, decision } = candidate;
    const { plan, approval: own } = request;
    if (!plan || !tool || decision.decision === 'deny') return candidate;
    const versionOf = (tools: readonly string[]) => planDefinitionOf(tools, situation);
    const step = await approvals.compareStep(approvalFor(tool, situation, candidate), plan, versionOf);
    if (decision.decision === 'allow' && step === 'other')
      return { ...candidate, decision: { ...decision, ...ASK, reason: NOT_AS_SHOWN } };
    const isCovered = decision.decision === 'needs_approval' && step === 'same' && plan.isFirst && own === undefined;
    return isCovered ? { ...candidate, byPlan: plan.approval } : candidate;
  }

  async function judge(situation: Situation, request: CallRequest, { isAhead, kept }: Judging): Promise<Candidate> {
    const name = request.tool;
    const tool = situation.find(name);
    const isEnabled = tool !== undefined && situation.isEnabled(tool);
    // Arguments are not checked where the tool alone decides, or where the caller must not know of the tool.
    const mayRun =
      tool !== undefined && situation.isAllowed(tool) && (isEnabled || isAhead || !situation.policy.settings.strict);
    const open = kept?.paths.map((path) => ({ path, isWhole: true }));
    const prepared = mayRun ? prepareCopy(prepare(tool, request.arguments, open)) : undefined;
    const given = prepared?.ok ? prepared.arguments : boundedArguments(request.arguments);
    const decision = situation.decide(tool, 'call', {
      arguments: given,
      isAhead,
      isEnabled,
      ...(await earlier.factsFor(tool, situation)),
    });
    const sources = sourcesFor(given, request.sources);
    const digestOf = await digest();
    // Of this user alone: another could try values until the digest is that of a secret which they may see hidden.
    const digestOfOwn: Digest = (secret) => digestOf([situation.session.user ?? null, secret]);
    const shown = tool && prepared?.ok ? hideSecrets(tool.inputSchema, given, digestOfOwn, kept?.shownAt) : given;
    const mask = maskOfCall(tool, given);
    return { name, decision, argumentsHash: digestOf(shown), sources, mask, tool, prepared, given, shown };
  }

  function approvalFor(
    tool: Tool,
    { session, policy }: Situation,
    { shown, argumentsHash, sources, mask, decision, reason }: Candidate & { reason?: string | undefined },
  ): ApprovalRequest {
    return {
      session: session.id,
      user: session.user,
      tool: tool.name,
      arguments: shown,
      argumentsHash,
      runs: { where: destinationOf(tool), risk: decision.risk },
      ...(sources ? { sources } : {}),
      policyVersion: definitionOf(tool, { policy }),
      // Quoted, so that an agent's words can't pass for the policy's.
      reason:
        reason === undefined ? decision.reason : `${decision.reason} The asker says: ${JSON.stringify(mask(reason))}`,
    };
  }
}

const USED_UP = {
  code: 'not_enabled',
  reason: 'It was enabled for one call, or for turns that are over.',
  next: 'Call tool_enable again.',
} as const;

const ASK = { decision: 'needs_approval', code: 'needs_approval' } as const;
const NOT_AS_SHOWN = 'The approval of the plan shows this step with other arguments.';

const CHANGED = {
  code: 'not_allowed',
  reason: 'While the call waited for its place, the policy or the tool has changed.',
  next: 'Make the call again: the policy then decides again.',
} as const;

const REDEFINED = {
  code: 'approval_mismatch',
  reason: 'The policy or the tool has changed since it was asked for.',
  next: 'Have the call made again: it requests a new approval.',
} as const;

const EDIT_AGAIN = 'Grant it with other arguments or as it was asked for, or refuse it.';

function notNeeded(name: string): Refusal {
  return {
    code: 'approval_not_needed',
    reason: `${name} needs no approval with these arguments.`,
    next: 'Call it; if it is not enabled yet, enable it first.',
  };
}

/** A copy made from the canonical text, so that hash, review, approval and run all see the same arguments. */
function prepareCopy(prepared: PreparedArguments): PreparedArguments {
  if (!prepared.ok) return prepared;
  const copy: Record<string, unknown> = JSON.parse(canonicalJson(prepared.arguments));
  return { ...prepared, arguments: copy };
}

function withoutOk<Refused extends { ok: false }>({ ok: _, ...refusal }: Refused): Omit<Refused, 'ok'> {
  return refusal;
}
