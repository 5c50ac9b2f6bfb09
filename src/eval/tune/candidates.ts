/** What a round of tuning tries: kinds of candidates of one shape, each in a file of its own. */
import type { Catalog } from '../../core/catalog/catalog.js';
import type { Model } from '../../core/model/model.js';
import type { Options, OptionsInput } from '../../core/options.js';
import type { EvaluationCase } from '../case.js';
import { hashOf } from '../run-summary.js';
import type { Budget, Spent } from './budget.js';
import { type PromptDraft, renderDraft, type TunedPrompt } from './prompt-draft.js';
import type { AdmittedPrompt, PromptGate } from './prompt-gate.js';

/** A prompt and options that are tried, and where they come from. */
export interface Variant {
  readonly kind: 'base' | 'examples' | 'order' | 'wording' | 'summaries';
  /** What is new in it, in a few words. */
  readonly about: string;
  readonly draft: PromptDraft;
  readonly text: AdmittedPrompt;
  readonly options: OptionsInput;
  /** Training cases whose text stands in it: they say nothing about how good it is. */
  readonly caseIds: readonly string[];
  /** Of all that changes answers. */
  readonly hash: string;
}

export interface Measured {
  /** null: the case says nothing about the prompt. */
  readonly score: number | null;
  /** What the model did with it. */
  readonly got: string;
  /** Tokens of the stable part as it was sent; 0 where the model was not asked. */
  readonly stableTokens: number;
  readonly calls: number;
  readonly milliseconds: number;
}

/** By the id of the case; a case that ended with an error of the server is missing. */
export type Measurements = ReadonlyMap<string, Measured>;

export type Candidate =
  | { ok: true; variant: Variant }
  | { ok: false; about: string; kind: Variant['kind']; issues: string[] };

/** Decides what may be tried. */
export interface Admitter {
  gate: PromptGate;
  /** Tokens that the prompt grows by, from what it was when tuning began. */
  growth: (text: string) => number;
  maxGrowth: number;
}

/** What candidates are made of. */
export interface Round extends Admitter {
  prompt: TunedPrompt;
  /** From 1. */
  round: number;
  best: Variant;
  /** Training cases that the best prompt so far gets wrong. */
  failing: readonly EvaluationCase[];
  scores: Measurements;
  /** What was tried before and what it gained. */
  lessons: readonly string[];
  /** Candidates of each kind. */
  tries: number;
  seed: number;
  catalogs: ReadonlyMap<string, Catalog>;
  options: Options;
  /** Proposes wordings; counted. */
  model: Model;
  budget: Budget;
  reserve: Spent;
  signal: AbortSignal;
}

export type CandidateKind = (round: Round) => Candidate[] | Promise<Candidate[]>;

/** A change of the best prompt so far: through the gate and within the bound of tokens, or refused with the reasons. */
export function toCandidate(
  change: Pick<Variant, 'kind' | 'about'> & Partial<Pick<Variant, 'draft' | 'options' | 'caseIds'>>,
  {
    best,
    gate,
    growth,
    maxGrowth,
  }: Admitter & { best: Pick<Variant, 'draft' | 'options' | 'caseIds'> & { text?: string } },
): Candidate {
  const { kind, about, draft = best.draft, options = best.options, caseIds = best.caseIds } = change;
  const text = change.draft || best.text === undefined ? renderDraft(draft) : best.text;
  const refused = (issues: string[]): Candidate => ({ ok: false, about, kind, issues });
  // A new wording must be general, while examples are cases: each is judged by its own rule.
  const rule = gate.admit(draft.instructions, kind === 'wording' ? 'nothing' : 'training');
  if (!rule.ok) return refused(rule.issues);
  const admission = gate.admit(text, 'training');
  if (!admission.ok) return refused(admission.issues);
  const grown = growth(text);
  if (grown > maxGrowth) {
    return refused([`the prompt grows by ${grown} tokens; ${maxGrowth} are allowed (--max-tokens-growth)`]);
  }
  const variant = { kind, about, draft, text: admission.text, options, caseIds, hash: hashOf(text, options) };
  return { ok: true, variant };
}
