/** Runs one case and repeat, and returns its record. It keeps no state between cases, so any worker can do it. */
import type { View } from '../core/catalog/scope.js';
import { toWinnowError, WinnowError } from '../core/errors.js';
import { addUsage, noUsage, type Stage } from '../core/model/model.js';
import type { PlanRequest } from '../core/request.js';
import {
  type PlanResult,
  type Selection,
  type SelectResult,
  selectionSchema,
  type TraceEvent,
} from '../core/result.js';
import { createViewTokens } from '../core/selection/budget.js';
import type { EvaluationCase } from './case.js';
import { defaultsIn } from './plan-scores.js';
import { randomFor, sampleOf } from './random.js';
import { type CaseRecord, type ModelCall, noAnswer } from './record.js';
import { type Result, scoreCase } from './score-case.js';
import { millisecondsSince, type RecordedCall, type RecordedPlanner, type SuitePlanners } from './suite.js';

/** Plain data: it may come from a queue. */
export interface CaseJob {
  readonly case: EvaluationCase;
  /** From 0. */
  readonly repeat: number;
}

/** @throws WinnowError `cancelled` after an abort; the record holds every other failure */
export type CaseRunner = (job: CaseJob, signal?: AbortSignal) => Promise<CaseRecord>;

/** How cases are run and judged. */
export interface Judging {
  /** `plan`: planning alone, on the expected tools and others up to `maxTools`. */
  only: 'select' | 'plan' | undefined;
  /** The planners' option. */
  maxTools: number;
  /** Number of random tools that a case sees besides its candidates. Default: all tools. */
  distractors?: number | undefined;
  seed: number;
  /** Day of the cases that name none, YYYY-MM-DD. */
  today: string;
}

export interface CaseRunnerOptions extends Judging {
  suites: ReadonlyMap<string, SuitePlanners>;
}

/**
 * Creates a runner that runs a case and scores the answer.
 * @example
 * const run = createCaseRunner({
 *   suites: new Map([['mine', planners]]),
 *   ...{ only: undefined, maxTools: 8, today: '2026-01-31', seed: 1 },
 * });
 * const record = await run({ case: one, repeat: 0 });
 */
export function createCaseRunner(options: CaseRunnerOptions): CaseRunner {
  const tokensOf = new Map([...options.suites].map(([name, one]) => [name, createViewTokens(one.schemaTokens)]));
  return async ({ case: one, repeat }, signal) => {
    const suite = options.suites.get(one.suite);
    if (!suite) throw new WinnowError('internal', `There is no suite "${one.suite}".`);
    const recorded = suite.plannerFor(repeat);
    const { user } = one.request;
    const allow = offeredTools(one, recorded.planner.view({ user }), options);
    const request = { today: options.today, ...one.request, ...(allow ? { allow } : {}) };
    const requestId = `${one.suite}/${one.id}#${repeat}`;
    const tried = await attempt(recorded, request, { requestId, only: options.only, signal });
    const view = recorded.planner.view({ user, allow });
    const of = (name: string) => {
      const tool = view.byName.get(name);
      return tool ? suite.schemaTokens(tool) : 0;
    };
    const schemaTokens = { of, all: tokensOf.get(one.suite)?.(view) ?? 0 };
    return toRecord({ one, repeat, tried, view, schemaTokens }, options);
  };
}

/**
 * The tools that a case may use; undefined: all that the caller sees. For planning alone, the expected tools and others up to
 * `maxTools`. A view keeps the catalogue's order, so order reveals nothing.
 */
export function offeredTools(
  { id, expected, candidates = [] }: EvaluationCase,
  view: View,
  judging: Pick<Judging, 'only' | 'maxTools' | 'distractors' | 'seed'>,
): string[] | undefined {
  const isPlan = judging.only === 'plan';
  if (!isPlan && judging.distractors === undefined) return undefined;
  const given = new Set(isPlan ? expected.tools : candidates);
  const count = isPlan ? Math.max(0, judging.maxTools - given.size) : (judging.distractors ?? 0);
  const others = view.tools.map((tool) => tool.name).filter((name) => !given.has(name));
  return [...given, ...sampleOf(others, count, randomFor(judging.seed, id))];
}

/** One request to a planner with all its outcomes. */
interface Attempt {
  readonly selection?: Selection;
  /** Absent for selection alone and after an error. */
  readonly result?: Result;
  /** An error of the model server or of Winnow. A wrong answer of the model is a result. */
  readonly error?: WinnowError;
  readonly calls: readonly RecordedCall[];
  readonly rung: string | undefined;
  readonly milliseconds: { selection: number; total: number };
}

async function attempt(
  { planner, takeCalls }: RecordedPlanner,
  request: PlanRequest,
  { requestId, only, signal }: Pick<Judging, 'only'> & { requestId: string; signal: AbortSignal | undefined },
): Promise<Attempt> {
  const events: TraceEvent[] = [];
  const startedAt = performance.now();
  const call = { requestId, signal, onEvent: (event: TraceEvent) => events.push(event) };
  let ended: Pick<Attempt, 'selection' | 'result' | 'error'>;
  let calls: RecordedCall[] = [];
  try {
    ended =
      only === 'select'
        ? { selection: withoutUsage(await planner.select(request, call)) }
        : fromPlan(await planner.plan(request, call), events);
  } catch (thrown) {
    if (signal?.aborted) throw toWinnowError(thrown);
    ended = fromFailure(toWinnowError(thrown), events);
  } finally {
    calls = takeCalls(requestId);
  }
  const total = millisecondsSince(startedAt);
  const error = ended.error ?? serverErrorOf(ended.selection, calls);
  const rung = events.find(({ stage }) => stage === 'summaries')?.rung;
  return {
    ...ended,
    ...(error ? { error } : {}),
    calls,
    rung: typeof rung === 'string' ? rung : undefined,
    milliseconds: { selection: events.find(({ stage }) => stage === 'planning')?.milliseconds ?? total, total },
  };
}

