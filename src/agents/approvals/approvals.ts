/**
 * Approvals: bound to session, tool, canonical arguments and policy version. Used once; over time means refused;
 * never decided by the one who asks, but where the policy lets their own person decide.
 */
import { randomUUID } from 'node:crypto';
import { parseInput } from '../../core/parse.js';
import type { ArgumentSources } from '../../core/result.js';
import { type Caller, type GateCode, OPERATOR_ROLE, type Refusal } from '../contracts.js';
import type { Policy } from '../policy/policy.js';
import type { Quotas } from '../quotas.js';
import {
  type Approval,
  type ApprovalOutput,
  type ApprovalQuery,
  type AuditEntry,
  approvalQuerySchema,
  type GrantInput,
  grantInputSchema,
  type RefuseInput,
  refuseInputSchema,
} from '../records.js';
import type { ApprovalRecord, Approvals as StoredApprovals } from '../store/store.js';

/** What an approval is bound to, and what is shown to the one who decides. */
export interface ApprovalRequest {
  readonly session: string;
  readonly user: string | undefined;
  readonly tool: string;
  readonly arguments: unknown;
  /** Shown, and no part of what binds. */
  readonly sources?: ArgumentSources;
  readonly argumentsHash: string;
  readonly runs: NonNullable<ApprovalRecord['runs']>;
  readonly policyVersion: string;
  readonly reason: string;
}

export type Passed = { ok: true; approval: string } | ({ ok: false; approval?: string } & Refusal);

export interface Approvals {
  /** Lets a call pass once it is approved; asks where nobody has asked yet. @param id of the approval to use */
  pass(request: ApprovalRequest, id?: string): Promise<Passed>;
  /** Asks ahead, or finds what was asked for the same call already; uses nothing. */
  ask(request: ApprovalRequest): Promise<ApprovalOutput>;
  /** @throws WinnowError `invalid_request` */
  grant(id: string, input: GrantInput, channel?: PersonChannel): Promise<ApprovalOutput>;
  /** @throws WinnowError `invalid_request` */
  refuse(id: string, input: RefuseInput, channel?: PersonChannel): Promise<ApprovalOutput>;
  /** Whether the policy lets those who ask decide themselves, through a channel that reaches the person. */
  isSelfAllowed(): boolean;
  get(id: string): Promise<Approval | undefined>;
  /** Newest first, with what is over time marked so. @throws WinnowError `invalid_request` */
  list(query?: ApprovalQuery): Promise<Approval[]>;
  /** Marks what is over time. */
  sweep(): Promise<void>;
}

/** How a decision came from a person, and from no program that speaks for one. Default: it is not known to be. */
export type PersonChannel = 'terminal' | 'elicitation';

export interface ApprovalParts {
  store: StoredApprovals;
  policy: () => Policy;
  clock: () => Date;
  quotas: Pick<Quotas, 'pendingApprovals' | 'approvalBytes'>;
  audit: (entries: readonly Omit<AuditEntry, 'id' | 'at'>[]) => Promise<void>;
  /** What is shown of one. */
  review: (approval: ApprovalRecord) => Promise<Approval>;
}

