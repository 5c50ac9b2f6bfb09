/**
 * Approvals, each bound to session, tool, canonical arguments and policy version. They are used once, and count as
 * refused when they expire. The asker never decides, except where the policy lets their own person do so.
 */
import { randomUUID } from 'node:crypto';
import { parseInput } from '../../core/parse.js';
import { listNames } from '../../core/planning/issues.js';
import type { ArgumentSources } from '../../core/result.js';
import { MOST_IN_AUDIT, sourcesAfterEdit } from '../argument-sources.js';
import type { PreparedArguments } from '../parts.js';
import type { Policy } from '../policy/policy.js';
import type { Quotas } from '../quotas.js';
import {
  type Approval,
  type ApprovalOutput,
  type ApprovalPage,
  type ApprovalQuery,
  type ApprovedPlan,
  type AuditEntry,
  approvedPlanSchema,
  type BareEntry,
  type GrantInput,
  grantInputSchema,
  type RefuseInput,
  refuseInputSchema,
} from '../records.js';
import type { Approvals as StoredApprovals } from '../store/sql/approvals.js';
import type { ApprovalRecord, AuditRecord, GrantedArguments } from '../store/store.js';
import {
  type Deciding,
  isSameIdentity,
  nextWhilePending,
  ownWords,
  type PersonChannel,
  refuseDeciding,
} from './deciding.js';
import { createApprovalLists } from './list-approvals.js';
import {
  type CallRefused,
  closed,
  NEXT,
  namesOfEdited,
  nothingToDecide,
  type Refused,
  refused,
  refuseMisfit,
  tooLarge,
  tooMany,
  unknown,
  withoutUser,
} from './refusals.js';

/** What an approval is bound to, and what the approver sees. */
export interface ApprovalRequest {
  readonly session: string;
  readonly user: string | undefined;
  readonly tool: string;
  readonly arguments: unknown;
  /** In place of a call, the plan as a whole; `argumentsHash` then covers all that is shown of it. */
  readonly plan?: ApprovedPlan;
  /** Shown, but not part of the binding. */
  readonly sources?: ArgumentSources;
  readonly argumentsHash: string;
  readonly runs: NonNullable<ApprovalRecord['runs']>;
  readonly policyVersion: string;
  readonly reason: string;
}

export type Passed = { ok: true; approval: string } | CallRefused;

/** A step of a run that used the approval of its plan. */
export interface PlanGrant {
  readonly approval: string;
  readonly step: string;
  /** Whether this is the first call of the step, the only one that the approval covers. */
  readonly isFirst: boolean;
}

/** Edited arguments as they would be granted, or why they can't be. */
export type EditedCall = ({ readonly ok: true } & GrantedArguments) | Extract<PreparedArguments, { ok: false }>;

interface ApprovalParts {
  store: StoredApprovals;
  policy: () => Policy;
  clock: () => Date;
  quotas: Pick<Quotas, 'pendingApprovals' | 'approvalBytes'>;
  /** Audit entries in the form that the store writes. */
  toAudit: (entry: BareEntry) => readonly AuditRecord[];
  /** Checks arguments that an approver grants in place of those asked for. */
  edit: (approval: ApprovalRecord, given: Readonly<Record<string, unknown>>) => Promise<EditedCall>;
}

export type Approvals = ReturnType<typeof createApprovals>;