function withoutUsage({ usage: _, trace: __, ...selection }: SelectResult): Selection {
  return selection;
}

function fromPlan(plan: PlanResult, events: readonly TraceEvent[]): Pick<Attempt, 'selection' | 'result'> {
  const repaired = wasRepaired(events) ? { repaired: true } : {};
  const { kind, selection } = plan;
  if (kind === 'plan') {
    const { steps, levels, goal } = plan;
    return { selection, result: { kind, steps, levels, text: goal, ...repaired } };
  }
  return { selection, result: { kind, text: kind === 'clarification' ? plan.question : plan.reason, ...repaired } };
}

/** A plan that stays invalid is a wrong answer, not an error; the error has its selection. */
function fromFailure(
  error: WinnowError,
  events: readonly TraceEvent[],
): Pick<Attempt, 'selection' | 'result' | 'error'> {
  const parsed = selectionSchema.safeParse(error.details.selection);
  const selection = parsed.success ? { selection: parsed.data } : {};
  if (error.code !== 'plan_invalid') return { ...selection, error };
  return {
    ...selection,
    result: { kind: 'plan_invalid', text: error.issues.join('\n'), repaired: wasRepaired(events) },
  };
}

function wasRepaired(events: readonly TraceEvent[]): boolean {
  return events.some(({ stage, note }) => stage === 'planning' && note.endsWith('is repaired'));
}

const SERVER_ERRORS = new Set(['model_unavailable', 'model_refused', 'model_failed', 'model_timeout', 'cancelled']);

/** Finds a server error behind the fallback, whose tools do not show the model's choice. */
function serverErrorOf(selection: Selection | undefined, calls: readonly RecordedCall[]): WinnowError | undefined {
  if (selection?.mode !== 'fallback') return undefined;
  const failed = calls.find(({ stage, failure }) => stage === 'selection' && SERVER_ERRORS.has(failure?.code ?? ''));
  if (!failed?.failure) return undefined;
  const { code, message } = failed.failure;
  return new WinnowError(code === 'model_refused' ? code : 'model_failed', message);
}

interface Done {
  one: EvaluationCase;
  repeat: number;
  tried: Attempt;
  view: View;
  schemaTokens: { of: (name: string) => number; all: number };
}

function toRecord(done: Done, options: CaseRunnerOptions): CaseRecord {
  const { one, repeat, tried } = done;
  const { selection, result, error } = tried;
  const usage = usageOf(done);
  const { message, history, entities } = one.request;
  return {
    id: one.id,
    suite: one.suite,
    repeat,
    query: message,
    ...(one.lang === undefined ? {} : { lang: one.lang }),
    tags: [...one.tags],
    ...(history === undefined ? {} : { history }),
    ...(entities === undefined ? {} : { entities }),
    expected: one.expected,
    ...(error ? noAnswer(error) : { outcome: 'answered', ...judge(done, usage, options) }),
    ...(selection ? { selection } : {}),
    ...(tried.rung === undefined ? {} : { rung: tried.rung }),
    ...(result && !error ? { result } : {}),
    usage,
    milliseconds: tried.milliseconds,
    calls: tried.calls.map((call) => toCall(call, tried)),
  };
}

function judge(
  { one, tried, view }: Done,
  { schemaTokens }: CaseRecord['usage'],
  options: CaseRunnerOptions,
): Pick<CaseRecord, 'scores' | 'cause' | 'comparison'> {
  const asked = tried.calls.filter(({ stage }) => stage === 'selection');
  const { scores, cause, comparison } = scoreCase({
    expected: one.expected,
    ignoreCase: one.ignoreCase,
    defaultOf: defaultsIn(view.byName),
    selection: options.only === 'plan' ? undefined : tried.selection,
    result: tried.result,
    schemaTokens,
    isVisible: (name) => view.byName.has(name),
    wasShown:
      asked.length > 0
        ? (name) => asked.some((call) => call.stablePart.includes(name) || call.user.includes(name))
        : undefined,
  });
  return { ...(comparison ? { comparison } : {}), scores, ...(cause === undefined ? {} : { cause }) };
}

/** Sums the calls, which exist even for a failed request. */
function usageOf({ tried, schemaTokens: { of, all } }: Done): CaseRecord['usage'] {
  const usageOfStage = (stage: Stage) => {
    const usage = noUsage();
    for (const call of tried.calls) if (call.stage === stage) addUsage(usage, call.usage);
    return usage;
  };
  const loaded = (tried.selection?.tools ?? []).reduce((sum, { name }) => sum + of(name), 0);
  return {
    selection: usageOfStage('selection'),
    planning: usageOfStage('planning'),
    schemaTokens: { all, loaded },
  };
}

function toCall({ isReading, failure: _, stablePart: __, ...call }: RecordedCall, { selection }: Attempt): ModelCall {
  if (!isReading || call.answer !== '') return call;
  const ranked = (selection?.tools ?? []).filter(({ probability }) => probability !== undefined);
  return { ...call, answer: ranked.map(({ name, probability }) => `${name} ${probability}`).join('\n') };
}
