/** A prompt and options that are tried, and where they come from. */
import type { OptionsInput } from '../../core/options.js';
import { hashOf, type PromptDraft, renderDraft } from './prompt-draft.js';
import type { AdmittedPrompt, PromptGate } from './prompt-gate.js';

export const VARIANT_KINDS = ['base', 'examples', 'order', 'wording', 'summaries'] as const;
export type VariantKind = (typeof VARIANT_KINDS)[number];

export interface Variant {
  readonly kind: VariantKind;
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

export type Candidate =
  | { ok: true; variant: Variant }
  | { ok: false; about: string; kind: VariantKind; issues: string[] };

export interface CandidateParts {
  kind: VariantKind;
  about: string;
  draft: PromptDraft;
  options: OptionsInput;
  caseIds: readonly string[];
  /** The text as it stands in the file, where the draft is not changed. */
  text?: string;
}

export interface Admitter {
  gate: PromptGate;
  /** Tokens that the prompt may grow by, from what it was when tuning began. */
  growth: (text: string) => number;
  maxGrowth: number;
}

/** Through the gate and within the bound of tokens, or refused with the reasons. */
export function toCandidate(parts: CandidateParts, { gate, growth, maxGrowth }: Admitter): Candidate {
  const { text = renderDraft(parts.draft), ...rest } = parts;
  const refused = (issues: string[]): Candidate => ({ ok: false, about: rest.about, kind: rest.kind, issues });
  // A new wording must be general, while examples are cases: each is judged by its own rule.
  const rule = gate.admit(parts.draft.instructions, parts.kind === 'wording' ? 'nothing' : 'training');
  if (!rule.ok) return refused(rule.issues);
  const admission = gate.admit(text, 'training');
  if (!admission.ok) return refused(admission.issues);
  const grown = growth(text);
  if (grown > maxGrowth) {
    return refused([`the prompt grows by ${grown} tokens; ${maxGrowth} are allowed (--max-tokens-growth)`]);
  }
  return { ok: true, variant: { ...rest, text: admission.text, hash: hashOf(text, rest.options) } };
}
