/** Runs one step: resolves arguments, stores it as running, calls the tool with safe retries, stores the outcome. */
import { isDeepStrictEqual } from 'node:util';
import pRetry from 'p-retry';
import type { ArgumentSources } from '../../core/result.js';
import type { PlanGrant } from '../approvals/approvals.js';
import { sourcesAfterEdit } from '../argument-sources.js';
import { fillSecrets } from '../calls/hide-secrets.js';
import type { CallResult, Progress } from '../contracts.js';
import { type CallFailure, describeThrown, fail, meaningOf, waitsForApproval } from '../sandbox/failure.js';
import { type ParsedStep, type StepState, stepOf } from './plan-run.js';
import { resolveArguments, type Scope, scopeOf } from './resolve-arguments.js';
import type { RunRecord } from './run-record.js';

export interface StepCall {
  readonly run: string;
  readonly step: string;
  readonly tool: string;
  readonly arguments: Record<string, unknown>;
  readonly sources?: ArgumentSources | undefined;
  /** Approval of an earlier call of this step. */
  readonly approval?: string | undefined;
  /** Grant of the whole plan. */
  readonly plan?: PlanGrant | undefined;
  readonly user?: string | undefined;
  readonly session?: string | undefined;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: Progress) => void;
  /** To be called right before the tool; it throws where another process has taken the run. */
  readonly beforeTool: () => Promise<void>;
}

/** Calls a tool, through the gate and the sandbox or through the sandbox alone. */
export type RunStep = (call: StepCall) => Promise<CallResult>;

export interface RetryOptions {
  /** How often a step is called again after a temporary failure. Default: 0. */
  readonly retries?: number;
  /** Step id -> retries of this step. */
  readonly steps?: Readonly<Record<string, number>>;
  /** Milliseconds before the first retry; doubled for each further one, up to 10,000. Default: 500. */
  readonly delayMs?: number;
}

export interface StepParts {
  readonly record: RunRecord;
  readonly run: RunStep;
  readonly isRepeatable: (tool: string) => boolean;
  readonly retry: RetryOptions;
  readonly user?: string | undefined;
  readonly session?: string | undefined;
  readonly signal: AbortSignal;
  /** How many more loop items the run may have. */
  readonly room: { items: number };
}

const MAX_DELAY_MS = 10_000;

export async function runStep(step: ParsedStep, parts: StepParts, item?: Scope['item']): Promise<void> {
  const { record } = parts;
  const before = record.states.get(step.id);
  const resolved = resolveArguments(step, scopeOf(record, item), record.roomOf(step.id));
  const { arguments: input, sources } = resolved;
  const base = { id: step.id, attempts: before?.attempts ?? 0, arguments: input, ...(sources ? { sources } : {}) };
  if (resolved.issues.length > 0) {
    const reason = resolved.issues.join('; ');
    const { issues } = resolved;
    return record.setStep({
      ...base,
      status: 'failed',
      failure: failureOf(fail('unresolved_reference', reason, { issues })),
    });
  }
  const edited = await callStep(step, parts, { base, approval: before?.approval });
  if (edited) await callStep(step, parts, edited);
}

interface Attempt {
  readonly base: Base;
  readonly approval: string | undefined;
  /** Set where the approver has edited the arguments; `base` has the edited ones. */
  readonly edit?: string;
}

/** @returns the attempt to make instead, where the approver has edited the arguments */
async function callStep(step: ParsedStep, parts: StepParts, attempt: Attempt): Promise<Attempt | undefined> {
  const { record } = parts;
  const { base, approval, edit } = attempt;
  const { arguments: input = {}, sources } = base;
  const known = parts.isRepeatable(step.tool) ? undefined : findEarlier(step.tool, input, record);
  if (known) {
    await record.setStep({ ...known, ...base });
    return undefined;
  }
  const waits = approval === undefined ? {} : { approval };
  const isFirst = base.attempts === 0;
  const plan = record.approval === undefined ? undefined : { approval: record.approval, step: step.id, isFirst };
  await record.setStep({ ...base, status: 'running', attempts: base.attempts + 1, ...waits });
  const { result, attempts } = await callWithRetries(step, { ...parts, input, sources, approval, plan });
  const called = { ...base, attempts: base.attempts + attempts };
  if (!result.ok && result.granted && edit === undefined)
    return toEdited(called, { ...result, granted: result.granted });
  const state = toState(result, called);
  await record.setStep(edit === undefined ? state : { ...state, notes: [edit, ...(state.notes ?? [])] });
  return undefined;
}

interface EditedRefusal {
  readonly granted: { arguments: unknown; changed: readonly string[] };
  readonly approval?: string | undefined;
  readonly reason: string;
}

/** Edited references become values for this call; the plan itself is unchanged. */
function toEdited({ sources, ...called }: Base, { granted, approval, reason }: EditedRefusal): Attempt {
  const input = { ...Object(fillSecrets(granted.arguments, called.arguments)) };
  const edited = sourcesAfterEdit(input, { sources, changed: granted.changed });
  return { base: { ...called, arguments: input, ...(edited ? { sources: edited } : {}) }, approval, edit: reason };
}

