/** `winnow run`: runs a plan step by step under the policy. A step that waits for an approval pauses the run. */
import type { Command } from 'commander';
import type { Agents } from '../../agents/agents.js';
import type { Caller, EnableOutput } from '../../agents/contracts.js';
import type { PlanRun, RunnablePlan } from '../../agents/runs/plan-run.js';
import { ERROR_TABLE, WinnowError } from '../../core/errors.js';
import { command, type FlagsOf, list, text, toggle, typed } from '../command.js';
import { CALLER, CATALOG, CONFIG, JSON_OUTPUT, STORE } from '../flags.js';
import { readJson } from '../input.js';
import { createStopSignal } from '../interrupts.js';
import { print, printableLine, renderTable, writeLine } from '../output.js';

const FLAGS = {
  ...CONFIG,
  ...CATALOG,
  ...STORE,
  ...CALLER,
  resume: text('--resume <run>', 'go on with this run of the store, in place of a plan'),
  repeat: list('--repeat <step>', 'with --resume: run this step of unknown outcome again'),
  secrets: text('--secrets <file>', 'with --resume: secret arguments as JSON, {"s1": {"pin": "…"}}; - reads stdin'),
  dryRun: toggle('--dry-run', 'show each call, run nothing; exit code 5 where the policy lets a tool not be enabled'),
  ...JSON_OUTPUT,
};
type Flags = FlagsOf<typeof FLAGS>;

export function runCommand(): Command {
  return command({
    name: 'run',
    words: '[plan]',
    about: 'run a plan, as winnow plan --json prints it; a step may wait for an approval; - reads it from stdin',
    flags: FLAGS,
    examples: [
      'winnow run plan.json -c winnow.yaml --user ann',
      'winnow run plan.json --catalog tools.json --set toolsModule=tools.mjs --dry-run',
      'winnow run --resume 5d52574b-5299-4a59-abf6-9c60a50027ad -c winnow.yaml --user ann',
    ],
    run: ([path], flags) => runPlan(path, flags),
  });
}

/** @throws WinnowError `invalid_option`, `invalid_request`, `not_found`, `conflict`, `store_failed`, `cancelled` */
async function runPlan(path: string | undefined, flags: Flags): Promise<void> {
  if ((path === undefined) === (flags.resume === undefined))
    throw new WinnowError('invalid_option', 'Name a file with a plan, or a run by --resume: one of the two.');
  const isResumed = flags.resume !== undefined;
  const misplaced = (isResumed ? (['dryRun'] as const) : (['repeat', 'secrets'] as const)).find(
    (name) => flags[name] !== undefined,
  );
  if (misplaced !== undefined) {
    throw new WinnowError(
      'invalid_option',
      `${typed(FLAGS[misplaced])} goes ${isResumed ? 'without' : 'with'} --resume.`,
    );
  }
  const interrupt = createStopSignal();
  const { agents, isTrial } = await open(flags, interrupt.signal);
  try {
    if (flags.resume !== undefined && isTrial)
      throw new WinnowError('invalid_option', '--resume: name the --store in which the run is kept.');
    const run = await start(agents, { path, flags, signal: interrupt.signal });
    const lines = [await renderRun(run), ...(await renderWaiting(run, agents)), ...nextSteps(run, flags, isTrial)];
    print(flags, { value: run, text: lines.join('\n') });
    if (run.state !== 'done' && run.state !== 'planned') process.exitCode = ERROR_TABLE.plan_invalid.exitCode;
  } finally {
    interrupt.forget();
    await agents.close();
  }
}

async function open(flags: Flags, signal: AbortSignal) {
  const { openAgents } = await import('../agents-setup.js');
  const { readTools } = await import('../set-up.js');
  return openAgents(await readTools(flags, { signal, stderr: process.stderr }));
}

async function start(
  agents: Agents,
  { path, flags, signal }: { path: string | undefined; flags: Flags; signal: AbortSignal },
): Promise<PlanRun> {
  const { resumePlanInputSchema, runPlanInputSchema } = await import('../../agents/runs/plan-runs.js');
  const { parseInput } = await import('../../core/parse.js');
  const { plans, router } = agents;
  if (flags.resume !== undefined) {
    const given = flags.secrets === undefined ? {} : await readJson('--secrets: the file', flags.secrets);
    const again = parseInput(resumePlanInputSchema, { repeat: flags.repeat, arguments: given });
    return plans.resume(flags.resume, again, { signal, ...callerOf(flags) });
  }
  const plan = await readPlan(path ?? '-');
  const session = await openSession(agents, plan, flags);
  if (flags.dryRun && reportRejected(await router.wouldReject(session, { names: toolsOf(plan) }, { signal })))
    process.exitCode = ERROR_TABLE.plan_invalid.exitCode;
  const request = runPlanInputSchema.parse({ session, plan, dryRun: flags.dryRun });
  const run = await plans.run(request, { signal });
  // A paused run still needs its session, since approvals are bound to it.
  if (run.state === 'done' || run.state === 'planned') await router.endSession(session);
  return run;
}

