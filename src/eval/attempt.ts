/** One try of a request at a planner, with all that is known of it afterwards, however it ended. */
import { toWinnowError, WinnowError } from '../core/errors.js';
import type { PlanRequest } from '../core/request.js';
import {
  type PlanResult,
  type Selection,
  type SelectResult,
  selectionSchema,
  type TraceEvent,
} from '../core/result.js';
import { millisecondsSince } from './milliseconds-since.js';
import type { CaseRecord } from './record.js';
import type { RecordedCall } from './recorder.js';
import type { RecordedPlanner } from './suite.js';

type Result = NonNullable<CaseRecord['result']>;

export interface Attempt {
  readonly selection: Selection | undefined;
  /** Absent where only selection was asked for, and after an error. */
  readonly result: Result | undefined;
  /** The model server's, or Winnow's own. What the model did wrong is a result. */
  readonly error: WinnowError | undefined;
  readonly calls: readonly RecordedCall[];
  readonly selectionRepaired: boolean;
  readonly rung: string | undefined;
  readonly milliseconds: { selection: number; total: number };
}

export interface AttemptOptions {
  requestId: string;
  only: 'select' | 'plan' | undefined;
  signal: AbortSignal | undefined;
}

/** @throws WinnowError `cancelled` when the signal has fired. */
export async function attempt(
  { planner, recorder }: RecordedPlanner,
  request: PlanRequest,
  { requestId, only, signal }: AttemptOptions,
): Promise<Attempt> {
  const events: TraceEvent[] = [];
  const startedAt = performance.now();
  const call = { requestId, signal, onEvent: (event: TraceEvent) => events.push(event) };
  let ended: { selection?: Selection; result?: Result; error?: WinnowError };
  let calls: RecordedCall[] = [];
  try {
    ended =
      only === 'select'
        ? fromSelect(await planner.select(request, call))
        : fromPlan(await planner.plan(request, call), events);
  } catch (thrown) {
    if (signal?.aborted) throw toWinnowError(thrown);
    ended = fromFailure(toWinnowError(thrown), events);
  } finally {
    calls = recorder.take(requestId);
  }
  const total = millisecondsSince(startedAt);
  const selected = events.find(({ stage }) => stage === 'planning')?.milliseconds;
  return {
    selection: ended.selection,
    result: ended.result,
    error: ended.error ?? serverErrorOf(ended.selection, calls),
    calls,
    selectionRepaired: wasRepaired(events, 'selection'),
    rung: rungOf(events),
    milliseconds: { selection: selected ?? total, total },
  };
}

function fromSelect({ mode, reason, tools, dropped, leftOut }: SelectResult) {
  return { selection: { mode, reason, tools, dropped, leftOut } };
}

function fromPlan(plan: PlanResult, events: readonly TraceEvent[]): { selection: Selection; result: Result } {
  const repaired = wasRepaired(events, 'planning') ? { repaired: true } : {};
  const { kind, selection } = plan;
  if (kind === 'plan') {
    const { steps, levels, goal } = plan;
    return { selection, result: { kind, steps, levels, text: goal, ...repaired } };
  }
  return { selection, result: { kind, text: kind === 'clarification' ? plan.question : plan.reason, ...repaired } };
}

/** A plan that stays wrong is the model's doing and no error; the planner tells what was selected. */
function fromFailure(error: WinnowError, events: readonly TraceEvent[]) {
  const parsed = selectionSchema.safeParse(error.details.selection);
  const selection = parsed.success ? { selection: parsed.data } : {};
  if (error.code !== 'plan_invalid') return { ...selection, error };
  const repaired = wasRepaired(events, 'planning');
  return { ...selection, result: { kind: 'plan_invalid' as const, text: error.issues.join('\n'), repaired } };
}

const SERVER_ERRORS = new Set(['model_unavailable', 'model_refused', 'model_failed', 'model_timeout', 'cancelled']);

/** The fallback hides a server that fails; what it hands on says nothing of the model's choice. */
function serverErrorOf(selection: Selection | undefined, calls: readonly RecordedCall[]): WinnowError | undefined {
  if (selection?.mode !== 'fallback') return undefined;
  const failed = calls.find(({ stage, errorCode }) => stage === 'selection' && SERVER_ERRORS.has(errorCode ?? ''));
  if (!failed) return undefined;
  const code = failed.errorCode === 'model_refused' ? 'model_refused' : 'model_failed';
  return new WinnowError(code, selection.reason);
}

function wasRepaired(events: readonly TraceEvent[], stage: string): boolean {
  return events.some((event) => event.stage === stage && event.note.endsWith('is repaired'));
}

function rungOf(events: readonly TraceEvent[]): string | undefined {
  const rung = events.find(({ stage }) => stage === 'summaries')?.rung;
  return typeof rung === 'string' ? rung : undefined;
}