export function createApprovals({ store, policy, clock, quotas, toAudit, edit }: ApprovalParts) {
  const now = () => clock().toISOString();
  const { review, page, list } = createApprovalLists(store);
  const nextFor = (user: string) => nextWhilePending(policy().settings.approvals, user);
  const later = (milliseconds: number) => new Date(clock().getTime() + milliseconds).toISOString();

  return {
    /** Lets an approved call pass; otherwise requests its approval. @param id of the approval to use */
    async pass(request: ApprovalRequest, id?: string): Promise<Passed> {
      const { user } = request;
      if (user === undefined) return withoutUser();
      // What has been seen as expired stays so, even if the clock is set back.
      await sweep();
      if (id !== undefined) {
        const approval = await store.get(id);
        return refuseMisfit(approval, request) ?? use(approval);
      }
      const opened = await open(request, user);
      if ('ok' in opened) return opened;
      const { approval, isNew } = opened;
      if (isNew) return refused('needs_approval', approval.reason, { approval, next: nextFor(user) });
      return refuseMisfit(approval, request) ?? use(approval);
    },

    /** Undoes a use whose call has not run, so that it may be used again. */
    giveBack: store.giveBack,

    /**
     * How a call of a run compares with what the approval of its plan shows of this step. Undefined: the approval says
     * nothing of it, since a result decides the arguments, or it holds no more.
     * @param versionOf version of the current policy and of the named tools
     */
    async compareStep(
      { session, tool, argumentsHash }: ApprovalRequest,
      { approval: id, step }: PlanGrant,
      versionOf: (tools: readonly string[]) => string,
    ): Promise<'same' | 'other' | undefined> {
      const approval = await store.get(id);
      const plan = approvedPlanSchema.safeParse(approval?.plan).data;
      if (!approval || !plan || approval.session !== session || approval.state !== 'used') return undefined;
      const { expiresAt, policyVersion } = approval;
      if (expiresAt <= now() || versionOf(plan.steps.map((one) => one.tool)) !== policyVersion) return undefined;
      const shown = plan.steps.find((one) => one.id === step);
      if (shown?.argumentsHash === undefined) return undefined;
      return shown.tool === tool && shown.argumentsHash === argumentsHash ? 'same' : 'other';
    },

    /** Requests approval in advance, or finds an open request for the same call; uses nothing up. */
    async ask(request: ApprovalRequest): Promise<ApprovalOutput> {
      const { user } = request;
      if (user === undefined) return withoutUser();
      const opened = await open(request, user);
      return 'ok' in opened ? opened : { ok: true, approval: await review(opened.approval) };
    },

    /** @throws WinnowError `invalid_request` */
    grant: async (id: string, input: GrantInput, channel?: PersonChannel) =>
      decide(id, { ...parseInput(grantInputSchema, input), state: 'granted', channel }),
    /** @throws WinnowError `invalid_request` */
    refuse: async (id: string, input: RefuseInput, channel?: PersonChannel) =>
      decide(id, { ...parseInput(refuseInputSchema, input), grant: 'once', state: 'refused', channel }),
    /** Whether the policy lets askers decide in person, through a channel that reaches them. */
    isSelfAllowed: () => policy().settings.approvals.self === 'ask',

    async get(id: string): Promise<Approval | undefined> {
      await sweep();
      const approval = await store.get(id);
      return approval && review(approval);
    },

    /** Newest first; expired ones are marked so. @throws WinnowError `invalid_request` */
    async list(query: ApprovalQuery = {}): Promise<Approval[]> {
      await sweep();
      return list(query);
    },

    /** As `list`, but ends early where the approvals are large; `next` says where to go on. */
    async page(query: ApprovalQuery = {}): Promise<ApprovalPage> {
      await sweep();
      return page(query);
    },

    /** Marks expired approvals. */
    sweep,
  };

  async function sweep(): Promise<void> {
    await store.expire(now(), (approval) => toAudit(approvalEntry(approval, 'approval_expired', 'denied')));
  }

  /** Opens one approval for a call, however often it is requested. */
  async function open(request: ApprovalRequest, user: string): Promise<Opened | Refused> {
    const shown = request.plan ? [request.arguments, request.plan] : request.arguments;
    const bytes = Buffer.byteLength(JSON.stringify(shown));
    if (bytes > quotas.approvalBytes) return tooLarge(bytes, quotas.approvalBytes);
    const asked = newApproval(request, user);
    const approval = await store.request(asked, quotas.pendingApprovals, (one) =>
      toAudit(approvalEntry(one, 'approval_requested', 'needs_approval')),
    );
    return approval ? { approval, isNew: approval.id === asked.id } : tooMany(quotas.pendingApprovals, nextFor(user));
  }

  function newApproval(request: ApprovalRequest, user: string): ApprovalRecord {
    const { ttlMs } = policy().settings.approvals;
    const times = { requestedAt: now(), expiresAt: later(ttlMs) };
    return { ...request, ...times, id: randomUUID(), user, state: 'pending', grant: 'once' };
  }

  async function use(approval: ApprovalRecord | undefined): Promise<Passed> {
    if (!approval) return unknown();
    if (approval.state === 'granted' && (await store.use(approval.id, now())))
      return { ok: true, approval: approval.id };
    // Somebody else decided first, or it expired: its current state says which.
    const last = (await store.get(approval.id)) ?? approval;
    if (last.state === 'pending' && last.expiresAt > now())
      return refused('approval_pending', 'Nobody has decided yet.', { approval: last, next: nextFor(last.user) });
    if (last.state === 'refused')
      return refused('approval_refused', `It was refused: ${last.reason}`, { approval: last, next: NEXT.refused });
    if (last.state === 'used')
      return refused('approval_used', 'The approval was used already.', { approval: last, next: NEXT.again });
    return refused('approval_expired', 'The approval is over its time.', { approval: last, next: NEXT.again });
  }

  async function decide(id: string, asked: Deciding): Promise<ApprovalOutput> {
    const { by, grant, state } = asked;
    await sweep();
    const approval = await store.get(id);
    const refusal = approval ? refuseDeciding(approval, asked, policy()) : nothingToDecide();
    if (!approval || refusal) return refusal ?? nothingToDecide();
    const checked = asked.arguments && (await checkEdit(approval, asked.arguments));
    if (checked && !checked.ok) return { ...checked, issues: checked.issues && [...checked.issues] };
    const { ttlMs, sessionGrantTtlMs } = policy().settings.approvals;
    const decision = {
      state,
      grant,
      decidedBy: by.user,
      decidedAt: now(),
      expiresAt: state === 'granted' ? later(grant === 'session' ? sessionGrantTtlMs : ttlMs) : approval.expiresAt,
      reason: asked.reason ?? approval.reason,
      granted: checked?.granted,
    };
    const isDecided = await store.decide(id, decision, (decided) => toAudit(decidedEntry(decided, asked)));
    const last = (await store.get(id)) ?? approval;
    return isDecided ? { ok: true, approval: await review(last) } : closed(last);
  }

  /** Leaves `granted` out where the arguments are those asked for. */
  async function checkEdit(approval: ApprovalRecord, given: Readonly<Record<string, unknown>>): Promise<CheckedEdit> {
    const edited = await edit(approval, given);
    if (!edited.ok) return edited;
    const { ok, ...granted } = edited;
    const bytes = Buffer.byteLength(JSON.stringify(granted.arguments));
    if (bytes > quotas.approvalBytes) return tooLarge(bytes, quotas.approvalBytes);
    return { ok, ...(granted.argumentsHash === approval.argumentsHash ? {} : { granted }) };
  }
}

