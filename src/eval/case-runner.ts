/** One case and repeat -> its record. All that a worker on another machine needs; it keeps nothing between cases. */
import type { View } from '../core/catalog/scope.js';
import { WinnowError } from '../core/errors.js';
import { addUsage, noUsage, type Stage } from '../core/model/model.js';
import { type Attempt, attempt } from './attempt.js';
import type { EvaluationCase } from './case.js';
import { defaultsIn } from './defaults-in.js';
import { noAnswer } from './no-answer.js';
import { type Offer, offeredTools, toolsForPlanning } from './offered-tools.js';
import type { Prices } from './prices.js';
import type { CaseRecord, ModelCall } from './record.js';
import type { RecordedCall } from './recorder.js';
import { scoreCase } from './score-case.js';
import type { SuitePlanners } from './suite.js';

/** Plain data: it may come from a queue. */
export interface CaseJob {
  readonly case: EvaluationCase;
  /** From 0. */
  readonly repeat: number;
}

/** @throws WinnowError `cancelled` when the signal has fired; every other failure is in the record. */
export type CaseRunner = (job: CaseJob, signal?: AbortSignal) => Promise<CaseRecord>;

export interface CaseRunnerOptions extends Offer {
  suites: ReadonlyMap<string, SuitePlanners>;
  /** `plan`: planning alone, on the expected tools and others up to `maxTools`. */
  only: 'select' | 'plan' | undefined;
  /** The option of the planners. */
  maxTools: number;
  /** Day of the cases that name none, YYYY-MM-DD. */
  today: string;
  /** For all cases, whatever they say. */
  ignoreCase: boolean;
  prices?: Prices | undefined;
}

/**
 * Does a case and scores the answer.
 * @example
 * const run = createCaseRunner({
 *   suites: new Map([['mine', planners]]),
 *   ...{ only: undefined, maxTools: 8, today: '2026-01-31', ignoreCase: false },
 *   ...{ candidates: 'all', distractors: 0, seed: 1 },
 * });
 * const record = await run({ case: one, repeat: 0 });
 */
export function createCaseRunner(options: CaseRunnerOptions): CaseRunner {
  const tokensOfAll = new WeakMap<View, number>();
  return async ({ case: one, repeat }, signal) => {
    const suite = options.suites.get(one.suite);
    if (!suite) throw new WinnowError('internal', `There is no suite "${one.suite}".`);
    const recorded = suite.plannerFor(repeat);
    const { user } = one.request;
    const allow = allowedTools(one, recorded.planner.view({ user }), options);
    const request = { today: options.today, ...one.request, ...(allow ? { allow } : {}) };
    const requestId = `${one.suite}/${one.id}#${repeat}`;
    const tried = await attempt(recorded, request, { requestId, only: options.only, signal });
    const view = recorded.planner.view({ user, allow });
    const all = tokensOfAll.get(view) ?? view.tools.reduce((sum, tool) => sum + suite.schemaTokens(tool), 0);
    tokensOfAll.set(view, all);
    return toRecord({ one, repeat, tried, view, schemaTokens: tokensIn(view, suite), all }, options);
  };
}

function allowedTools(one: EvaluationCase, view: View, options: CaseRunnerOptions): string[] | undefined {
  if (options.only === 'plan') return toolsForPlanning(one, view, options);
  return offeredTools(one, view, options);
}

function tokensIn(view: View, { schemaTokens }: SuitePlanners): (name: string) => number {
  return (name) => {
    const tool = view.byName.get(name);
    return tool ? schemaTokens(tool) : 0;
  };
}

interface Done {
  one: EvaluationCase;
  repeat: number;
  tried: Attempt;
  view: View;
  schemaTokens: (name: string) => number;
  /** Tokens of all schemas that the caller sees. */
  all: number;
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
    ...(options.prices ? { cost: options.prices.costOf(usage) } : {}),
    milliseconds: tried.milliseconds,
    calls: tried.calls.map((call) => toCall(call, tried)),
  };
}

function judge(
  { one, tried, view, schemaTokens }: Done,
  usage: CaseRecord['usage'],
  options: CaseRunnerOptions,
): Pick<CaseRecord, 'scores' | 'cause' | 'comparison'> {
  const asked = tried.calls.filter(({ stage }) => stage === 'selection');
  const { scores, cause, comparison } = scoreCase({
    expected: one.expected,
    ignoreCase: options.ignoreCase || one.ignoreCase,
    defaultOf: defaultsIn(view.byName),
    selection: options.only === 'plan' ? undefined : tried.selection,
    selectionRepaired: tried.selectionRepaired,
    result: tried.result,
    usage,
    schemaTokens,
    isVisible: (name) => view.byName.has(name),
    wasShown:
      asked.length > 0
        ? (name) => asked.some((call) => call.stablePart.includes(name) || call.user.includes(name))
        : undefined,
  });
  return { ...(comparison ? { comparison } : {}), scores, ...(cause === undefined ? {} : { cause }) };
}

/** As told by the calls: they are there also when the request failed. */
function usageOf({ tried, schemaTokens, all }: Done): CaseRecord['usage'] {
  const of = (stage: Stage) => {
    const usage = noUsage();
    for (const call of tried.calls) if (call.stage === stage) addUsage(usage, call.usage);
    return usage;
  };
  const loaded = (tried.selection?.tools ?? []).reduce((sum, { name }) => sum + schemaTokens(name), 0);
  return { selection: of('selection'), planning: of('planning'), schemaTokens: { all, loaded } };
}

function toCall({ isReading, errorCode: _, stablePart: __, ...call }: RecordedCall, { selection }: Attempt): ModelCall {
  if (!isReading || call.answer !== '') return call;
  const ranked = (selection?.tools ?? []).filter(({ probability }) => probability !== undefined);
  return { ...call, answer: ranked.map(({ name, probability }) => `${name} ${probability}`).join('\n') };
}
