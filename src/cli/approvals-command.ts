/** `winnow approvals`: the way for a person to see what agents wait for, to decide, and to ask for one ahead. */
import { Command, Option } from 'commander';
import type { Approval, ApprovalOutput } from '../agents/records.js';
import type { Router } from '../agents/router.js';
import { ERROR_TABLE } from '../core/errors.js';
import { addPolicyOption, addStoreOption } from './agent-options.js';
import { parseArguments } from './json-arguments.js';
import type { LookFlags } from './open-store-commands.js';
import { type Output, type OutputOptions, outputOf, print } from './output.js';
import { printableLine } from './printable.js';
import { collect, wholeNumber } from './shared-options.js';

const STATES = ['pending', 'granted', 'refused', 'used', 'expired'] as const;

interface ListFlags extends LookFlags {
  state?: (typeof STATES)[number];
  session?: string;
  user?: string;
  limit?: number;
  json?: boolean;
}

interface RequestFlags extends LookFlags {
  session: string;
  tool: string;
  arguments?: string;
  reason?: string;
  json?: boolean;
}

interface DecideFlags extends LookFlags {
  by: string;
  role?: string[];
  reason?: string;
  forSession?: boolean;
  arguments?: string;
  json?: boolean;
}

export function approvalsCommand(options: OutputOptions = {}): Command {
  const output = outputOf(options);
  const command = new Command('approvals').description('what agents wait for: list, request, grant, refuse');
  subcommand(command, 'list', 'newest first')
    .addOption(new Option('--state <state>', 'only in this state').choices(STATES))
    .option('--session <id>', 'only of this session')
    .option('--user <name>', 'only what this user asks for')
    .option('--limit <number>', 'most approvals shown', wholeNumber)
    .action((flags: ListFlags) => listApprovals(flags, output));
  subcommand(command, 'request', 'ask ahead for the approval of exactly one call, without making it')
    .requiredOption('--session <id>', 'in which the call will be made; its user is the one who asks')
    .requiredOption('--tool <name>', 'the tool that will be called')
    .option('--arguments <json>', 'with exactly these, as a JSON object')
    .option('--reason <text>', 'told to the one who decides')
    .option('-c, --catalog <source>', 'tools, as `winnow serve` has them; may be given more than once', collect)
    .action((flags: RequestFlags) => requestApproval(flags, output));
  deciding(command, 'grant <id>', 'let the call be made')
    .option('--for-session', 'all equal calls of the session, not one call only')
    .option('--arguments <json>', 'with exactly these in place of those asked for, as a JSON object; secrets stay')
    .option('-c, --catalog <source>', 'with --arguments: tools, as `winnow serve` has them', collect)
    .action((id: string, flags: DecideFlags) => decide(id, { flags, output, verb: 'grant' }));
  deciding(command, 'refuse <id>', 'refuse the call').action((id: string, flags: DecideFlags) =>
    decide(id, { flags, output, verb: 'refuse' }),
  );
  return command;
}

function subcommand(parent: Command, name: string, description: string): Command {
  return addPolicyOption(addStoreOption(parent.command(name).description(description)))
    .option('--config <file>', 'configuration file (YAML or JSON)')
    .option('--json', 'print JSON');
}

function deciding(parent: Command, name: string, description: string): Command {
  return subcommand(parent, name, description)
    .requiredOption('--by <user>', 'who decides; the one who asks only under approvals.self: ask')
    .option('--role <role>', 'role of the one who decides; may be given more than once', collect)
    .option('--reason <text>', 'told to the one who asks');
}

async function listApprovals(flags: ListFlags, output: Output): Promise<void> {
  const { withStoredAgents } = await import('./open-store-commands.js');
  const { state, session, user, limit } = flags;
  const { approvals, texts } = await withStoredAgents(flags, async ({ router }) => {
    const listed = await router.approvals.list({ state, session, user, limit });
    return { approvals: listed, texts: await Promise.all(listed.map((one) => describeApproval(one, router))) };
  });
  print(output, flags, { value: approvals, text: texts.length === 0 ? 'no approvals' : texts.join('\n\n') });
}

async function requestApproval(flags: RequestFlags, output: Output): Promise<void> {
  const { withStoredAgents } = await import('./open-store-commands.js');
  const { session, tool, reason } = flags;
  const input = { tool, arguments: parseArguments(flags.arguments), ...(reason === undefined ? {} : { reason }) };
  const outcome = await withStoredAgents(
    flags,
    async ({ router }) => describeOutcome(await router.requestApproval(session, input), router),
    { needsTools: output },
  );
  printOutcome(outcome, flags, output);
}

