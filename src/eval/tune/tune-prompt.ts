/** Tunes one prompt from its first measurement to its report, with one test on the held-back part at the end. */
import { WinnowError } from '../../core/errors.js';
import type { EvaluationCase } from '../case.js';
import { pairedDifference } from '../statistics.js';
import { type Measurements, toCandidate, type Variant } from './candidates.js';
import { createExamples } from './examples.js';
import { BudgetEnded } from './measure.js';
import { countSeenTokens, parseDraft } from './prompt-draft.js';
import { BUDGET_ENDED, pairsOf, search, type TunePromptParts } from './search.js';
import type { PromptReport } from './tune-report.js';

export type { TunePromptParts };

interface TunedResult {
  report: PromptReport;
  /** Undefined if nothing better was found. */
  best: Variant | undefined;
}

const GO_ON = 'Run it again with a larger --budget: answers so far are kept, and take no time.';

/** @throws WinnowError `cancelled`, `model_failed`, `prompt_invalid`; `invalid_option` where no case asks the model */
export async function tunePrompt(parts: TunePromptParts): Promise<TunedResult> {
  const { measure, split, reserve, jobs, budget, model, seed } = parts;
  const base = baseOf(parts);
  const report = newReport(parts, base);
  const ended = (reason: string, best?: Variant): TunedResult => ({ report: { ...report, reason }, best });

  const first = await unlessOver(() => measure(base, split.training, reserve));
  if (!first) return ended(`The budget ended before the prompt as it is was measured. ${GO_ON}`);
  Object.assign(report, factsOf(parts, first, report));
  const cost = mean([...first.values()].map(({ milliseconds }) => milliseconds)) / jobs;
  const shortfall = shortfallOf(parts, cost);
  if (shortfall) parts.onProgress(shortfall);
  // Reserves the measurement of both prompts on the held-back part.
  const kept = reserve + cost * 2 * split.heldBack.length;
  const found = await search({ ...parts, reserve: kept }, { base, allowedGrowth: report.tokens.allowedGrowth });
  const { best, tried, end } = found;
  report.tried = tried;
  if (best === base) {
    const missing = shortfallOf(parts, cost);
    const why = `what is left of the budget was kept for the look at the held-back part${missing ? `; ${missing}` : ''}`;
    const isKept = end === BUDGET_ENDED && budget.millisecondsLeft() > 0;
    return ended(`Nothing is clearly better than the prompt as it is; ${isKept ? why : end}.`);
  }
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

function newReport({ prompt, model }: TunePromptParts, base: Variant): PromptReport {
  const tokens = countSeenTokens(base.text, model);
  return {
    prompt,
    isChanged: false,
    reason: '',
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

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}

/** Halving tries about half of the training cases for each of six candidates; then two prompts run on each other part. */
const TRAINING_PASSES = 3;

/**
 * Says in words how much time is missing for one decision, before the time is spent. Undefined: the remaining time is enough.
 * @param cost of one case, in milliseconds
 */
export function shortfallOf(
  { budget, reserve, split }: Pick<TunePromptParts, 'budget' | 'reserve' | 'split'>,
  cost: number,
): string | undefined {
  const later = split.choosing.length + split.heldBack.length;
  const needed = cost * (TRAINING_PASSES * split.training.length + 2 * later);
  const left = budget.millisecondsLeft(reserve);
  if (needed <= left) return undefined;
  const [wanted, there] = [needed, left].map((time) => Math.max(0, Math.ceil(time / 60_000)));
  return `a decision takes about ${wanted} min more, and ${there} are left: give a larger --budget, or fewer cases by --sample`;
}