export function createApprovals({ store, policy, clock, quotas, audit, review }: ApprovalParts): Approvals {
  const now = () => clock().toISOString();
  const later = (milliseconds: number) => new Date(clock().getTime() + milliseconds).toISOString();

  return {
    async pass(request, id) {
      const { user } = request;
      if (user === undefined) return nobodyAsks();
      // What was seen to be over stays so, also where the clock is set back.
      await sweep();
      if (id !== undefined) {
        const approval = await store.get(id);
        return refuseMisfit(approval, request) ?? use(approval);
      }
      const opened = await open(request, user);
      if ('ok' in opened) return opened;
      const { approval, isNew } = opened;
      return isNew ? refused('needs_approval', approval.reason, { approval, next: NEXT.pending }) : use(approval);
    },

    async ask(request) {
      const { user } = request;
      if (user === undefined) return nobodyAsks();
      const opened = await open(request, user);
      return 'ok' in opened ? opened : { ok: true, approval: await review(opened.approval) };
    },

    grant: async (id, input, channel) =>
      decide(id, { ...parseInput(grantInputSchema, input), state: 'granted', channel }),
    refuse: async (id, input, channel) =>
      decide(id, { ...parseInput(refuseInputSchema, input), grant: 'once', state: 'refused', channel }),
    isSelfAllowed: () => policy().settings.approvals.self === 'ask',

    async get(id) {
      await sweep();
      const approval = await store.get(id);
      return approval && review(approval);
    },

    async list(query = {}) {
      await sweep();
      return Promise.all((await store.list(parseInput(approvalQuerySchema, query))).map(review));
    },

    sweep,
  };

  async function sweep(): Promise<void> {
    const expired = await store.expire(now());
    await audit(expired.map((approval) => entryOf(approval, 'approval_expired', 'denied')));
  }

  /** One question for one call, however often it is asked. */
  async function open(request: ApprovalRequest, user: string): Promise<Opened | Refused> {
    const bytes = Buffer.byteLength(JSON.stringify(request.arguments));
    if (bytes > quotas.approvalBytes) return tooLarge(bytes, quotas.approvalBytes);
    const asked = newApproval(request, user);
    const approval = await store.request(asked, quotas.pendingApprovals);
    if (!approval) return tooMany(quotas.pendingApprovals);
    const isNew = approval.id === asked.id;
    if (isNew) await audit([entryOf(approval, 'approval_requested', 'needs_approval')]);
    return { approval, isNew };
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
    // Somebody was faster, or its time ended: what it is now says which.
    const last = (await store.get(approval.id)) ?? approval;
    if (last.state === 'pending' && last.expiresAt > now())
      return refused('approval_pending', 'Nobody has decided yet.', { approval: last, next: NEXT.pending });
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
    const { ttlMs, sessionGrantTtlMs } = policy().settings.approvals;
    const isDecided = await store.decide(id, {
      state,
      grant,
      decidedBy: by.user,
      decidedAt: now(),
      expiresAt: state === 'granted' ? later(grant === 'session' ? sessionGrantTtlMs : ttlMs) : approval.expiresAt,
      reason: asked.reason ?? approval.reason,
    });
    const last = (await store.get(id)) ?? approval;
    if (!isDecided) return closed(last);
    const isGranted = state === 'granted';
    const entry = entryOf(last, isGranted ? 'approval_granted' : 'approval_refused', isGranted ? 'allowed' : 'denied');
    const own = isSameIdentity(by.user, approval.user) ? `${ownWords(asked)} ` : '';
    await audit([{ ...entry, user: by.user, reason: `${own}${entry.reason ?? ''}` }]);
    return { ok: true, approval: await review(last) };
  }
}

type Refused = Refusal & { ok: false };

interface Opened {
  approval: ApprovalRecord;
  isNew: boolean;
}

interface Deciding {
  state: 'granted' | 'refused';
  grant: 'once' | 'session';
  by: Caller & { user: string };
  reason?: string | undefined;
  channel: PersonChannel | undefined;
}

function ownWords({ channel }: Deciding): string {
  return `Decided by the asker themselves, by ${channel} (approvals.self: ask).`;
}

const NEXT = {
  pending: 'Wait until somebody else has approved it, then make the same call again.',
  refused: 'Do not try again; tell the user, or go another way.',
  again: 'Make the call again without an approval id: it asks anew.',
} as const;

function refuseMisfit(approval: ApprovalRecord | undefined, request: ApprovalRequest): Passed | undefined {
  // Another session's approval looks like none at all.
  if (!approval || approval.session !== request.session) return unknown();
  const bound = { tool: 'another tool', argumentsHash: 'other arguments', policyVersion: 'another policy' } as const;
  const other = (['tool', 'argumentsHash', 'policyVersion'] as const).find((one) => approval[one] !== request[one]);
  if (other === undefined) return undefined;
  return refused('approval_mismatch', `The approval is for ${bound[other]}.`, { next: NEXT.again });
}

