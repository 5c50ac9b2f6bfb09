/**
 * The rounds of the search: candidates from what fails, halving on training cases, one look of the winner at the choosing
 * part. What is kept is the ground of the next round.
 */
import type { EvaluationCase } from '../case.js';
import type { BaseFacts } from './base-facts.js';
import type { Spent } from './budget.js';
import { createLevels, decide } from './decide.js';
import { exampleCandidates } from './example-candidates.js';
import { exampleOrders } from './example-orders.js';
import { byUse, halve, pairsOf, type Standing } from './halving.js';
import type { Measurements } from './measure.js';
import { countSeenTokens, hashOf } from './prompt-draft.js';
import { summaryCandidates } from './summary-candidates.js';
import type { TunePromptParts } from './tune-parts.js';
import type { Tried } from './tune-record.js';
import type { Admitter, Candidate, Variant } from './variant.js';
import { wordingCandidates } from './wording-candidates.js';

export interface Search {
  /** Grows from round to round. */
  readonly tried: Tried[];
  best(): Variant;
  /** Why the search is over; undefined where it goes on. */
  round(round: number): Promise<string | undefined>;
}

export const BUDGET_ENDED = 'the budget is used up';

export function createSearch(parts: TunePromptParts, { base, facts }: { base: Variant; facts: BaseFacts }): Search {
  const { split, measure, seed, budget } = parts;
  const tried: Tried[] = [];
  const seen = new Set([base.hash]);
  const levels = createLevels();
  const admitter = admitterOf(parts, facts);
  // Both prompts are measured on the held-back part at the end; that must stay affordable.
  const reserve = sumOf(parts.reserve, timesOf(facts.cost, 2 * split.heldBack.length));
  const lessons: string[] = [];
  let best = base;
  return {
    tried,
    best: () => best,
    async round(round: number): Promise<string | undefined> {
      const scores = await measure(best, split.training, reserve);
      if (!scores) return BUDGET_ENDED;
      const isFailing = ({ id }: EvaluationCase) => (scores.get(id)?.score ?? 1) < 1;
      const failing = split.training.filter(isFailing);
      const candidates = await candidatesOf(parts, { round, best, failing, scores, admitter, lessons, reserve });
      const variants = untried(candidates, round);
      if (variants.length === 0) return budget.isOver(reserve) ? BUDGET_ENDED : 'there is no further candidate';
      parts.onProgress(`round ${round}: ${variants.length} candidates, ${failing.length} training cases fail`);
      const halved = await halve({
        candidates: variants,
        best,
        cases: byUse(split.training, isFailing),
        seed,
        measure: (variant, cases) => measure(variant, cases, reserve),
      });
      const isDone = halved.winner !== undefined;
      const rows = halved.standings.map((standing) => toTried(standing, { round, admitter, isDone }));
      tried.push(...rows);
      lessons.push(...rows.filter(({ kind }) => kind === 'wording').map(renderLesson));
      const [winner] = rows;
      if (!halved.winner || !winner) return BUDGET_ENDED;
      if ((halved.winner.gain?.mean ?? 0) <= 0) {
        winner.verdict = 'no gain';
        return undefined;
      }
      return look(halved.winner.variant, winner, round);
    },
  };

  /** Those that were not tried before; what is refused is told. */
  function untried(candidates: readonly Candidate[], round: number): Variant[] {
    return candidates.flatMap((one) => {
      const hash = one.ok ? one.variant.hash : hashOf(one.about, one.issues);
      if (seen.has(hash)) return [];
      seen.add(hash);
      if (one.ok) return [one.variant];
      tried.push({ round, kind: one.kind, about: one.about, verdict: 'refused', issues: one.issues });
      return [];
    });
  }

  async function look(variant: Variant, row: Tried, round: number): Promise<string | undefined> {
    const before = await measure(best, split.choosing, reserve);
    const after = before && (await measure(variant, split.choosing, reserve));
    if (!before || !after) {
      row.verdict = 'unfinished';
      return BUDGET_ENDED;
    }
    const pairs = pairsOf(split.choosing, { before, after, without: [best, variant] });
    const { gain, p, level, isKept } = decide(pairs, { level: levels.next(), seed });
    Object.assign(row, { choosing: gain, p, level, verdict: isKept ? 'kept' : 'not clear' });
    parts.onProgress(`round ${round}: ${variant.about}: gain ${gain?.mean.toFixed(3)} on choosing, ${row.verdict}`);
    if (isKept) best = variant;
    else levels.used();
    return undefined;
  }
}

function renderLesson({ about, training }: Tried): string {
  return `${about} (gain ${training?.mean.toFixed(3) ?? 'unknown'})`;
}

function admitterOf({ gate, model, text }: TunePromptParts, facts: BaseFacts): Admitter {
  const before = countSeenTokens(text, model);
  return { gate, maxGrowth: facts.allowedGrowth, growth: (after) => countSeenTokens(after, model) - before };
}

interface RoundFacts {
  round: number;
  best: Variant;
  failing: readonly EvaluationCase[];
  scores: Measurements;
  admitter: Admitter;
  lessons: readonly string[];
  reserve: Spent;
}

async function candidatesOf(parts: TunePromptParts, facts: RoundFacts): Promise<Candidate[]> {
  const { prompt, tries, options, model, exampleOf } = parts;
  const { best, failing, admitter } = facts;
  const seed = parts.seed + facts.round * 1_000;
  const common = { ...admitter, best, count: tries, seed };
  const catalogs = [...parts.catalogs.values()];
  const isSelection = prompt === 'select-tools';
  return [
    ...(isSelection ? summaryCandidates({ ...common, catalogs, options, countTokens: model.countTokens }) : []),
    ...exampleOrders(common),
    ...exampleCandidates({ ...common, failing, exampleOf }),
    ...(await wordingCandidates({ ...parts, ...facts, seed, count: tries })),
  ];
}

function toTried(
  { variant, gain, rungs }: Standing,
  { round, admitter, isDone }: { round: number; admitter: Admitter; isDone: boolean },
): Tried {
  const { kind, about, hash, text } = variant;
  const grownTokens = admitter.growth(text);
  return {
    round,
    kind,
    about,
    hash,
    grownTokens,
    rungs,
    ...(gain ? { training: gain } : {}),
    verdict: isDone ? 'lost' : 'unfinished',
  };
}

function sumOf(one: Spent, other: Spent): Spent {
  return { calls: one.calls + other.calls, milliseconds: one.milliseconds + other.milliseconds };
}

function timesOf({ calls, milliseconds }: Spent, count: number): Spent {
  return { calls: Math.ceil(calls * count), milliseconds: milliseconds * count };
}
