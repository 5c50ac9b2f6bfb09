/**
 * Runs a plan: each step as soon as its dependencies are done, and none that depends on a failed step. Completed steps
 * are never repeated; steps that may have taken effect only where that is safe.
 */
import { randomUUID } from 'node:crypto';
import PQueue from 'p-queue';
import { toWinnowError, WinnowError } from '../../core/errors.js';
import { runInSlices } from '../../core/in-slices.js';
import { type GivenAgain, requireSecrets } from './fill-in.js';
import { planDifferences } from './plan-differences.js';
import { isOpen, type PlanRun, type RunnablePlan, type RunState, type StepState, stepOf } from './plan-run.js';
import { resolveAhead } from './resolve-arguments.js';
import { MAX_ITEMS_OF_RUN, runControlled } from './run-controlled.js';
import { createRecord, DEFAULT_MAX_BYTES, loadRecord, type RecordOptions, type RunRecord } from './run-record.js';
import { isOutcomeOpen, type RetryOptions, type RunStep, type StepParts, unknownOutcome } from './run-step.js';
import { orderSteps, referencesOf } from './step-order.js';

export interface RunPlanOptions extends Omit<RecordOptions, 'onLost'> {
  /** Calls a tool; see `createGatedRunner` and `createToolRunner`. */
  run: RunStep;
  /** Whether a call may be made twice. Default: never. */
  isRepeatable?: ((tool: string) => boolean) | undefined;
  /** Id of a new run. Default: a random one. */
  runId?: string | undefined;
  retry?: RetryOptions | undefined;
  /** Maximum of steps that run at once; the sandbox has its own limit. Default: 8. */
  concurrency?: number | undefined;
  /** Runs nothing: the steps are `planned`, with the arguments that are known. Default: false. */
  dryRun?: boolean | undefined;
  /** Stops running steps and starts no more; the run is then `cancelled` and can be resumed. */
  signal?: AbortSignal | undefined;
  /**
   * Called once, when a step has failed and no other can run; undefined: the run stays failed. A plan that differs
   * is not run, unless it only leaves steps out: the run is `paused` until somebody resumes it.
   */
  replan?: ((soFar: PlanRun, failed: StepState) => Promise<RunnablePlan | undefined>) | undefined;
}

export interface ResumeOptions extends Omit<RunPlanOptions, 'runId' | 'dryRun'> {
  /** Steps of unknown outcome to run again. */
  repeat?: readonly string[] | undefined;
  /** Step id -> secret arguments, which the store does not keep. */
  arguments?: GivenAgain | undefined;
}

const DEFAULT_CONCURRENCY = 8;

/**
 * Runs a plan step by step; steps of one level run side by side.
 * @throws WinnowError `invalid_request` for a plan that can't be run; `store_failed`
 * @example
 * const run = await runPlan(plan, { run: createGatedRunner({ router, session }), store: store.planRuns });
 */
export async function runPlan(plan: RunnablePlan, options: RunPlanOptions): Promise<PlanRun> {
  const ordered = orderSteps(plan);
  const run: PlanRun = {
    id: options.runId ?? randomUUID(),
    state: options.dryRun ? 'planned' : 'running',
    plan: ordered.plan,
    steps: {},
    notes: [],
  };
  if (options.dryRun) return showPlan(run, options);
  return drive((recordOptions) => createRecord(run, recordOptions), options);
}

/**
 * Continues a stored run, or one that `runPlan` returned: completed steps stay, the rest is run.
 * @throws WinnowError `not_found`, `conflict` while another process runs it, `invalid_request`, `store_failed`
 * @example
 * const run = await resumePlan('5d52574b-…', { run: createGatedRunner({ router, session }), store: store.planRuns });
 */
export async function resumePlan(run: string | PlanRun, options: ResumeOptions): Promise<PlanRun> {
  const open = (recordOptions: RecordOptions) =>
    typeof run === 'string'
      ? loadRecord(run, recordOptions)
      : createRecord({ ...run, state: 'running' }, { ...recordOptions, store: undefined });
  return drive(open, options, async (record) => {
    record.fillIn(options.arguments ?? {});
    await settleInterrupted(record, options);
    requireSecrets(record.plan.steps.filter(({ id }) => isOpen(record.states.get(id))));
  });
}

type Open = (options: RecordOptions) => Promise<RunRecord>;

async function drive(
  open: Open,
  options: RunPlanOptions,
  prepare?: (record: RunRecord) => Promise<void>,
): Promise<PlanRun> {
  const stop = new AbortController();
  const signal = options.signal ? AbortSignal.any([options.signal, stop.signal]) : stop.signal;
  const record = await open({ ...options, onLost: () => stop.abort() });
  try {
    await record.setState('running');
    await prepare?.(record);
    const { run, isRepeatable = () => false, retry = {}, user, session, concurrency = DEFAULT_CONCURRENCY } = options;
    const items = MAX_ITEMS_OF_RUN - [...record.states.keys()].filter((id) => stepOf(id) !== id).length;
    const parts = { run, isRepeatable, retry, user, session, record, signal, room: { items } };
    await runSteps(parts, concurrency, stop);
    const next = await replanOnce(record, options, signal);
    if (next === 'run') await runSteps(parts, concurrency, stop);
    await record.setState(next === 'look' ? 'paused' : stateOf(record.states, signal));
    return record.toRun();
  } finally {
    await record.release();
  }
}

