/**
 * One prompt from its first measurement to its report: the rounds of the search, and at the very end one look of what was
 * kept at the held-back part. Nothing but seed and journal decides, so the same run done again comes to the same.
 */
import { z } from 'zod';
import { WinnowError } from '../../core/errors.js';
import { type BaseFacts, baseFactsOf, costOf } from './base-facts.js';
import { contradicts } from './decide.js';
import { pairsOf } from './halving.js';
import { countSeenTokens, parseDraft, type TunedPrompt } from './prompt-draft.js';
import { BUDGET_ENDED, createSearch } from './search.js';
import { shortfallOf } from './shortfall.js';
import type { TunePromptParts } from './tune-parts.js';
import { type PromptReport, type Tried, triedSchema } from './tune-record.js';
import { toCandidate, type Variant } from './variant.js';

export interface TunedResult {
  report: PromptReport;
  /** Undefined where nothing better was found. */
  best: Variant | undefined;
}

/** @throws WinnowError `cancelled`, `model_failed`, `prompt_invalid`; `invalid_option` where no case asks the model */
export async function tunePrompt(parts: TunePromptParts): Promise<TunedResult> {
  const base = baseOf(parts);
  const { measure, split, reserve, jobs } = parts;
  // Begun before any budget is over, so that it is known what a case costs.
  const begun = await measure(base, split.training.slice(0, jobs), reserve);
  const first = begun && (await measure(base, split.training, reserve));
  if (!first) return unfinishedBase(parts, base, begun && shortfallOf(parts, costOf(begun, jobs)));
  const facts = baseFactsOf(parts, first);
  const shortfall = shortfallOf(parts, facts.cost);
  if (shortfall) parts.onProgress(shortfall);
  const search = createSearch(parts, { base, facts });
  // A part that was looked at is no evidence for what is found later: such a run ends where it ended before.
  const looked = parts.journal.recall(lookKey(parts.prompt), lookSchema);
  let ended: string | undefined;
  let rounds = 0;
  while (ended === undefined && rounds < (looked?.rounds ?? parts.rounds)) {
    ended = await search.round(rounds + 1);
    if (ended !== BUDGET_ENDED) rounds += 1;
  }
  const { tried, end } = looked ?? { tried: search.tried, end: ended ?? 'the rounds are over' };
  return finish(parts, { base, facts, best: search.best(), tried, end, rounds });
}

function whyEnded(end: string, parts: TunePromptParts, facts: BaseFacts): string {
  if (end !== BUDGET_ENDED || parts.budget.isOver()) return end;
  const shortfall = shortfallOf(parts, facts.cost);
  return `what is left of the budget was kept for the look at the held-back part${shortfall ? `; ${shortfall}` : ''}`;
}

/** What was known when the held-back part was looked at; rounds that were done whole. */
const lookSchema = z.object({ rounds: z.int(), end: z.string(), tried: z.array(triedSchema) });
const lookKey = (prompt: TunedPrompt) => ['look at the held-back part', prompt];

function baseOf({ prompt, text, gate }: TunePromptParts): Variant {
  const draft = parseDraft(prompt, text);
  const base = toCandidate(
    { kind: 'base', about: 'as it was', draft, text, options: {}, caseIds: [] },
    { gate, growth: () => 0, maxGrowth: 0 },
  );
  if (base.ok) return base.variant;
  // A caller that makes the split with `mustTrain` does not come here.
  throw new WinnowError(
    'prompt_invalid',
    `The prompt ${prompt} holds text of a case that must be kept back: ${base.issues.join('; ')}.`,
  );
}

interface Ending {
  base: Variant;
  facts: BaseFacts;
  best: Variant;
  tried: Tried[];
  end: string;
  rounds: number;
}

/** The one look at the held-back part, and only where there is something to look at. */
async function finish(parts: TunePromptParts, { base, facts, best, tried, end, rounds }: Ending): Promise<TunedResult> {
  const { split, measure, reserve, seed, model } = parts;
  const common = {
    ...emptyReport(parts, base),
    base: {
      training: facts.meanOfBase,
      failing: facts.failing,
      withoutScore: facts.withoutScore,
      withoutExample: facts.withoutExample,
    },
    tokens: {
      before: countSeenTokens(base.text, model),
      after: countSeenTokens(base.text, model),
      allowedGrowth: facts.allowedGrowth,
    },
    tried,
  };
  if (best === base)
    return {
      report: {
        ...common,
        reason: `Nothing is clearly better than the prompt as it is; ${whyEnded(end, parts, facts)}.`,
      },
      best: undefined,
    };
  parts.journal.keep(lookKey(parts.prompt), { rounds, end, tried }, 0);
  const before = await measure(base, split.heldBack, reserve);
  const after = before && (await measure(best, split.heldBack, reserve));
  if (!before || !after) {
    const reason =
      'The budget ended before the held-back part was looked at, so nothing is kept. Go on with --resume and a larger --budget or --max-calls.';
    return { report: { ...common, reason }, best: undefined };
  }
  const { gain, isRefuted } = contradicts(pairsOf(split.heldBack, { before, after, without: [base, best] }), seed);
  const heldBack = gain ? { heldBack: gain } : {};
  if (isRefuted)
    return {
      report: { ...common, ...heldBack, reason: 'The held-back part does not show the gain, so nothing is kept.' },
      best: undefined,
    };
  const report: PromptReport = {
    ...common,
    ...heldBack,
    isChanged: true,
    reason: `Better on the choosing part, and the held-back part agrees; ${end}.`,
    options: { ...best.options },
    examples: [...best.caseIds],
    tokens: { ...common.tokens, after: countSeenTokens(best.text, model) },
  };
  return { report, best };
}

function unfinishedBase(parts: TunePromptParts, base: Variant, shortfall: string | undefined): TunedResult {
  const why = shortfall ? `: ${shortfall}` : '';
  const reason = `The budget ended before the prompt as it is was measured${why}. Go on with --resume and a larger --budget or --max-calls.`;
  return { report: { ...emptyReport(parts, base), reason }, best: undefined };
}

function emptyReport({ prompt, split, model }: TunePromptParts, base: Variant): PromptReport {
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
