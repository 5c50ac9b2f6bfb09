/** What `winnow run` does: tools and what runs them, a session, the run, and what came of each step. */

import type { Agents } from '../agents/agents.js';
import type { Caller } from '../agents/contracts.js';
import { createLogger } from '../agents/logging/logger.js';
import { type PlanRun, type RunnablePlan, runnablePlanSchema } from '../agents/runs/plan-run.js';
import { resumePlanInputSchema, runPlanInputSchema } from '../agents/runs/plan-runs.js';
import { ERROR_TABLE, messageOf, WinnowError } from '../core/errors.js';
import { parseAs, parseInput } from '../core/parse.js';
import { openAgents } from './agents-setup.js';
import { flagsAgain } from './flags-again.js';
import { loadTools } from './load-tools.js';
import { type Output, print } from './output.js';
import { printableLine } from './printable.js';
import { logLevelOf, readConfig } from './read-config.js';
import { readJson } from './read-json.js';
import { renderArguments } from './render-plan.js';
import { renderTable } from './render-table.js';
import type { RunFlags } from './run-flags.js';
import { readText } from './shared-options.js';
import { createStopSignal } from './stop-signal.js';

/** @throws WinnowError `invalid_option`, `invalid_request`, `not_found`, `conflict`, `store_failed`, `cancelled` */
export async function runPlanFile(path: string | undefined, flags: RunFlags, output: Output): Promise<void> {
  if ((path === undefined) === (flags.resume === undefined))
    throw new WinnowError('invalid_option', 'Name a file with a plan, or a run by --resume: one of the two.');
  const interrupt = createStopSignal(['SIGINT']);
  const { agents, isTrial } = await open(flags, { output, signal: interrupt.signal });
  try {
    if (flags.resume !== undefined && isTrial)
      throw new WinnowError('invalid_option', '--resume: name the --store in which the run is kept.');
    const run = await start(agents, { path, flags, output, signal: interrupt.signal });
    const text = [renderRun(run), ...(await renderWaiting(run, agents)), ...nextSteps(run, flags, isTrial)];
    print(output, flags, { value: run, text: text.join('\n') });
    if (run.state !== 'done' && run.state !== 'planned') process.exitCode = ERROR_TABLE.plan_invalid.exitCode;
  } finally {
    interrupt.forget();
    await agents.close();
  }
}

async function open(flags: RunFlags, { output, signal }: { output: Output; signal: AbortSignal }) {
  const config = await readConfig(flags);
  const logger = createLogger({ level: logLevelOf(config) });
  const tools = await loadTools(flags, config, { stderr: output.stderr, logger, signal });
  return openAgents({ ...tools, flags, config, logger });
}

interface Start {
  path: string | undefined;
  flags: RunFlags;
  output: Output;
  signal: AbortSignal;
}

async function start(agents: Agents, { path, flags, output, signal }: Start): Promise<PlanRun> {
  const { plans, router } = agents;
  const ask = { signal, ...callerOf(flags) };
  if (flags.resume !== undefined) {
    const given = flags.secrets === undefined ? {} : await readJson('secrets', flags.secrets);
    const again = parseInput(resumePlanInputSchema, { repeat: flags.repeat, arguments: given });
    return plans.resume(flags.resume, again, ask);
  }
  const plan = await readPlan(path ?? '-');
  const session = flags.session ?? (await openSession(agents, { plan, flags, output }));
  const request = runPlanInputSchema.parse({ session, plan, dryRun: flags.dryRun, retries: flags.retries });
  const run = await plans.run(request, flags.session === undefined ? { signal } : ask);
  // Else it is still needed: an approval is bound to it.
  if (flags.session === undefined && (run.state === 'done' || run.state === 'planned'))
    await router.endSession(session);
  return run;
}

/** Who is named goes on in sessions and runs of their own only, as over HTTP. */
function callerOf({ user, role: roles = [] }: RunFlags): { caller?: Caller } {
  return user === undefined ? {} : { caller: { user, roles } };
}

