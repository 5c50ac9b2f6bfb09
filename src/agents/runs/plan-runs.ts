/** Runs plans in a session: each step passes the same gate as a call of the session's agent. */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Catalog } from '../../core/catalog/catalog.js';
import { createScope } from '../../core/catalog/scope.js';
import type { Risk, Tool } from '../../core/catalog/tool.js';
import { WinnowError } from '../../core/errors.js';
import { nearHint } from '../../core/nearest-name.js';
import type { Planner } from '../../core/planner.js';
import { createIssues, listNames, refuse, showName } from '../../core/planning/issues.js';
import { requestSchema } from '../../core/request.js';
import type { SessionView } from '../contracts.js';
import { type KeptPlans, keptPlanSchema, planNameSchema } from '../kept-plans.js';
import { findUndenied } from '../policy/decide.js';
import type { Policy } from '../policy/policy.js';
import type { Quotas } from '../quotas.js';
import { type ApprovalOutput, requestApprovalInputSchema } from '../records.js';
import type { AskOptions, Router } from '../router.js';
import type { Sandbox } from '../sandbox/sandbox.js';
import type { PlanRuns as StoredRuns } from '../store/sql/plan-runs.js';
import { secretsAmong } from './mask-secrets.js';
import type { AskedPlan } from './plan-approvals.js';
import { type ParsedPlan, type PlanRun, type PlanRunEvent, runnablePlanSchema } from './plan-run.js';
import { createReplanner } from './replanner.js';
import { type RunPlanOptions, resumePlan, runPlan } from './run-plan.js';
import { type ListedRun, listRuns, type RunQuery, type ShownRun, toShown } from './run-view.js';
import { createGatedRunner } from './tool-runner.js';

export const runPlanInputSchema = z
  .strictObject({
    session: z.string().min(1).max(128).describe('The session that calls the steps; their tools must be enabled.'),
    plan: runnablePlanSchema.optional().describe('As POST /v1/plan answers it; only goal, inputs and steps count.'),
    kept: z
      .strictObject({ name: planNameSchema, hash: keptPlanSchema.shape.hash.optional() })
      .optional()
      .describe("In place of `plan`: a kept plan of the session's user; with its hash, only that version."),
    approval: z
      .string()
      .min(1)
      .max(128)
      .optional()
      .describe('With `kept`: the approval of the whole plan with these inputs, which the run uses up.'),
    inputs: z
      .record(z.string(), z.unknown())
      .default({})
      .describe('Values of the inputs of the plan for this run, by name.'),
    dryRun: z.boolean().default(false).describe('Runs nothing: each call is shown, as far as known.'),
    retries: z.int().min(0).max(10).default(0).describe('How often a step is called again after a temporary failure.'),
    replanWithOutputs: z
      .boolean()
      .default(false)
      .describe('The prompt of the second plan then holds tool outputs. A hostile output may steer it.'),
    request: requestSchema
      .optional()
      .describe(
        'What the plan is for. With it, a failed run is planned again once. A new plan with other tools or values is `paused`.',
      ),
  })
  .refine(({ plan, kept }) => (plan === undefined) !== (kept === undefined), {
    path: ['plan'],
    error: 'give a plan, or the name of one under `kept`: one of the two',
  })
  .refine(({ kept, approval }) => kept !== undefined || approval === undefined, {
    path: ['approval'],
    error: 'a plan that is not kept has no approval as a whole',
  });
export type RunPlanRequest = z.output<typeof runPlanInputSchema>;

export const resumePlanInputSchema = z.strictObject({
  repeat: z.array(z.string()).max(1_000).default([]).describe('Steps of unknown outcome to run again.'),
  arguments: z
    .record(z.string(), z.record(z.string(), z.unknown()))
    .default({})
    .describe('Step id -> its secret arguments by name, which are not kept with a run. All else must stay as it is.'),
});
export type ResumePlanRequest = z.output<typeof resumePlanInputSchema>;

export const planApprovalInputSchema = z.strictObject({
  session: runPlanInputSchema.shape.session.describe('The session in which the plan will run.'),
  hash: keptPlanSchema.shape.hash.optional().describe('Hash of the plan: only that version.'),
  inputs: runPlanInputSchema.shape.inputs,
  reason: requestApprovalInputSchema.shape.reason,
});
export type PlanApprovalRequest = z.output<typeof planApprovalInputSchema>;

export interface RunOptions extends AskOptions {
  onEvent?: ((event: PlanRunEvent) => void) | undefined;
}

export interface ResumeAskOptions extends RunOptions {
  /** Limits access to runs of this session. Default: runs of all sessions that the caller may use. */
  session?: string | undefined;
}

