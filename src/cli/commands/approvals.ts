/** `winnow approvals`: a person lists the approvals that agents wait for, and decides. */
import type { Command } from 'commander';
import type { Approval } from '../../agents/records.js';
import { ERROR_TABLE } from '../../core/errors.js';
import { choice, command, type FlagsOf, group, required, text, toggle, valued } from '../command.js';
import { BY, CALLER, CATALOG, CONFIG, JSON_OUTPUT, STORE, wholeNumber } from '../flags.js';
import { parseArguments } from '../input.js';
import { print, printableLine } from '../output.js';

const LOOK = { ...CONFIG, ...STORE, ...JSON_OUTPUT };
const LIST = {
  ...LOOK,
  user: text('--user <name>', 'only those of calls that this user asked for'),
  state: choice('--state <state>', 'only in this state', ['pending', 'granted', 'refused', 'used', 'expired']),
  limit: valued('--limit <number>', 'most approvals shown', wholeNumber),
};
const DECIDE = {
  ...LOOK,
  by: required(BY.by),
  role: CALLER.role,
  reason: text('--reason <text>', 'shown to the one who asks'),
};
const GRANT = {
  ...DECIDE,
  ...CATALOG,
  forSession: toggle('--for-session', 'all equal calls of the session, not one call only'),
  arguments: text(
    '--arguments <json>',
    'with exactly these in place of those asked for, as a JSON object; secrets stay',
  ),
};

export function approvalsCommand(): Command {
  return group('approvals', 'what agents wait for: list, grant, refuse', 'winnow approvals list --state pending', [
    command({
      name: 'list',
      about: 'newest first',
      flags: LIST,
      examples: ['winnow approvals list -c winnow.yaml --state pending'],
      run: listApprovals,
    }),
    command({
      name: 'grant',
      words: '<id>',
      about: 'let the call be made; who asks may decide only under approvals.self: ask',
      flags: GRANT,
      examples: ['winnow approvals grant 6155f8af-217e-45fb-ab26-29fd8402fa73 --by bob --reason "it is old"'],
      run: ([id = ''], flags) => decide(id, 'grant', flags),
    }),
    command({
      name: 'refuse',
      words: '<id>',
      about: 'refuse the call',
      flags: DECIDE,
      examples: ['winnow approvals refuse 6155f8af-217e-45fb-ab26-29fd8402fa73 --by bob --reason "we need it"'],
      run: ([id = ''], flags) => decide(id, 'refuse', flags),
    }),
  ]);
}

async function listApprovals(_: string[], flags: FlagsOf<typeof LIST>): Promise<void> {
  const { withStoredAgents } = await import('../agents-setup.js');
  const { state, user, limit } = flags;
  const approvals = await withStoredAgents(flags, ({ router }) => router.approvals.list({ state, user, limit }));
  const texts = await Promise.all(approvals.map(renderApproval));
  print(flags, { value: approvals, text: texts.join('\n\n') || 'no approvals' });
}

async function decide(id: string, verb: 'grant' | 'refuse', flags: FlagsOf<typeof GRANT>): Promise<void> {
  const { withStoredAgents } = await import('../agents-setup.js');
  const { OPERATOR_ROLE } = await import('../../agents/contracts.js');
  // Write access to the store makes an operator.
  const by = { user: flags.by, roles: [...(flags.role ?? []), OPERATOR_ROLE] };
  const input = { by, ...(flags.reason === undefined ? {} : { reason: flags.reason }) };
  const edited = flags.arguments === undefined ? {} : { arguments: parseArguments(flags.arguments) };
  const granting = { ...input, ...edited, grant: flags.forSession ? ('session' as const) : ('once' as const) };
  const outcome = await withStoredAgents(
    flags,
    ({ router: { approvals } }) =>
      verb === 'grant' ? approvals.grant(id, granting, 'terminal') : approvals.refuse(id, input, 'terminal'),
    { needsTools: flags.arguments !== undefined },
  );
  const shown = outcome.ok
    ? await renderApproval(outcome.approval)
    : `${outcome.code}: ${outcome.reason}\n${outcome.next}`;
  const isOfOther = !outcome.ok && outcome.code === 'approval_mismatch';
  const advice = isOfOther && flags.set?.policy === undefined && flags.config === undefined ? POLICY_ADVICE : '';
  print(flags, { value: outcome, text: shown + advice });
  if (!outcome.ok) process.exitCode = ERROR_TABLE.invalid_request.exitCode;
}

const POLICY_ADVICE = '\nIf the server has a policy, name it here: --set policy=FILE, or its --config.';

/** The reason is that of the one who decided, else that of the policy for asking. */
async function renderApproval(approval: Approval): Promise<string> {
  const { renderArguments } = await import('../render-result.js');
  const { renderReview } = await import('../../agents/approvals/render-review.js');
  const { id, state, expiresAt, decidedBy, tool, arguments: given, sources, user, reason } = approval;
  const call = sources
    ? [printableLine(tool), ...renderArguments(approval)]
    : [printableLine(`${tool} ${JSON.stringify(given)}`)];
  // A used or expired approval was granted before.
  const verb = state === 'granted' || state === 'refused' ? state : `${state}, granted`;
  const facts = [...renderReview(approval), `asked by ${user}`, `reason: ${reason}`, `until ${expiresAt}`];
  return [
    `${id}  ${decidedBy === undefined ? state : printableLine(`${verb} by ${decidedBy}`)}`,
    ...[...call, ...facts.map(printableLine)].map((line) => `  ${line}`),
  ].join('\n');
}