/** With --user, only that user's runs can be continued, as over HTTP. */
function callerOf({ user, role: roles = [] }: Flags): { caller?: Caller } {
  return user === undefined ? {} : { caller: { user, roles } };
}

async function readPlan(path: string): Promise<RunnablePlan> {
  const { runnablePlanSchema } = await import('../../agents/runs/plan-run.js');
  const { parseAs } = await import('../../core/parse.js');
  const problem = `The plan ${path} can't be run`;
  return parseAs(runnablePlanSchema, await readJson('The plan', path), {
    ...{ code: 'invalid_request', problem, root: 'plan' },
  });
}

async function openSession({ router }: Agents, plan: RunnablePlan, flags: Flags): Promise<string> {
  const { user, role: roles = [] } = flags;
  const { id } = await router.createSession({ roles, ...(user === undefined ? {} : { user }) });
  // A dry run enables nothing: telemetry would count tools as enabled and never called.
  if (!flags.dryRun) reportRejected((await router.enable(id, { names: toolsOf(plan) })).rejected);
  return id;
}

const toolsOf = ({ steps }: RunnablePlan) => [...new Set(steps.map(({ tool }) => tool))];

/** @returns whether any tool was rejected */
function reportRejected(rejected: EnableOutput['rejected']): boolean {
  for (const { name, code, reason } of rejected) writeLine(`not enabled: ${name} (${code}): ${reason}`);
  return rejected.length > 0;
}

async function renderRun({ id, state, plan, steps, notes }: PlanRun): Promise<string> {
  const { stepOf } = await import('../../agents/runs/plan-run.js');
  const planned = new Map(plan.steps.map((step) => [step.id, step]));
  const rows = Object.values(steps).map(({ id: step, status, output = null, failure, approval, ...known }) => {
    const { tool = '', arguments: written } = planned.get(stepOf(step)) ?? {};
    const waits = approval === undefined ? '' : ` (approval ${approval})`;
    const given = known.arguments ?? written;
    const end = failure ? `${failure.reason}${waits}` : shorten(JSON.stringify(status === 'done' ? output : given));
    return [step, tool, status, end];
  });
  const table = renderTable(['step', 'tool', 'state', 'result'], rows, { leftColumns: 4 });
  return [table, '', ...notes.map((note) => `note ${note}`), `run ${id}: ${state}`].join('\n');
}

/** The waiting steps as their approver sees them: arguments with their sources, secrets masked. */
async function renderWaiting({ steps }: PlanRun, { router }: Agents): Promise<string[]> {
  const { renderArguments } = await import('../render-result.js');
  const ids = Object.values(steps).flatMap(({ status, approval }) => (status === 'needs_approval' && approval) || []);
  const approvals = await Promise.all(ids.map((id) => router.approvals.get(id)));
  return approvals.flatMap((one) =>
    one ? [`${printableLine(one.tool)} waits for an approval with`, ...renderArguments(one)] : [],
  );
}

/** How to continue the run; empty where it waits for no decision. */
function nextSteps({ id, state, steps }: PlanRun, flags: Flags, isTrial: boolean): string[] {
  const known = Object.values(steps);
  if (known.some(({ failure }) => failure?.code === 'approval_not_allowed'))
    return ['Next: give --user, for whom the step can be approved.'];
  if (state !== 'paused') return [];
  if (isTrial) return ['Next: run it with --store, which keeps the run until somebody has approved the step.'];
  const approvals = known.flatMap(({ status, approval }) => (status === 'needs_approval' && approval) || []);
  const store = flagsAgain(flags, ['config', 'store', 'set']);
  const all = flagsAgain(flags, ['config', 'store', 'catalog', 'set', 'user', 'role']);
  const grants = approvals.map((approval) => `  winnow approvals grant ${approval} --by NAME${store}`);
  return ['Next:', ...grants, `  winnow run --resume ${id}${all}`];
}

type TypedFlag = 'config' | 'set' | 'store' | 'catalog' | 'user' | 'role';

/** The given flags, quoted for a shell, without URLs that hold a password. Empty where none was given. */
export function flagsAgain(flags: Pick<Flags, TypedFlag>, names: readonly TypedFlag[]): string {
  const given = { ...flags, set: Object.entries(flags.set ?? {}).map(([key, value]) => `${key}=${value}`) };
  return names
    .flatMap((name) => [given[name] ?? []].flat().map((value) => [name, value] as const))
    .filter(([, value]) => !(URL.canParse(value) && new URL(value).password !== ''))
    .map(([name, value]) => ` ${typed(FLAGS[name])} ${quoted(value)}`)
    .join('');
}

function quoted(value: string): string {
  return /^[\w@%+=:,./-]+$/u.test(value) ? value : `'${value.replaceAll("'", String.raw`'\''`)}'`;
}

const MAX_CHARACTERS = 160;

/** Shortens text for people; --json shows it whole. */
function shorten(end: string): string {
  const characters = [...end];
  return characters.length <= MAX_CHARACTERS ? end : `${characters.slice(0, MAX_CHARACTERS).join('')}…`;
}
