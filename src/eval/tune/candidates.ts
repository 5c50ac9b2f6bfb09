/** Candidates of a tuning round, in one shape; each kind has its own file. */
import type { Catalog } from '../../core/catalog/catalog.js';
import type { Model } from '../../core/model/model.js';
import type { Options, OptionsInput } from '../../core/options.js';
import type { EvaluationCase } from '../case.js';
import { hashOf } from '../run-summary.js';
import { type PromptDraft, renderDraft, type TunedPrompt } from './prompt-draft.js';
import type { AdmittedPrompt, PromptGate } from './prompt-gate.js';

/** A prompt and options to try, and their origin. */
export interface Variant {
  readonly kind: 'base' | 'examples' | 'wording' | 'summaries';
  /** What is new in it, in a few words. */
  readonly about: string;
  readonly draft: PromptDraft;
  readonly text: AdmittedPrompt;
  readonly options: OptionsInput;
  /** Training cases quoted in it, which are no evidence of its quality. */
  readonly caseIds: readonly string[];
  /** Hash of all that changes answers. */
  readonly hash: string;
}

export interface Measured {
  /** null: the case says nothing about the prompt. */
  readonly score: number | null;
  /** The model's answer in few words. */
  readonly got: string;
  /** Tokens of the sent stable part; 0 without a model call. */
  readonly stableTokens: number;
  readonly milliseconds: number;
}

/** By the id of the case; a case that ended with an error of the server is missing. */
export type Measurements = ReadonlyMap<string, Measured>;

/** The time that tuning may take. */
export interface Budget {
  /** Less the reserve, which later steps need. Default: no reserve. */
  millisecondsLeft(reserve?: number): number;
}

export type Candidate =
  | { ok: true; variant: Variant }
  | { ok: false; about: string; kind: Variant['kind']; issues: string[] };

/** Decides which candidates may be tried. */
interface Admitter {
  gate: PromptGate;
  /** Tokens that the prompt has grown by since tuning began. */
  growth: (text: string) => number;
  maxGrowth: number;
}

/** Input for candidates. */
export interface Round extends Admitter {
  prompt: TunedPrompt;
  /** From 1. */
  round: number;
  best: Variant;
  /** Training cases that the best prompt so far gets wrong. */
  failing: readonly EvaluationCase[];
  scores: Measurements;
  /** Earlier attempts and their gains. */
  lessons: readonly string[];
  /** Candidates of each kind. */
  tries: number;
  seed: number;
  catalogs: ReadonlyMap<string, Catalog>;
  options: Options;
  /** Proposes wordings. */
  model: Model;
  budget: Budget;
  /** Of the budget, in milliseconds. */
  reserve: number;
  signal: AbortSignal;
}

export type CandidateKind = (round: Round) => Candidate[] | Promise<Candidate[]>;

/** Makes a candidate from a change of the best prompt, or refuses it with reasons from the gate or the limit of tokens. */
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
  // A new wording must be general, so it may quote no case; examples quote training cases.
  const rule = gate.admit(draft.instructions, kind === 'wording' ? 'nothing' : 'training');
  if (!rule.ok) return refused(rule.issues);
  const admission = gate.admit(text, 'training');
  if (!admission.ok) return refused(admission.issues);
  const grown = growth(text);
  if (grown > maxGrowth) {
    return refused([`the prompt grows by ${grown} tokens; ${maxGrowth} are allowed`]);
  }
  const variant = { kind, about, draft, text: admission.text, options, caseIds, hash: hashOf(text, options) };
  return { ok: true, variant };
}