interface Deciding {
  flags: DecideFlags;
  output: Output;
  verb: 'grant' | 'refuse';
}

async function decide(id: string, { flags, output, verb }: Deciding): Promise<void> {
  const { withStoredAgents } = await import('./open-store-commands.js');
  const { OPERATOR_ROLE } = await import('../agents/contracts.js');
  // Whoever may write the store is its operator.
  const by = { user: flags.by, roles: [...(flags.role ?? []), OPERATOR_ROLE] };
  const input = { by, ...(flags.reason === undefined ? {} : { reason: flags.reason }) };
  const edited = flags.arguments === undefined ? {} : { arguments: parseArguments(flags.arguments) };
  const granting = { ...input, ...edited, grant: flags.forSession ? ('session' as const) : ('once' as const) };
  const { outcome, text } = await withStoredAgents(
    flags,
    async ({ router }) => {
      const { approvals } = router;
      const decided =
        verb === 'grant'
          ? await approvals.grant(id, granting, 'terminal')
          : await approvals.refuse(id, input, 'terminal');
      return describeOutcome(decided, router);
    },
    flags.arguments === undefined ? {} : { needsTools: output },
  );
  const isOfOther = !outcome.ok && outcome.code === 'approval_mismatch';
  const advice = isOfOther && flags.policy === undefined && flags.config === undefined ? POLICY_ADVICE : '';
  printOutcome({ outcome, text: text + advice }, flags, output);
}

const POLICY_ADVICE = '\nIf the server has a policy, name it here: --policy FILE, or its --config.';

interface Described {
  outcome: ApprovalOutput;
  text: string;
}

function printOutcome({ outcome, text }: Described, flags: { json?: boolean }, output: Output): void {
  print(output, flags, { value: outcome, text });
  if (!outcome.ok) process.exitCode = ERROR_TABLE.invalid_request.exitCode;
}

type Trail = Pick<Router, 'audit'>;

async function describeOutcome(outcome: ApprovalOutput, trail: Trail): Promise<Described> {
  if (!outcome.ok) return { outcome, text: `${outcome.code}: ${outcome.reason}\n${outcome.next}` };
  return { outcome, text: await describeApproval(outcome.approval, trail) };
}

async function describeApproval(approval: Approval, trail: Trail): Promise<string> {
  const isOfGate = approval.decidedBy === undefined || approval.reason === (await reasonOfGate(approval, trail));
  const { renderArguments } = await import('./render-plan.js');
  const { tool, arguments: given, sources } = approval;
  const call = sources
    ? [printableLine(tool), ...renderArguments(approval)]
    : [printableLine(`${tool} ${JSON.stringify(given)}`)];
  const { renderReview } = await import('../agents/approvals/render-review.js');
  return renderApproval(approval, [...call, ...renderReview(approval).map(printableLine)], isOfGate);
}

const MOST_ENTRIES = 1_000;

/** Who decides without a word leaves the reason of the gate where theirs would be; the trail has what was asked. */
async function reasonOfGate({ id, session, tool, requestedAt }: Approval, trail: Trail): Promise<string | undefined> {
  const query = { session, tool, event: 'approval_requested', since: requestedAt, limit: MOST_ENTRIES } as const;
  return (await trail.audit(query)).find(({ approval }) => approval === id)?.reason;
}

function renderApproval(approval: Approval, call: readonly string[], isOfGate: boolean): string {
  const { id, state, expiresAt } = approval;
  const [user, reason] = [approval.user, approval.reason].map(printableLine);
  const decidedBy = approval.decidedBy && printableLine(approval.decidedBy);
  // Used, or over its time, after somebody else had granted it.
  const verb = state === 'granted' || state === 'refused' ? state : `${state}, granted`;
  const head = decidedBy === undefined ? state : `${verb} by ${decidedBy}`;
  return [
    isOfGate ? `${id}  ${head}` : `${id}  ${head}: ${reason}`,
    ...call.map((line) => `  ${line}`),
    isOfGate ? `  asked by ${user}: ${reason}` : `  asked by ${user}`,
    `  until ${expiresAt}`,
  ].join('\n');
}