async function readPlan(path: string): Promise<RunnablePlan> {
  const content = parseJson(path, await readFileOf(path));
  const problem = `The plan ${path} can't be run`;
  return parseAs(runnablePlanSchema, content, { code: 'invalid_request', problem, root: 'plan' });
}

async function readFileOf(path: string): Promise<string> {
  try {
    return await readText(path);
  } catch (cause) {
    throw new WinnowError('invalid_option', `The plan ${path} can't be read.`, { cause });
  }
}

function parseJson(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const message = messageOf(cause);
    throw new WinnowError('invalid_request', `The plan ${path} is not JSON: ${message}`, { cause });
  }
}

async function openSession(
  { router }: Agents,
  { plan, flags, output }: { plan: RunnablePlan; flags: RunFlags; output: Output },
): Promise<string> {
  const { user, role: roles = [] } = flags;
  const { id } = await router.createSession({ roles, ...(user === undefined ? {} : { user }) });
  const names = [...new Set(plan.steps.map(({ tool }) => tool))];
  // A dry run uses nothing: what it enabled would stand in the figures as enabled and never called.
  const rejected = flags.dryRun
    ? await router.wouldReject(id, { names })
    : (await router.enable(id, { names })).rejected;
  for (const { name, code, reason } of rejected)
    output.stderr.write(`not enabled: ${printableLine(`${name} (${code}): ${reason}`)}\n`);
  return id;
}

function renderRun({ id, state, plan, steps, notes }: PlanRun): string {
  const rows = plan.steps.map((step) => {
    const known = steps[step.id];
    const { output, failure, approval, arguments: given = step.arguments } = known ?? {};
    const waits = approval === undefined ? '' : ` (approval ${approval})`;
    const end = failure ? `${failure.reason}${waits}` : JSON.stringify(output ?? given);
    return [step.id, step.tool, known?.status ?? 'pending', shorten(end)];
  });
  const table = renderTable(['step', 'tool', 'state', 'result'], rows, { leftColumns: 4 });
  return [table, '', ...notes.map((note) => `note ${note}`), `run ${id}: ${state}`].join('\n');
}

/** What the steps that wait would do, as whoever approves them sees it: where their arguments come from, secrets masked. */
async function renderWaiting({ steps }: PlanRun, { router }: Agents): Promise<string[]> {
  const ids = Object.values(steps).flatMap(({ status, approval }) => (status === 'needs_approval' && approval) || []);
  const approvals = await Promise.all(ids.map((id) => router.approvals.get(id)));
  return approvals.flatMap((one) =>
    one?.sources ? [`${printableLine(one.tool)} waits for an approval with`, ...renderArguments(one)] : [],
  );
}

/** What to do so that it goes on; nothing where it does not wait for anybody. */
function nextSteps({ id, state, steps }: PlanRun, flags: RunFlags, isTrial: boolean): string[] {
  const known = Object.values(steps);
  if (known.some(({ failure }) => failure?.code === 'approval_not_allowed'))
    return ['Next: give --user, since somebody else approves what a user asks for.'];
  if (state !== 'paused') return [];
  if (isTrial) return ['Next: run it with --store, which keeps the run until somebody has approved the step.'];
  const approvals = known.flatMap(({ status, approval }) => (status === 'needs_approval' && approval) || []);
  const store = flagsAgain(flags, ['config', 'store', 'policy']);
  const all = store + flagsAgain(flags, ['catalog', 'toolsModule', 'workerModule', 'user', 'role']);
  const grants = approvals.map((approval) => `  winnow approvals grant ${approval} --by NAME${store}`);
  return ['Next:', ...grants, `  winnow run --resume ${id}${all}`];
}

const MAX_CHARACTERS = 160;

/** For the eye; --json has it whole. */
function shorten(text: string): string {
  const characters = [...text];
  return characters.length <= MAX_CHARACTERS ? text : `${characters.slice(0, MAX_CHARACTERS).join('')}…`;
}