interface PlanRunParts {
  router: Router;
  /** Plans that are kept under a name. Default: none. */
  kept?: Pick<KeptPlans, 'get'> | undefined;
  sandbox: Sandbox;
  catalog: () => Catalog;
  policy: () => Policy;
  store: StoredRuns;
  planner?: Pick<Planner, 'plan'> | undefined;
  /** What one run, and what all runs of a user keep, in bytes. */
  quotas?: Partial<Pick<Quotas, 'runBytes' | 'allRunBytes'>> | undefined;
  /** Of stored times. Default: the system clock. */
  clock?: (() => Date) | undefined;
}

/** A run of this process; `ended` always fulfils, also after a failure. */
interface Running {
  readonly stop: AbortController;
  readonly ended: Promise<unknown>;
}

export type PlanRuns = ReturnType<typeof createPlanRuns>;

/** Each method throws WinnowError `invalid_request`, `not_found`, `conflict`, `store_failed`. */
export function createPlanRuns(parts: PlanRunParts) {
  const { router, sandbox, catalog, policy, store, planner, kept, clock } = parts;
  const { runBytes: maxBytes, allRunBytes: maxAllBytes } = parts.quotas ?? {};
  const running = new Map<string, Running>();

  function optionsFor({ id, user, roles }: SessionView, { caller, signal, onEvent }: RunOptions): RunPlanOptions {
    const find = findUndenied(policy(), createScope(catalog())({ user }).byName, caller ?? { user, roles });
    const secretsOf = secretsAmong(find);
    const isRepeatable = (name: string) => {
      const tool = find(name);
      return tool !== undefined && sandbox.isRepeatable(tool, highestRisk(policy(), tool));
    };
    const run = createGatedRunner({ router, session: id, caller });
    return { run, isRepeatable, secretsOf, maxBytes, maxAllBytes, store, user, session: id, signal, onEvent, clock };
  }

  return {
    async run(asking: RunPlanRequest, ask: RunOptions = {}): Promise<PlanRun> {
      const { session: id, dryRun, retries, request, replanWithOutputs, approval, ...what } = asking;
      const session = await router.session(id, ask);
      const { user } = session;
      const found = what.plan ? { plan: what.plan } : await keptPlan(what.kept, user);
      const plan = fillInputs(found.plan, what.inputs);
      if (request && !planner) throw new WinnowError('invalid_request', 'request: nothing here can plan again.');
      const asked = request && { ...request, user, session: id };
      const replan =
        asked &&
        planner &&
        createReplanner(planningIn(id, planner, ask), asked, {
          withOutputs: replanWithOutputs,
          ...(ask.signal ? { signal: ask.signal } : {}),
        });
      // Last, so that an earlier refusal leaves the grant unused.
      if (approval !== undefined && 'hash' in found && !dryRun)
        await router.planApprovals.use(id, { ...found, plan }, approval, ask);
      const runId = randomUUID();
      const begun = stoppable(runId, ask, (signal) =>
        runPlan(plan, { ...optionsFor(session, ask), signal, runId, approval, dryRun, retry: { retries }, replan }),
      );
      return begun.catch(async (error) => {
        // Nothing has run.
        if (approval !== undefined && error.code === 'quota_exceeded') await router.planApprovals.giveBack(approval);
        throw error;
      });
    },

    /** Continues a run that waited for an approval, was cancelled or broke off. */
    async resume(
      id: string,
      { repeat, arguments: given }: ResumePlanRequest,
      ask: ResumeAskOptions = {},
    ): Promise<PlanRun> {
      const stored = await store.get(id);
      const isOther = ask.session !== undefined && ask.session !== stored?.session;
      if (!stored?.session || isOther) throw unknownRun(id);
      const session = await sessionOf(stored.session, id, ask);
      return stoppable(id, ask, (signal) =>
        resumePlan(id, { ...optionsFor(session, ask), signal, repeat, arguments: given }),
      );
    },

    /** Requests the approval of a kept plan as a whole, by its name. */
    async requestApproval(name: string, asking: PlanApprovalRequest, ask: AskOptions = {}): Promise<ApprovalOutput> {
      const { session: id, hash, inputs, reason } = asking;
      const { user } = await router.session(id, ask);
      const found = await keptPlan({ name, hash }, user);
      return router.planApprovals.ask(id, { ...found, plan: fillInputs(found.plan, inputs) }, { ...ask, reason });
    },

    /** Stops the steps of a run in this process, and waits until they have ended. It can be resumed. */
    async cancel(id: string, ask: AskOptions = {}): Promise<ShownRun> {
      const { session } = (await store.get(id)) ?? {};
      if (!session) throw unknownRun(id);
      await sessionOf(session, id, ask);
      const one = running.get(id);
      if (!one) throw new WinnowError('conflict', `The plan run "${id}" is not run by this server now.`);
      one.stop.abort();
      await one.ended;
      const shown = await show(id);
      if (!shown) throw unknownRun(id);
      return shown;
    },

    /** The stored run, for callers who may see the runs of its user. Undefined: there is none. */
    get: show,

    /** Newest first. */
    list: (query: RunQuery): Promise<ListedRun[]> => listRuns(store, query, new Date().toISOString()),
  };

  async function show(id: string): Promise<ShownRun | undefined> {
    const record = await store.get(id);
    return record && toShown(record, new Date().toISOString());
  }

  /** Makes the run cancellable. The store refuses a second start of the same run. */
  async function stoppable(
    id: string,
    { signal }: AskOptions,
    work: (signal: AbortSignal) => Promise<PlanRun>,
  ): Promise<PlanRun> {
    const stop = new AbortController();
    const ended = work(signal ? AbortSignal.any([signal, stop.signal]) : stop.signal);
    if (running.has(id)) return ended;
    running.set(id, { stop, ended: ended.catch(() => undefined) });
    try {
      return await ended;
    } finally {
      running.delete(id);
    }
  }

  /** @throws WinnowError `not_found`; `conflict` where it was changed since; `invalid_request` */
  async function keptPlan(named: RunPlanRequest['kept'], user: string | undefined): Promise<AskedPlan> {
    if (!named || !kept || user === undefined)
      throw new WinnowError('invalid_request', 'kept: only the session of a user has kept plans. Give a plan.');
    const { name, hash } = named;
    const found = await kept.get(user, name);
    if (hash === undefined || hash === found.hash) return { name, hash: found.hash, plan: found.plan };
    throw new WinnowError(
      'conflict',
      `The plan "${name}" was changed since: its hash is ${found.hash}. Read it again.`,
    );
  }

  /** A planner limited to the tools that the session may find; listed on demand, since few runs plan again. */
  function planningIn(id: string, { plan }: Pick<Planner, 'plan'>, ask: RunOptions): Planner['plan'] {
    return async (request, call) => {
      const list = await router.list(id, { mode: 'classic' }, ask);
      const names = list.ok ? list.tools.map(({ name }) => name) : [];
      const { allow } = request;
      return plan({ ...request, allow: allow ? names.filter((name) => allow.includes(name)) : names }, call);
    };
  }

  /** Runs in other users' sessions look missing. */
  async function sessionOf(session: string, run: string, ask: RunOptions): Promise<SessionView> {
    try {
      return await router.session(session, ask);
    } catch (error) {
      if (error instanceof WinnowError && error.code === 'not_found') throw unknownRun(run);
      throw error;
    }
  }
}