interface Calling extends StepParts {
  readonly input: Record<string, unknown>;
  readonly sources: ArgumentSources | undefined;
  readonly approval: string | undefined;
  readonly plan: PlanGrant | undefined;
}

async function callWithRetries(step: ParsedStep, calling: Calling): Promise<{ result: CallResult; attempts: number }> {
  const { run, record, retry, input, sources, approval, plan, user, session, signal } = calling;
  const about = { run: record.id, step: step.id };
  const onProgress = (progress: Progress) => record.emit({ type: 'progress', ...about, ...progress });
  const hooks = { signal, onProgress, beforeTool: record.confirm };
  const asked = { ...about, tool: step.tool, arguments: input, sources, approval, user, session, ...hooks };
  const mayRetry = ({ code }: CallFailure) =>
    meaningOf(code).retry && (meaningOf(code).ran === 'no' || calling.isRepeatable(step.tool));
  let attempts = 0;
  // Kept here, since p-retry discards a result once the signal has fired.
  let last: CallResult = fail('not_started', 'The run was cancelled before the step began.');
  const call = async () => {
    attempts += 1;
    last = await callOnce(() => run({ ...asked, plan: plan && { ...plan, isFirst: plan.isFirst && attempts === 1 } }));
    if (!last.ok && mayRetry(last)) throw new Error(last.reason);
  };
  try {
    await pRetry(call, {
      retries: retry.steps?.[stepOf(step.id)] ?? retry.retries ?? 0,
      minTimeout: retry.delayMs ?? 500,
      maxTimeout: MAX_DELAY_MS,
      randomize: (retry.delayMs ?? 500) > 0,
      signal,
      onFailedAttempt: ({ error, attemptNumber, retriesLeft }) => {
        if (retriesLeft === 0) return;
        record.emit({ type: 'retry', ...about, attempt: attemptNumber + 1, reason: error.message });
      },
    });
  } catch {
    // The last attempt's result counts, whatever ended the attempts.
  }
  return { result: last, attempts };
}

async function callOnce(call: () => Promise<CallResult>): Promise<CallResult> {
  try {
    return await call();
  } catch (thrown) {
    // The call may have taken effect.
    return fail('connection_lost', `The call broke: ${describeThrown(thrown)}`);
  }
}

type Base = Pick<StepState, 'id' | 'attempts' | 'arguments' | 'sources'>;

function toState(result: CallResult, base: Base): StepState {
  if (result.ok) {
    const { output, content, notes, milliseconds } = result;
    const more = { ...(content ? { content } : {}), ...(notes.length > 0 ? { notes } : {}) };
    return { ...base, status: 'done', output, milliseconds, ...more };
  }
  const { approval } = result;
  const failure = failureOf(result);
  if (waitsForApproval(result.code))
    return { ...base, status: 'needs_approval', failure, ...(approval ? { approval } : {}) };
  return { ...base, status: 'failed', failure };
}

export function failureOf({ code, reason, next, issues }: CallFailure): NonNullable<StepState['failure']> {
  return { code, reason, next, ...(issues ? { issues } : {}) };
}

/** Finds the same call under the earlier plan, if it took effect or may have: it must not be repeated. */
function findEarlier(
  tool: string,
  input: Record<string, unknown>,
  { earlier, hide, filled }: Pick<RunRecord, 'earlier' | 'hide' | 'filled'>,
): Omit<StepState, keyof Base> | undefined {
  const ids = new Set(earlier?.plan.steps.filter((step) => step.tool === tool).map(({ id }) => id));
  const same = Object.values(earlier?.steps ?? {}).filter(({ id }) => ids.has(stepOf(id)));
  const isSame = (state: StepState) =>
    isDeepStrictEqual(filled(tool, state.arguments), filled(tool, state.isMasked ? hide(tool, input) : input));
  const found = same.filter(isSame);
  // A masked call may have had another secret, so it does not count as done.
  const done = found.find((state) => state.status === 'done' && !state.isMasked);
  if (done) {
    const notes = [...(done.notes ?? []), `not run again: step ${done.id} of the plan before made this call`];
    return { status: 'done', output: done.output, ...(done.content ? { content: done.content } : {}), notes };
  }
  const open = found.find((state) => state.status === 'done' || isOutcomeOpen(state));
  return open && unknownOutcome(`step ${open.id} of the plan before made this call, and may have taken effect`);
}

/** Whether the step was called with an unknown outcome. */
export function isOutcomeOpen({ status, failure }: StepState): boolean {
  if (status === 'running' || status === 'unknown') return true;
  return status === 'failed' && failure !== undefined && meaningOf(failure.code).ran === 'maybe';
}

export function unknownOutcome(reason: string): Pick<StepState, 'status' | 'failure'> {
  return { status: 'unknown', failure: failureOf(fail('outcome_unknown', reason)) };
}
