/**
 * Rounds of the search for a better prompt. A round makes candidates from failures, halves them on training cases, and tests
 * the winner once on the choosing part. The next round starts from a kept winner.
 */
import type { EvaluationCase } from '../case.js';
import { hashOf } from '../run-summary.js';
import { type Pair, pairedDifference, signFlipP } from '../statistics.js';
import type { CandidateKind, Round, Variant } from './candidates.js';
import { exampleCandidates } from './examples.js';
import { BudgetEnded, type Measure } from './measure.js';
import { parameterCandidates } from './parameters.js';
import { countSeenTokens } from './prompt-draft.js';
import type { Split } from './split-cases.js';
import { FALSE_DISCOVERY, type Tried } from './tune-report.js';
import { wordingCandidates } from './wordings.js';

const KINDS: readonly CandidateKind[] = [parameterCandidates, exampleCandidates, wordingCandidates];

export interface TunePromptParts
  extends Pick<Round, 'prompt' | 'gate' | 'tries' | 'seed' | 'catalogs' | 'options' | 'model' | 'budget' | 'signal'> {
  /** Current text of the file. */
  text: string;
  split: Split;
  measure: Measure;
  /** Milliseconds for later prompts. */
  reserve: number;
  /** Growth of the sent stable part, as a fraction. */
  maxTokensGrowth: number;
  rounds: number;
  /** Cases at once. */
  jobs: number;
  onProgress: (text: string) => void;
}

export const BUDGET_ENDED = 'the budget is used up';
interface Found {
  best: Variant;
  tried: Tried[];
  /** Why it ended. */
  end: string;
}

export async function search(
  parts: TunePromptParts,
  { base, allowedGrowth }: { base: Variant; allowedGrowth: number },
): Promise<Found> {
  const { split, measure, seed, budget, reserve, model } = parts;
  const found: Found = { best: base, tried: [], end: 'the rounds are over' };
  const before = countSeenTokens(base.text, model);
  const growth = (text: string) => countSeenTokens(text, model) - before;
  const seen = new Set([base.hash]);
  const lessons: string[] = [];
  let level = FALSE_DISCOVERY / 2;

  /** New candidates of a round; each has a row in the report. */
  const gather = async (context: Round): Promise<Entry[]> => {
    const entries: Entry[] = [];
    for (const kind of KINDS) {
      for (const one of await kind(context)) {
        const hash = one.ok ? one.variant.hash : hashOf(one.about, one.issues);
        if (seen.has(hash)) continue;
        seen.add(hash);
        const { kind: of, about } = one.ok ? one.variant : one;
        const row: Tried = { round: context.round, kind: of, about, verdict: one.ok ? 'unfinished' : 'refused' };
        found.tried.push(row);
        if (one.ok) {
          Object.assign(row, { hash, grownTokens: growth(one.variant.text), rungs: 0 });
          entries.push({ variant: one.variant, row });
        } else row.issues = one.issues;
      }
    }
    return entries;
  };

  /** @returns why the search ends; undefined to continue */
  const round = async (number: number): Promise<string | undefined> => {
    const { best } = found;
    const scores = await measure(best, split.training, reserve);
    const isFailing = ({ id }: EvaluationCase) => (scores.get(id)?.score ?? 1) < 1;
    const failing = split.training.filter(isFailing);
    const context = { ...parts, round: number, best, failing, scores, lessons, growth, maxGrowth: allowedGrowth };
    const entries = await gather({ ...context, seed: seed + number * 1_000 });
    if (entries.length === 0)
      return budget.millisecondsLeft(reserve) <= 0 ? BUDGET_ENDED : 'there is no further candidate';
    parts.onProgress(`round ${number}: ${entries.length} candidates, ${failing.length} training cases fail`);
    const winner = await halve(entries, { best, cases: byUse(split.training, isFailing), parts });
    lessons.push(...entries.filter(({ variant }) => variant.kind === 'wording').map(renderLesson));
    for (const { row } of entries) row.verdict = 'lost';
    if ((winner.row.training?.mean ?? 0) <= 0) {
      winner.row.verdict = 'no gain';
      return undefined;
    }
    winner.row.verdict = 'unfinished';
    const pairs = await pairsOf(split.choosing, { best, variant: winner.variant, parts });
    const { gain, p, isKept } = decide(pairs, { level, seed });
    Object.assign(winner.row, {
      ...(gain ? { choosing: gain } : {}),
      p,
      level,
      verdict: isKept ? 'kept' : 'not clear',
    });
    parts.onProgress(
      `round ${number}: ${winner.variant.about}: gain ${gain?.mean.toFixed(3)} on choosing, ${winner.row.verdict}`,
    );
    if (isKept) found.best = winner.variant;
    // Each test gets half of the remaining level: the fallback procedure (Wiens, Pharmaceutical Statistics 2003). A failed
    // test uses its level up; a successful one passes it on.
    else level /= 2;
    return undefined;
  };

  try {
    for (let number = 1; number <= parts.rounds; number++) {
      const ended = await round(number);
      if (ended !== undefined) return { ...found, end: ended };
    }
  } catch (error) {
    if (!(error instanceof BudgetEnded)) throw error;
    found.end = BUDGET_ENDED;
  }
  return found;
}