type CheckedEdit = { ok: true; granted?: GrantedArguments } | (EditedCall & { ok: false });

interface Opened {
  approval: ApprovalRecord;
  isNew: boolean;
}

/** The audit gets both hashes and the names; the values stay with the approval. */
function editOf(approval: ApprovalRecord): Pick<AuditEntry, 'argumentsHash' | 'sources' | 'reason'> {
  const { granted, sources, argumentsHash, reason } = approval;
  if (!granted) return { argumentsHash, sources, reason };
  const changed = namesOfEdited(approval);
  const words = `Granted with other arguments (${listNames(changed, MOST_IN_AUDIT.names)}) than asked for (${argumentsHash}).`;
  return {
    argumentsHash: granted.argumentsHash,
    sources: sourcesAfterEdit(Object(granted.arguments), { sources, changed }),
    reason: `${words} ${reason}`,
  };
}

function decidedEntry(approval: ApprovalRecord, asked: Deciding): BareEntry {
  const isGranted = asked.state === 'granted';
  const [event, outcome] = isGranted
    ? (['approval_granted', 'allowed'] as const)
    : (['approval_refused', 'denied'] as const);
  const { reason, ...edited } = editOf(approval);
  const own = isSameIdentity(asked.by.user, approval.user) ? `${ownWords(asked)} ` : '';
  return { ...approvalEntry(approval, event, outcome), ...edited, user: asked.by.user, reason: `${own}${reason}` };
}

export function approvalEntry(
  { id, session, user, tool, argumentsHash, sources, policyVersion, reason }: ApprovalRecord,
  event: AuditEntry['event'],
  outcome: AuditEntry['outcome'],
): BareEntry {
  return { event, outcome, session, user, tool, argumentsHash, sources, policyVersion, reason, approval: id };
}