/** Of any call of the tool. One that a rule may ask an approval for counts as high: the next call would need another. */
function highestRisk(policy: Policy, tool: Tool): Risk {
  const { reachableRisks, rules } = policy.of(tool);
  if (rules.some(({ decision }) => decision === 'needs_approval')) return 'high';
  return reachableRisks.at(-1) ?? tool.risk;
}

function unknownRun(id: string): WinnowError {
  return new WinnowError('not_found', `There is no plan run "${id.slice(0, 80)}" in a session that is open to you.`);
}

const SHOWN_INPUTS = 10;

/** The plan with the inputs of one run. @throws WinnowError `invalid_request` naming each unknown or missing input */
function fillInputs(plan: ParsedPlan, given: RunPlanRequest['inputs']): ParsedPlan {
  const inputs = Object.entries(plan.inputs ?? {}).map(
    ([name, input]) => [name, Object.hasOwn(given, name) ? { ...input, value: given[name] } : input] as const,
  );
  const names = inputs.map(([name]) => name);
  const isKnown = new Set(names);
  const known = listNames(names, SHOWN_INPUTS) || 'none';
  const unknown = Object.keys(given).filter((name) => !isKnown.has(name));
  const missing = inputs.filter(([, { value }]) => value === undefined);
  const found = createIssues();
  found.addEach(
    unknown,
    (name) => `inputs: the plan has no input "${showName(name)}"; it has ${known}${nearHint(name, names)}`,
  );
  found.addEach(
    missing,
    ([name, { description }]) => `inputs: give a value for ${name}${description ? ` (${description})` : ''}`,
  );
  refuse(found);
  return plan.inputs ? { ...plan, inputs: Object.fromEntries(inputs) } : plan;
}