interface Entry {
  variant: Variant;
  row: Tried;
}

function renderLesson({ row: { about, training } }: Entry): string {
  return `${about} (gain ${training?.mean.toFixed(3) ?? 'unknown'})`;
}

/** Keeps a variant whose paired 95 % interval lies above 0 and whose p is within the level. */
export function decide(pairs: readonly Pair[], { level, seed }: { level: number; seed: number }) {
  const gain = pairedDifference(pairs, { seed });
  const p = signFlipP(pairs, seed);
  return { gain, p, isKept: gain !== undefined && gain.low > 0 && p <= level };
}

interface Comparing {
  best: Variant;
  parts: Pick<TunePromptParts, 'measure' | 'reserve' | 'seed'>;
}

/**
 * Tries many candidates on few cases, then the better half on twice as many, and so on (successive halving: Jamieson and
 * Talwalkar, AISTATS 2016). Each is compared pair by pair with the best prompt so far.
 * @returns the best candidate that was tried on all cases
 */
export async function halve(
  entries: readonly Entry[],
  { best, cases, parts, firstBatch = 8 }: Comparing & { cases: readonly EvaluationCase[]; firstBatch?: number },
): Promise<Entry> {
  let left = [...entries];
  for (let size = Math.min(firstBatch, cases.length); ; size = Math.min(size * 2, cases.length)) {
    for (const { variant, row } of left) {
      const pairs = await pairsOf(cases.slice(0, size), { best, variant, parts });
      const gain = pairedDifference(pairs, { seed: parts.seed });
      if (gain) row.training = gain;
      row.rungs = (row.rungs ?? 0) + 1;
    }
    const meanOf = ({ row }: Entry) => row.training?.mean ?? -1;
    left.sort((one, other) => meanOf(other) - meanOf(one));
    const [first] = left;
    if (size === cases.length && first) return first;
    left = left.slice(0, Math.ceil(left.length / 2));
  }
}

/** Pairs of the cases that both have, without cases quoted in either prompt, which are no evidence. */
export async function pairsOf(
  cases: readonly EvaluationCase[],
  { best, variant, parts: { measure, reserve } }: Comparing & { variant: Variant },
): Promise<Pair[]> {
  const before = await measure(best, cases, reserve);
  const after = await measure(variant, cases, reserve);
  const shown = new Set([...best.caseIds, ...variant.caseIds]);
  return cases.flatMap(({ id }): Pair[] => {
    const [first, second] = [before.get(id)?.score ?? undefined, after.get(id)?.score ?? undefined];
    return first === undefined || second === undefined || shown.has(id) ? [] : [[first, second]];
  });
}

/** Alternates failing and right cases, so that even a small batch shows both gains and losses. */
function byUse(cases: readonly EvaluationCase[], isFailing: (one: EvaluationCase) => boolean): EvaluationCase[] {
  const failing = cases.filter(isFailing);
  const right = cases.filter((one) => !isFailing(one));
  const longest = Math.max(failing.length, right.length);
  const turns = Array.from({ length: longest }, (_, place) => [failing[place], right[place]]);
  return turns.flat().filter((one) => one !== undefined);
}
