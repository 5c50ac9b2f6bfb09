/**
 * The state of a run in progress. Every change goes to the store first, then to events, and last to readers. So events
 * stay true after a crash.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { z } from 'zod';
import { fillDefaults } from '../../core/catalog/schema/paths.js';
import { messageOf, WinnowError } from '../../core/errors.js';
import { oncePer } from '../../core/kept.js';
import { callListener } from '../../core/trace.js';
import { instantSchema } from '../contracts.js';
import { overQuota } from '../quotas.js';
import type { PlanRunRecord } from '../store/store.js';
import { fillIn, type GivenAgain } from './fill-in.js';
import { createMasking, type SecretsOf } from './mask-secrets.js';
import {
  type ParsedPlan,
  type PlanRun,
  type PlanRunEvent,
  planRunSchema,
  type RunState,
  type StepState,
  stepStateSchema,
  summaryOf,
} from './plan-run.js';
import { scopeOf } from './resolve-arguments.js';
import { type Lease, type LeaseOptions, takeLease } from './run-lease.js';

export interface RecordOptions extends LeaseOptions {
  user?: string | undefined;
  session?: string | undefined;
  /** The approval of a new run's plan as a whole. Default: each step that needs one requests its own. */
  approval?: string | undefined;
  onEvent?: ((event: PlanRunEvent) => void) | undefined;
  /** The secrets of a tool, which are masked in the store. Default: none. */
  secretsOf?: SecretsOf | undefined;
  /**
   * Limit of all arguments and results that the run keeps, in bytes of JSON. Further results are left out, with a note,
   * and further arguments fail their step. Default: 16 MiB.
   */
  maxBytes?: number | undefined;
  /** Limit of what all runs of the user take in the store, in bytes. Default: no limit. */
  maxAllBytes?: number | undefined;
  /** For stored times; leases always use the system clock. Default: the system clock. */
  clock?: (() => Date) | undefined;
}

/** Contents of the plan column. Steps of an older generation belong to the earlier plan. */
const storedPlanSchema = z.object({
  plan: planRunSchema.shape.plan,
  generation: z.int().min(0),
  earlier: planRunSchema.shape.earlier,
  notes: planRunSchema.shape.notes.default([]),
  approval: z.string().optional(),
});
const storedStepSchema = stepStateSchema.extend({
  generation: z.int().min(0),
  updatedAt: instantSchema.optional().describe('When it entered this state.'),
});
/** A stored step. */
export const keptStepSchema = storedStepSchema.omit({ generation: true });

export const DEFAULT_MAX_BYTES = 16 * 1024 * 1024;
const machineClock = () => new Date();
const unknown: SecretsOf = () => undefined;
const pending = (id: string): StepState => ({ id, status: 'pending', attempts: 0 });

interface Start {
  readonly run: PlanRun;
  readonly generation: number;
  readonly approval?: string | undefined;
  /** Knows the secrets of the plan. Default: a new one, which learns them. */
  readonly masking?: Masking | undefined;
}

type Masking = ReturnType<typeof createMasking>;
type Generation = Pick<z.infer<typeof storedPlanSchema>, 'plan' | 'generation' | 'earlier' | 'approval'>;

/** Creates a run, stored from the start. @throws WinnowError `quota_exceeded` where its user's runs have no room left */
export async function createRecord(run: PlanRun, options: RecordOptions): Promise<RunRecord> {
  const { store, user, session, approval, secretsOf = unknown, maxAllBytes, clock = machineClock } = options;
  const at = clock().toISOString();
  const masking = createMasking(secretsOf);
  const hidden = masking.plan(run.plan);
  const plan = { plan: hidden, generation: 0, earlier: run.earlier, notes: run.notes, approval };
  const record = { id: run.id, state: run.state, steps: {}, createdAt: at, updatedAt: at, user, session };
  const isKept = await store?.create({ ...record, plan, summary: summaryOf(hidden) }, maxAllBytes);
  if (isKept === false) throw overAll(maxAllBytes);
  return startRecord({ run, generation: 0, approval, masking }, options);
}