function refuseDeciding(
  approval: ApprovalRecord,
  asked: Deciding,
  policy: Policy,
): (Refusal & { ok: false }) | undefined {
  const { sessionGrants, approvers, self } = policy.settings.approvals;
  const { by, grant, state, channel } = asked;
  if (approval.state !== 'pending') return closed(approval);
  const isOwn = isSameIdentity(by.user, approval.user);
  if (isOwn && (self !== 'ask' || channel === undefined))
    return refused('approval_own', 'Nobody decides on what they asked for themselves.', {
      next: self === 'ask' ? 'Decide with `winnow approvals` in a terminal.' : 'Somebody else has to decide.',
    });
  const { users, roles } = approvers ?? { users: [], roles: [OPERATOR_ROLE] };
  const isNamed = users.includes(by.user) || by.roles?.some((role) => roles.includes(role)) === true;
  // One person alone has nobody else to name.
  if (!isNamed && (approvers || !isOwn))
    return refused('approval_not_allowed', `${by.user} is not among those who may approve.`, {
      next: approvers ? 'Somebody whom the policy names has to decide.' : 'An operator has to decide.',
    });
  if (state === 'refused') return undefined;
  if (grant === 'session' && !sessionGrants)
    return refused('approval_not_allowed', 'The policy allows grants for one call only.', {
      next: 'Grant it once.',
    });
  if (approval.policyVersion.startsWith(policy.version)) return undefined;
  return refused('approval_mismatch', 'The policy has changed since it was asked for.', {
    next: 'Have the call made again: it asks anew.',
  });
}

const UNSEEN = /[\p{Cf}\p{Variation_Selector}]/gu;

/** Spellings that people take for the same person are the same person. */
function isSameIdentity(one: string, other: string): boolean {
  const plain = (name: string) => name.normalize('NFKC').replace(UNSEEN, '').trim().toLowerCase();
  return plain(one) === plain(other);
}

function closed({ state }: ApprovalRecord): Refusal & { ok: false } {
  const code = state === 'used' || state === 'granted' ? 'approval_used' : `approval_${state}`;
  return { ok: false, code, reason: `It is ${state} already.`, next: 'Nothing is left to decide.' };
}

function nobodyAsks(): Refusal & { ok: false } {
  return refused('approval_not_allowed', 'Nobody can approve what nobody asks for: the session has no user.', {
    next: 'Open a session with a user: over MCP by `winnow mcp --user NAME`, over HTTP by the header x-winnow-user.',
  });
}

function tooLarge(bytes: number, most: number): Refused {
  const reason = `Its arguments have ${bytes} bytes, and nobody is asked to approve more than ${most}.`;
  return refused('approval_too_large', reason, { next: 'Do less in one call.' });
}

function tooMany(most: number): Refused {
  return refused('too_many_approvals', `${most} of your calls wait for an approval already.`, { next: NEXT.pending });
}

/** For the one who decides, who makes no call; also where they may not see what there is. */
export function nothingToDecide(): Refusal & { ok: false } {
  return refused('approval_unknown', 'There is no such approval.', {
    next: 'List the approvals and use an id from there.',
  });
}

function unknown(): Refusal & { ok: false } {
  return refused('approval_unknown', 'There is no such approval in this session.', { next: NEXT.again });
}

function refused(
  code: GateCode,
  reason: string,
  { next, approval }: { next: string; approval?: ApprovalRecord },
): Refusal & { ok: false; approval?: string } {
  return { ok: false, code, reason, next, ...(approval ? { approval: approval.id } : {}) };
}

function entryOf(
  { id, session, user, tool, argumentsHash, sources, policyVersion, reason }: ApprovalRecord,
  event: AuditEntry['event'],
  outcome: AuditEntry['outcome'],
): Omit<AuditEntry, 'id' | 'at'> {
  return { event, outcome, session, user, tool, argumentsHash, sources, policyVersion, reason, approval: id };
}
