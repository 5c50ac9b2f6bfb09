/** Tunes one prompt from its first measurement to its report, with one test on the held-back part at the end. */
import { WinnowError } from '../../core/errors.js';
import type { EvaluationCase } from '../case.js';
import { pairedDifference } from '../statistics.js';
import { BudgetEnded, type Spent } from './budget.js';
import { type Measurements, toCandidate, type Variant } from './candidates.js';
import { createExamples } from './examples.js';
import { countSeenTokens, parseDraft } from './prompt-draft.js';
import { BUDGET_ENDED, pairsOf, search, type TunePromptParts } from './search.js';
import type { PromptReport, Tried } from './tune-report.js';

export type { TunePromptParts };

interface TunedResult {
  report: PromptReport;
  /** Undefined if nothing better was found. */
  best: Variant | undefined;
}

const GO_ON = 'Go on with --resume and a larger --budget or --max-calls.';

/** @throws WinnowError `cancelled`, `model_failed`, `prompt_invalid`; `invalid_option` where no case asks the model */
export async function tunePrompt(parts: TunePromptParts): Promise<TunedResult> {
  const { prompt, measure, split, reserve, jobs, budget, model, seed } = parts;
  const base = baseOf(parts);
  const report = newReport(parts, base);
  const ended = (reason: string, best?: Variant): TunedResult => ({ report: { ...report, reason }, best });

  let begun: Measurements = new Map();
  const first = await unlessOver(async () => {
    begun = await measure(base, split.training.slice(0, jobs), reserve);
    return measure(base, split.training, reserve);
  });
  if (!first) {
    const why = begun.size > 0 ? shortfallOf(parts, costOf(begun, jobs)) : undefined;
    return ended(`The budget ended before the prompt as it is was measured${why ? `: ${why}` : ''}. ${GO_ON}`);
  }
  Object.assign(report, factsOf(parts, first, report));
  const cost = costOf(first, jobs);
  const shortfall = shortfallOf(parts, cost);
  if (shortfall) parts.onProgress(shortfall);
  // Reserves the measurement of both prompts on the held-back part.
  const held = 2 * split.heldBack.length;
  const kept = {
    calls: reserve.calls + Math.ceil(cost.calls * held),
    milliseconds: reserve.milliseconds + cost.milliseconds * held,
  };
  // A part already tested is no evidence for later finds, so a repeated run ends where it ended before.
  const lookKey = ['look at the held-back part', prompt];
  const looked = await budget.recall<{ rounds: number; end: string; tried: Tried[] }>(lookKey);
  const limits = { reserve: kept, rounds: looked?.rounds ?? parts.rounds };
  const found = await search({ ...parts, ...limits }, { base, allowedGrowth: report.tokens.allowedGrowth });
  const { tried, end } = looked ?? found;
  const { best, rounds } = found;
  report.tried = tried;
  if (best === base) {
    const missing = shortfallOf(parts, cost);
    const why = `what is left of the budget was kept for the look at the held-back part${missing ? `; ${missing}` : ''}`;
    const isKept = end === BUDGET_ENDED && !budget.isOver();
    return ended(`Nothing is clearly better than the prompt as it is; ${isKept ? why : end}.`);
  }
  await budget.keep(lookKey, { rounds, end, tried }, 0);
  // The single test: the gain must show here too, so a worse or equal mean keeps nothing.
  const pairs = await unlessOver(() => pairsOf(split.heldBack, { best: base, variant: best, parts }));
  if (!pairs) return ended(`The budget ended before the held-back part was looked at, so nothing is kept. ${GO_ON}`);
  const gain = pairedDifference(pairs, { seed });
  if (gain) report.heldBack = gain;
  if (!gain || gain.mean <= 0) return ended('The held-back part does not show the gain, so nothing is kept.');
  report.tokens.after = countSeenTokens(best.text, model);
  Object.assign(report, { isChanged: true, options: { ...best.options }, examples: [...best.caseIds] });
  return ended(`Better on the choosing part, and the held-back part agrees; ${end}.`, best);
}

function newReport({ prompt, split, model }: TunePromptParts, base: Variant): PromptReport {
  const tokens = countSeenTokens(base.text, model);
  return {
    prompt,
    isChanged: false,
    reason: '',
    cases: { training: split.training.length, choosing: split.choosing.length, heldBack: split.heldBack.length },
    base: { training: null, failing: 0, withoutScore: 0, withoutExample: 0 },
    options: {},
    examples: [],
    tokens: { before: tokens, after: tokens, allowedGrowth: 0 },
    tried: [],
  };
}