/** @throws WinnowError `not_found`; `conflict` while another process runs it; `quota_exceeded` as `createRecord` */
export async function loadRecord(id: string, options: RecordOptions): Promise<RunRecord> {
  const { store, user, maxAllBytes = Number.POSITIVE_INFINITY } = options;
  const found = await store?.get(id);
  // To another user the run must look missing.
  if (!found || found.user !== user) throw new WinnowError('not_found', `There is no plan run "${id}".`);
  // It may grow, too.
  if (user !== undefined && ((await store?.bytesOf(user)) ?? 0) > maxAllBytes) throw overAll(maxAllBytes);
  return startRecord(toStart(found), options, true);
}

function overAll(limit = 0): WinnowError {
  const next = 'Wait until older runs are gone (retention.runs), or ask the operator for a higher limit.';
  return overQuota('allRunBytes', limit, { next });
}

type StoredRun = z.output<typeof storedPlanSchema> & { readonly steps: Record<string, KeptStep> };
type KeptStep = z.output<typeof keptStepSchema>;

/** Parses a stored run, with the steps of its current plan. */
export function parseStored(record: Pick<PlanRunRecord, 'plan' | 'steps'>): StoredRun {
  const stored = storedPlanSchema.parse(record.plan);
  const states = Object.values(record.steps).map((state) => storedStepSchema.parse(state));
  const current = states.filter(({ generation }) => generation === stored.generation);
  return { ...stored, steps: Object.fromEntries(current.map(({ generation: _, ...state }) => [state.id, state])) };
}

function toStart(record: PlanRunRecord): Start {
  const { plan, generation, earlier, notes, approval, steps: kept } = parseStored(record);
  const steps = Object.fromEntries(Object.entries(kept).map(([id, { updatedAt: _, ...state }]) => [id, state]));
  return { run: { id: record.id, state: 'running', plan, steps, earlier, notes }, generation, approval };
}

async function startRecord(start: Start, options: RecordOptions, isLoaded = false): Promise<RunRecord> {
  const lease = await takeLease(start.run.id, options);
  // Read again under the lease: the previous process may have written until just now.
  const fresh = isLoaded ? await options.store?.get(start.run.id) : undefined;
  return buildRecord(fresh ? toStart(fresh) : start, lease, options);
}

export type RunRecord = ReturnType<typeof buildRecord>;