/** Waits for all steps, even when the store fails meanwhile: none may run on unobserved. */
async function runSteps(parts: StepParts, concurrency: number, stop: AbortController): Promise<void> {
  const { record, signal } = parts;
  const { plan, needs } = orderSteps(record.plan);
  const queue = new PQueue({ concurrency });
  const byId = new Map(plan.steps.map((step) => [step.id, step]));
  const started = new Map<string, Promise<void>>();

  function start(id: string): Promise<void> {
    let running = started.get(id);
    if (!running) {
      running = settle(id).catch((error) => {
        stop.abort();
        throw error;
      });
      started.set(id, running);
    }
    return running;
  }

  async function settle(id: string): Promise<void> {
    const needed = [...(needs.get(id) ?? [])];
    await Promise.all(needed.map(start));
    const step = byId.get(id);
    const state = record.states.get(id);
    if (!step || !state || !isOpen(state) || signal.aborted) return;
    const others = needed.flatMap((other) => record.states.get(other) ?? []);
    const broken = others.filter(({ status }) => isBroken(status));
    if (broken.length > 0) {
      const which = broken.map((other) => other.id).join(', ');
      const next = 'See why the step before it failed.';
      const failure = { code: 'blocked', reason: `It needs ${which}, which is not done.`, next };
      return record.setStep({ ...state, status: 'blocked', failure });
    }
    if (others.some(({ status }) => status !== 'done' && status !== 'skipped')) return;
    const absent = referencesOf(step).find((one) => record.states.get(one.step)?.status === 'skipped');
    if (absent !== undefined)
      return record.setStep({ ...state, status: 'skipped', notes: [`it refers to ${absent.step}, which was skipped`] });
    await runControlled(step, parts, (work) => queue.add(work));
  }

  const ended = await Promise.allSettled(plan.steps.map(({ id }) => start(id)));
  const failed = ended.find((one) => one.status === 'rejected');
  if (failed) throw failed.reason;
}

function isBroken(status: StepState['status']): boolean {
  return status === 'failed' || status === 'unknown' || status === 'blocked';
}

function stateOf(states: ReadonlyMap<string, StepState>, signal: AbortSignal): RunState {
  const statuses = [...states.values()].map(({ status }) => status);
  if (statuses.every((status) => status === 'done' || status === 'skipped')) return 'done';
  if (signal.aborted) return 'cancelled';
  return statuses.includes('needs_approval') ? 'paused' : 'failed';
}

/** Tries for a new plan: to be run, or reviewed first. */
async function replanOnce(
  record: RunRecord,
  { replan }: RunPlanOptions,
  signal: AbortSignal,
): Promise<'run' | 'look' | 'none'> {
  if (!replan || record.earlier || stateOf(record.states, signal) !== 'failed') return 'none';
  const broken = [...record.states.values()].filter(({ status }) => status === 'failed' || status === 'unknown');
  // For a loop, the failed item says why.
  const failed = broken.find((state) => state.arguments !== undefined) ?? broken[0];
  if (!failed) return 'none';
  try {
    const plan = await replan(record.toRun(), failed);
    if (!plan) return 'none';
    const { inputs } = record.plan;
    const ordered = orderSteps({ ...plan, ...(inputs ? { inputs } : {}) });
    const added = planDifferences(ordered.plan, record.toRun());
    await record.replace(ordered.plan);
    if (added.length === 0) return 'run';
    record.note(`the new plan differs from the first one, look at it and resume: ${added.join('; ')}`);
    return 'look';
  } catch (error) {
    if (error instanceof WinnowError && (error.code === 'store_failed' || error.code === 'conflict')) throw error;
    // Only these: other details may name the model's server.
    const { code, message } = toWinnowError(error);
    record.note(`planning again failed: ${code === 'invalid_request' ? message : code}`);
    return 'none';
  }
}

/** Steps that an interrupted run left behind: repeated, or marked as unknown. */
async function settleInterrupted(record: RunRecord, { isRepeatable, repeat = [] }: ResumeOptions): Promise<void> {
  const strangers = repeat.filter((id) => !record.states.has(id));
  if (strangers.length > 0) {
    const known = [...record.states.keys()].join(', ');
    throw new WinnowError('invalid_request', `repeat: ${strangers.join(', ')}: no step of the plan; it has ${known}.`);
  }
  const toolOf = new Map(record.plan.steps.map(({ id, tool }) => [id, tool]));
  for (const state of [...record.states.values()]) {
    if (state.status === 'done' || state.status === 'skipped' || isOpen(state)) continue;
    const mayRepeat = repeat.includes(state.id) || isRepeatable?.(toolOf.get(stepOf(state.id)) ?? '') === true;
    if (!isOutcomeOpen(state) || mayRepeat) {
      const { id, attempts } = state;
      await record.setStep({ id, attempts, status: 'pending' });
    } else if (state.status !== 'unknown') {
      const how = state.failure ? `it ended with ${state.failure.code}` : 'it was running when the run was interrupted';
      await record.setStep({ ...state, ...unknownOutcome(`The step may have taken effect: ${how}.`) });
    }
  }
}

/** Each call as it would be made; references to missing results stay unresolved. */
async function showPlan(
  run: PlanRun,
  { maxBytes = DEFAULT_MAX_BYTES }: Pick<RunPlanOptions, 'maxBytes'>,
): Promise<PlanRun> {
  const resolved = await runInSlices(resolveAhead(run.plan, maxBytes));
  const steps = resolved.map(({ step: { id }, unresolved, issues, sources, ...one }): [string, StepState] => {
    const notes = issues.length > 0 ? { notes: [...issues] } : {};
    const known = { arguments: one.arguments, ...(sources ? { sources } : {}) };
    const state = { id, status: 'planned' as const, attempts: 0, ...known };
    return [id, { ...state, ...notes, ...(unresolved.length > 0 ? { unresolved: [...unresolved] } : {}) }];
  });
  return { ...run, steps: Object.fromEntries(steps) };
}