/** Undefined if the budget ended. */
async function unlessOver<Value>(work: () => Promise<Value>): Promise<Value | undefined> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof BudgetEnded) return undefined;
    throw error;
  }
}

/** The current prompt also passes the gate, which `mustTrain` of the split ensures. */
function baseOf({ prompt, text, gate }: TunePromptParts): Variant {
  const draft = parseDraft(prompt, text);
  const best = { draft, text, options: {}, caseIds: [] };
  const base = toCandidate({ kind: 'base', about: 'as it was' }, { best, gate, growth: () => 0, maxGrowth: 0 });
  if (base.ok) return base.variant;
  const message = `The prompt ${prompt} holds text of a case that must be kept back: ${base.issues.join('; ')}.`;
  throw new WinnowError('prompt_invalid', message);
}

/** Results of the current prompt on the training cases. @throws WinnowError `invalid_option` where none asks the model */
function factsOf(
  parts: TunePromptParts,
  first: Measurements,
  { tokens }: PromptReport,
): Pick<PromptReport, 'base' | 'tokens'> {
  const { prompt, maxTokensGrowth, split } = parts;
  const all = [...first.values()];
  const scores = all.flatMap(({ score }) => score ?? []);
  const asked = all.filter(({ stableTokens }) => stableTokens > 0);
  if (scores.length === 0 || asked.length === 0) {
    const hint =
      prompt === 'select-tools'
        ? 'selection is skipped for small catalogues: --set passthroughTools=0'
        : 'give cases with expectedSteps';
    throw new WinnowError('invalid_option', `No training case says anything about ${prompt}: ${hint}.`);
  }
  const exampleOf = createExamples(parts);
  const isFailing = (one: EvaluationCase) => (first.get(one.id)?.score ?? 1) < 1;
  return {
    base: {
      training: mean(scores),
      failing: scores.filter((score) => score < 1).length,
      withoutScore: all.length - scores.length,
      withoutExample: split.training.filter((one) => isFailing(one) && !exampleOf(one)).length,
    },
    tokens: {
      ...tokens,
      allowedGrowth: Math.floor(maxTokensGrowth * mean(asked.map(({ stableTokens }) => stableTokens))),
    },
  };
}

/** Average cost of a case, with `jobs` at once. */
function costOf(measured: Measurements, jobs: number): Spent {
  const all = [...measured.values()];
  return {
    calls: mean(all.map(({ calls }) => calls)),
    milliseconds: mean(all.map(({ milliseconds }) => milliseconds)) / jobs,
  };
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}

/** Halving tries about half of the training cases for each of six candidates; then two prompts run on each other part. */
const TRAINING_PASSES = 3;
/** With fewer cases hardly any gain is significant. */
const FEWEST_CASES = 20;

/**
 * Says in words how much time is missing for one decision; undefined if the remaining time is enough. This warns before the
 * time is spent.
 * @param cost of one case
 */
export function shortfallOf(
  { budget, reserve, split }: Pick<TunePromptParts, 'budget' | 'reserve' | 'split'>,
  { milliseconds }: Pick<Spent, 'milliseconds'>,
): string | undefined {
  const later = split.choosing.length + split.heldBack.length;
  const needed = milliseconds * (TRAINING_PASSES * split.training.length + 2 * later);
  const left = budget.millisecondsLeft(reserve);
  if (needed <= left) return undefined;
  const cases = split.training.length + later;
  const fewer = Math.max(0, Math.floor((cases * left) / needed));
  const advice =
    fewer >= FEWEST_CASES
      ? `give a larger --budget, or about ${fewer} of the ${cases} cases by --sample`
      : `it does for about ${fewer} of the ${cases} cases, which show hardly any gain: give a larger --budget`;
  const inMinutes = (time: number) => {
    const minutes = Math.max(0, Math.ceil(time / 60_000));
    return `${minutes} ${minutes === 1 ? 'minute' : 'minutes'}`;
  };
  return `a decision takes about ${inMinutes(needed)} more; what is left is ${inMinutes(left)}: ${advice}`;
}