function buildRecord(start: Start, lease: Lease, options: RecordOptions) {
  const { run, generation: first, approval: granted } = start;
  const { store, onEvent, secretsOf = unknown, maxBytes = DEFAULT_MAX_BYTES, clock = machineClock } = options;
  const now = () => clock().toISOString();
  const { id } = run;
  const notes = [...run.notes];
  let notesKept = notes.length;
  let { plan, earlier, state } = run;
  let generation = first;
  let approval = granted;
  let states = new Map([...plan.steps.map(({ id }) => [id, pending(id)] as const), ...Object.entries(run.steps)]);
  const masking = start.masking ?? createMasking(secretsOf);
  if (!start.masking) masking.learn(plan);
  /** Contents of the columns of the plan. */
  const toStored = ({ plan: next, generation, earlier: before, approval }: Generation) => {
    const plan = masking.plan(next);
    const earlier = before && {
      plan: masking.plan(before.plan),
      steps: Object.fromEntries(Object.entries(before.steps).map(([id, one]) => [id, masking.state(one, before.plan)])),
    };
    const stored = { plan, generation, earlier, notes: masking.value(notes, ''), approval };
    return { plan: stored, summary: summaryOf(plan) };
  };
  let turn: Promise<void> = Promise.resolve();
  /** One change in each turn of the event loop. SQLite answers at once: a loop would let no other request in between. */
  function ownTurn(): Promise<void> {
    turn = turn.then(() => nextTurn());
    return turn;
  }
  /** Bytes that the run has left for this step. The result of a loop repeats those of its items. */
  function roomOf(id: string): number {
    const loops = loopsOf(plan);
    const others = [...states.values()].filter((state) => state.id !== id && !loops.has(state.id));
    return others.reduce((room, state) => room - bytesOf(state), maxBytes);
  }
  const note = (text: string) => void (notes.includes(text) || notes.push(text));
  const emit = (event: PlanRunEvent) =>
    callListener(event, onEvent, (error) => note(`onEvent failed: ${messageOf(error)}`));
  return {
    id,
    get states(): ReadonlyMap<string, StepState> {
      return states;
    },
    get plan() {
      return plan;
    },
    /** The approval of the plan as a whole that this run uses; a new plan has none. */
    get approval() {
      return approval;
    },
    get earlier() {
      return earlier;
    },
    emit,
    note,
    roomOf,
    /** A value of a step of this tool, masked as for the store. */
    hide: (tool: string, value: unknown) => masking.value(value, tool),
    /** Arguments as this tool gets them: with the defaults of its schema. */
    filled: (tool: string, given: unknown) => fillDefaults(secretsOf(tool)?.input ?? {}, given) ?? given,
    /** Puts secrets back into the plan, in this process only. @throws WinnowError `invalid_request` */
    fillIn(given: GivenAgain): void {
      const filled = fillIn(plan, given, scopeOf({ states, plan }));
      masking.remember(filled.secrets);
      masking.learn(filled.plan);
      plan = filled.plan;
    },
    async setStep(given: StepState): Promise<void> {
      if (store) await ownTurn();
      const step = loopsOf(plan).has(given.id) ? given : withinRoom(given, roomOf(given.id), maxBytes);
      const at = now();
      const kept = { id: step.id, state: { ...masking.state(step, plan), generation, updatedAt: at }, at };
      await lease.write((runs, own) => runs.setStep(own, kept));
      states.set(step.id, step);
      emit({ type: 'step', run: id, step });
    },
    async setState(next: RunState): Promise<void> {
      const noted = notes.length > notesKept ? toStored({ plan, generation, earlier, approval }) : {};
      notesKept = notes.length;
      await lease.write((runs, own) => runs.setState(own, { state: next, ...noted, at: now() }));
      state = next;
      emit({ type: 'run', run: id, state });
    },
    /** Replaces the plan; the old one is kept as `earlier`. */
    async replace(next: ParsedPlan): Promise<void> {
      const before = { plan, steps: Object.fromEntries(states) };
      const stored = toStored({ plan: next, generation: generation + 1, earlier: before });
      await lease.write((runs, own) => runs.setState(own, { state: 'running', ...stored, at: now() }));
      generation += 1;
      approval = undefined;
      earlier = before;
      plan = next;
      states = new Map(plan.steps.map((step) => [step.id, pending(step.id)]));
      emit({ type: 'replanned', run: id, plan });
    },
    toRun: (): PlanRun => ({
      id,
      state,
      plan,
      steps: Object.fromEntries(states),
      notes,
      ...(earlier ? { earlier } : {}),
    }),
    /** Whether this process still has the run, by the store. @throws WinnowError `conflict` where it has not */
    confirm: lease.confirm,
    /** Releases the run, so that it can be resumed elsewhere at once. */
    release: lease.release,
  };
}

/** Ids of the steps with `each`, without those of their items. */
function loopsOf({ steps }: ParsedPlan): ReadonlySet<string> {
  return new Set(steps.flatMap(({ id, each }) => (each === undefined ? [] : [id])));
}

/** Leaves out what no longer fits into the run, with a note: media, then the result. The step still counts as done. */
function withinRoom(step: StepState, room: number, maxBytes: number): StepState {
  if (bytesOf(step) <= room) return step;
  const { content, ...alone } = step;
  const media = `images, audio and files were left out: a run keeps ${maxBytes} bytes (quotas.runBytes)`;
  const lighter = content ? { ...alone, notes: [...(step.notes ?? []), media] } : step;
  if (lighter.output === undefined || bytesOf(lighter) <= room) return lighter;
  const { output: _, ...rest } = lighter;
  const note = `the result was left out: a run keeps ${maxBytes} bytes of arguments and results (limit runBytes)`;
  return { ...rest, notes: [...(lighter.notes ?? []), note] };
}

const bytesOf = oncePer(({ arguments: given, sources, output, content }: StepState) =>
  [given, sources, output, content].reduce<number>(
    (sum, part) => sum + (part === undefined ? 0 : Buffer.byteLength(JSON.stringify(part))),
    0,
  ),
);
