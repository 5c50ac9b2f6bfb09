/**
 * The state of a run while it runs: every change goes to the store first, is an event then, and is seen last. So
 * what an event told is true after a crash, too.
 */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { messageOf, WinnowError } from '../../core/errors.js';
import { tellListener } from '../../core/trace.js';
import type { PlanRunRecord, PlanRuns } from '../../store/store.js';
import {
  type ParsedPlan,
  type PlanRun,
  type PlanRunEvent,
  planRunSchema,
  type RunState,
  type StepState,
  stepStateSchema,
} from './plan-run.js';

export interface RunRecord {
  readonly id: string;
  readonly states: ReadonlyMap<string, StepState>;
  readonly earlier: PlanRun['earlier'];
  readonly plan: ParsedPlan;
  setStep(state: StepState): Promise<void>;
  setState(state: RunState): Promise<void>;
  /** The new plan takes the place of the old one, which is kept as `earlier`. */
  replace(plan: ParsedPlan): Promise<void>;
  note(text: string): void;
  emit(event: PlanRunEvent): void;
  toRun(): PlanRun;
  /** Gives the run back, so that it can be resumed elsewhere at once. */
  release(): Promise<void>;
}

export interface RecordOptions {
  readonly store?: PlanRuns | undefined;
  readonly user?: string | undefined;
  readonly session?: string | undefined;
  readonly onEvent?: ((event: PlanRunEvent) => void) | undefined;
  /** For how long a process that ended without a word keeps a run, in milliseconds. */
  readonly leaseMs: number;
  /** Another process has taken the run: nothing more may be done or written. */
  readonly onLost: () => void;
}

/** What stands in the column of the plan. Steps of an older generation are those of the plan before. */
const storedPlanSchema = z.object({
  plan: planRunSchema.shape.plan,
  generation: z.int().min(0),
  earlier: planRunSchema.shape.earlier,
});
const storedStepSchema = stepStateSchema.extend({ generation: z.int().min(0) });

const now = () => new Date().toISOString();
const pending = (id: string): StepState => ({ id, status: 'pending', attempts: 0 });

interface Start {
  readonly run: PlanRun;
  readonly generation: number;
}

/** A new run, kept from its first moment. */
export async function createRecord(run: PlanRun, options: RecordOptions): Promise<RunRecord> {
  const { store, user, session } = options;
  const at = now();
  const plan = { plan: run.plan, generation: 0, earlier: run.earlier };
  await store?.create({ id: run.id, plan, state: run.state, steps: {}, createdAt: at, updatedAt: at, user, session });
  return startRecord({ run, generation: 0 }, options);
}

/** @throws WinnowError `not_found`; `conflict` while another process runs it */
export async function loadRecord(id: string, options: RecordOptions): Promise<RunRecord> {
  const found = await options.store?.get(id);
  // Whose run it is must fit, and a wrong user learns no more than that there is none.
  if (!found || found.user !== options.user) throw new WinnowError('not_found', `There is no plan run "${id}".`);
  return startRecord(parseStored(found), options, true);
}

function parseStored(record: PlanRunRecord): Start {
  const { plan, generation, earlier } = storedPlanSchema.parse(record.plan);
  const stored = Object.values(record.steps).map((state) => storedStepSchema.parse(state));
  const current = stored.filter((state) => state.generation === generation);
  const steps = Object.fromEntries(current.map(({ generation: _, ...state }) => [state.id, state]));
  return { run: { id: record.id, state: 'running', plan, steps, earlier, notes: [] }, generation };
}

async function startRecord(start: Start, options: RecordOptions, isLoaded = false): Promise<RunRecord> {
  const lease = await takeLease(start.run.id, options);
  // Read again under the lease: the process that had it may have gone on until a moment ago.
  const fresh = isLoaded ? await options.store?.get(start.run.id) : undefined;
  return buildRecord(fresh ? parseStored(fresh) : start, lease, options);
}

function buildRecord({ run, generation: first }: Start, lease: Lease, options: RecordOptions): RunRecord {
  const { store, onEvent } = options;
  const { id } = run;
  const notes = [...run.notes];
  let { plan, earlier, state } = run;
  let generation = first;
  let states = new Map(plan.steps.map((step) => [step.id, run.steps[step.id] ?? pending(step.id)]));
  const emit = (event: PlanRunEvent) =>
    tellListener(event, onEvent, (error) => void notes.push(`onEvent failed: ${messageOf(error)}`));
  return {
    id,
    get states() {
      return states;
    },
    get plan() {
      return plan;
    },
    get earlier() {
      return earlier;
    },
    emit,
    note: (text) => void notes.push(text),
    async setStep(step) {
      lease.assertHeld();
      await store?.setStep(id, { id: step.id, state: { ...step, generation }, at: now() });
      states.set(step.id, step);
      emit({ type: 'step', run: id, step });
    },
    async setState(next) {
      lease.assertHeld();
      await store?.setState(id, { state: next, at: now() });
      state = next;
      emit({ type: 'run', run: id, state });
    },
    async replace(next) {
      lease.assertHeld();
      const before = { plan, steps: Object.fromEntries(states) };
      const stored = { plan: next, generation: generation + 1, earlier: before };
      await store?.setState(id, { state: 'running', plan: stored, at: now() });
      generation += 1;
      earlier = before;
      plan = next;
      states = new Map(plan.steps.map((step) => [step.id, pending(step.id)]));
      emit({ type: 'replanned', run: id, plan });
    },
    toRun: () => ({ id, state, plan, steps: Object.fromEntries(states), notes, ...(earlier ? { earlier } : {}) }),
    release: lease.release,
  };
}

interface Lease {
  assertHeld(): void;
  release(): Promise<void>;
}

/** So many times within its life a lease is renewed. */
const RENEWALS = 3;

async function takeLease(id: string, { store, leaseMs, onLost }: RecordOptions): Promise<Lease> {
  const owner = randomUUID();
  let isLost = false;
  const claim = (durationMs: number) => {
    const at = new Date();
    const until = new Date(at.getTime() + durationMs).toISOString();
    return store?.claim(id, { owner, at: at.toISOString(), until }) ?? Promise.resolve(true);
  };
  const conflict = () =>
    new WinnowError('conflict', `The plan run "${id}" is run by another process. Wait until it ends.`);
  if (!(await claim(leaseMs))) throw conflict();
  const lose = () => {
    isLost = true;
    onLost();
  };
  const renew = () => void claim(leaseMs).then((isOurs) => (isOurs ? undefined : lose()), lose);
  const timer = store && setInterval(renew, leaseMs / RENEWALS).unref();
  return {
    assertHeld() {
      if (isLost) throw conflict();
    },
    async release() {
      clearInterval(timer);
      if (!isLost) await claim(0);
    },
  };
}
