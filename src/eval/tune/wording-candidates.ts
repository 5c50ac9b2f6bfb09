/** Wordings that a model proposes, each from other failures; what it proposed before is in the journal. */
import { z } from 'zod';
import type { Model } from '../../core/model/model.js';
import type { EvaluationCase } from '../case.js';
import { randomFor, sampleOf } from '../random.js';
import type { Budget, Spent } from './budget.js';
import type { Journal } from './journal.js';
import type { Measurements } from './measure.js';
import type { TunedPrompt } from './prompt-draft.js';
import { type Failure, isPassing, proposeWording, renderFailure, wordingSchema } from './propose-wording.js';
import { type Admitter, type Candidate, toCandidate, type Variant } from './variant.js';

export interface WordingCandidateParts {
  prompt: TunedPrompt;
  model: Model;
  journal: Journal;
  budget: Budget;
  reserve: Spent;
  best: Variant;
  /** Training cases that fail, and what the model did with them. */
  failing: readonly EvaluationCase[];
  scores: Measurements;
  admitter: Admitter;
  /** What was tried before and what it gained. */
  lessons: readonly string[];
  round: number;
  count: number;
  seed: number;
  signal: AbortSignal;
}

/** So many failures a proposal sees. */
const FAILURES = 4;
/** So many of the latest lessons. */
const LESSONS = 8;
/** English: about three words to four tokens. */
const WORDS_A_TOKEN = 0.75;

const proposalSchema = z.discriminatedUnion('ok', [
  z.object({ ok: z.literal(true), value: wordingSchema }),
  z.object({ ok: z.literal(false), issues: z.array(z.string()) }),
]);
type Proposal = z.infer<typeof proposalSchema>;

export async function wordingCandidates(parts: WordingCandidateParts): Promise<Candidate[]> {
  const { failing, scores, count, seed, best, admitter, budget, reserve, prompt } = parts;
  // Also what the proposing model sees passes the gate: its answer could repeat it.
  const shown = failing
    .map((one): Failure => ({ one, got: scores.get(one.id)?.got ?? '' }))
    .filter((failure) => admitter.gate.admit(renderFailure(prompt, failure), 'training').ok);
  const candidates: Candidate[] = [];
  for (let turn = 0; turn < count && shown.length > 0; turn++) {
    if (budget.isOver(reserve)) break;
    const failures = sampleOf(shown, FAILURES, randomFor(seed, `wording ${turn}`));
    const proposal = await recallOrPropose(parts, failures, turn);
    if (!proposal) continue;
    const about = `wording ${turn + 1}`;
    if (!proposal.ok) {
      candidates.push({ ok: false, kind: 'wording', about, issues: proposal.issues });
      continue;
    }
    const { diagnosis, instructions } = proposal.value;
    const draft = { ...best.draft, instructions };
    const { options, caseIds } = best;
    candidates.push(
      toCandidate({ kind: 'wording', about: `${about}: ${diagnosis}`, draft, options, caseIds }, admitter),
    );
  }
  return candidates;
}

async function recallOrPropose(
  parts: WordingCandidateParts,
  failures: readonly Failure[],
  turn: number,
): Promise<Proposal | undefined> {
  const { prompt, journal, budget, best, admitter, model, lessons, round, signal } = parts;
  const key = ['wording', prompt, best.hash, round, turn];
  const known = journal.recall(key, proposalSchema);
  if (known) return known;
  const calls = budget.spent().calls;
  const room = admitter.maxGrowth - admitter.growth(best.text);
  const findIssues = (instructions: string) => {
    const tried = toCandidate(
      { kind: 'wording', about: '', draft: { ...best.draft, instructions }, options: {}, caseIds: [] },
      admitter,
    );
    return tried.ok ? [] : tried.issues;
  };
  try {
    const question = { instructions: best.draft.instructions, failures, tried: lessons.slice(-LESSONS), findIssues };
    const words = Math.max(0, Math.floor(room * WORDS_A_TOKEN));
    const parsed = await proposeWording({ prompt, model, words, signal, ...question });
    const proposal: Proposal = parsed.ok ? parsed : { ok: false, issues: [...parsed.issues] };
    journal.keep(key, proposal, budget.spent().calls - calls);
    return proposal;
  } catch (error) {
    if (budget.exhausted.aborted) return undefined;
    if (!isPassing(error)) throw error;
    return { ok: false, issues: [`the model gave no wording: ${error.message}`] };
  }
}
