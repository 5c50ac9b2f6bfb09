/** Who may decide on an approval, and how. */
import { HIDDEN } from '../../core/visible-text.js';
import { type Caller, OPERATOR_ROLE } from '../contracts.js';
import type { Policy } from '../policy/policy.js';
import type { ApprovalRecord } from '../store/store.js';
import { closed, type Refused, refused } from './refusals.js';

/** The channel by which a person, not a program, has decided. Default: unknown. */
export type PersonChannel = 'terminal' | 'elicitation';

export interface Deciding {
  state: 'granted' | 'refused';
  grant: 'once' | 'session';
  by: Caller & { user: string };
  reason?: string | undefined;
  /** Arguments to grant in place of those asked for. */
  arguments?: Readonly<Record<string, unknown>> | undefined;
  channel: PersonChannel | undefined;
}

export function ownWords({ channel }: Deciding): string {
  return `Decided by the asker themselves, by ${channel} (approvals.self: ask).`;
}

export function refuseDeciding(approval: ApprovalRecord, asked: Deciding, policy: Policy): Refused | undefined {
  const { sessionGrants, approvers, self } = policy.settings.approvals;
  const { by, grant, state, channel } = asked;
  if (approval.state !== 'pending') return closed(approval);
  const isOwn = isSameIdentity(by.user, approval.user);
  if (isOwn && (self !== 'ask' || channel === undefined))
    return refused('approval_own', 'Nobody decides on what they asked for themselves.', {
      next: self === 'ask' ? 'Decide with `winnow approvals` in a terminal.' : 'Somebody else has to decide.',
    });
  const isNamed = isApprover(by, approvers);
  // Without a list of approvers, deciding on one's own request needs no operator role.
  if (!isNamed && (approvers || !isOwn))
    return refused('approval_not_allowed', `${by.user} is not among those who may approve.`, {
      next: approvers ? 'Somebody whom the policy names has to decide.' : 'An operator has to decide.',
    });
  if (state === 'refused') return undefined;
  if (approval.plan && (grant === 'session' || asked.arguments))
    return refused('approval_not_allowed', 'A plan is granted unchanged, for one run.', {
      next: 'Grant it once, or refuse it.',
    });
  if (grant === 'session' && !sessionGrants)
    return refused('approval_not_allowed', 'The policy allows grants for one call only.', {
      next: 'Grant it once.',
    });
  if (approval.policyVersion.startsWith(policy.version)) return undefined;
  return refused('approval_mismatch', 'The policy has changed since it was asked for.', {
    next: 'Have the call made again: it requests a new approval.',
  });
}

type ApprovalSettings = Policy['settings']['approvals'];
type Approvers = ApprovalSettings['approvers'];

/** What to do while a call waits, by who may decide. @param user who asks; their roles count only when they decide */
export function nextWhilePending({ self, approvers }: ApprovalSettings, user = ''): string {
  const { users = [], roles = [] } = approvers ?? {};
  const isOpen = !approvers || roles.length > 0;
  const mayUser = self === 'ask' && (isOpen || users.includes(user));
  if (!mayUser && !isOpen && users.every((name) => isSameIdentity(name, user)))
    return 'Nobody may approve it: tell the user to name others in approvals.approvers of the policy.';
  const who = mayUser ? (approvers ? NAMED : OWN) : 'somebody else';
  return `Wait until ${who} has approved it, then make the same call again.`;
}

const OWN =
  'the user themselves, in person (`winnow approvals` in a terminal, or a question of their MCP client), or somebody else';
const NAMED = 'an approver whom the policy names, who may be the user themselves,';

/** Without a list, operators decide, and only they see what waits. */
export function isApprover({ user, roles: own = [] }: Caller, approvers: Approvers): boolean {
  const { users, roles } = approvers ?? { users: [], roles: [OPERATOR_ROLE] };
  return user !== undefined && (users.includes(user) || own.some((role) => roles.includes(role)));
}

const UNSEEN = new RegExp(`[${HIDDEN}]`, 'gu');

/** Ignores case in any language, Unicode variants, width of spaces and invisible characters. */
export function isSameIdentity(one: string, other: string): boolean {
  // Only by way of upper case are ß and SS, ı and I, σ and ς one.
  const folded = (name: string) => name.toLowerCase().toUpperCase().toLowerCase().replaceAll('i\u0307', 'i');
  const visible = (name: string) => name.normalize('NFKC').replace(UNSEEN, '').replace(/\s+/gu, ' ').trim();
  const plain = (name: string) => folded(visible(name)).normalize('NFKC');
  return plain(one) === plain(other);
}
