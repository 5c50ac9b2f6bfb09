/**
 * The only way for a text to become a prompt of a tuning run. Measuring takes only admitted prompts, so no case that decides
 * can reach a model as part of its instructions.
 */
import type { EvaluationCase } from '../case.js';

declare const admitted: unique symbol;
/** A text that has passed the gate; only `admit` makes one. */
export type AdmittedPrompt = string & { readonly [admitted]: true };

export type Admission = { ok: true; text: AdmittedPrompt } | { ok: false; issues: string[] };

interface GateParts {
  /** Cases that a prompt may quote as examples. */
  training: readonly EvaluationCase[];
  /** Cases of the choosing and held-back parts. */
  withheld: readonly EvaluationCase[];
  /** The initial prompt and the catalogue's texts, which prompts may repeat. */
  known: readonly string[];
}

export interface PromptGate {
  /**
   * Refuses a text with the whole request of a withheld case, or with five words (eight characters) in a row from one that
   * occur neither in known texts nor in training cases. The problems quote nothing that is withheld.
   * @param mayQuote `nothing`: also refuses words in a row from training cases, since a rule must be general.
   */
  admit(text: string, mayQuote: 'training' | 'nothing'): Admission;
}

export function createPromptGate({ training, withheld, known }: GateParts): PromptGate {
  const free = new Set(known.flatMap((text) => shinglesOf(tokensOf(text))));
  const ofTraining = shinglesOfCases(training);
  const ofWithheld = shinglesOfCases(withheld);
  return {
    admit(text, mayQuote) {
      const copies = shinglesOf(tokensOf(text)).filter((shingle) => !free.has(shingle));
      const isKeptBack = copies.some((shingle) => ofWithheld.has(shingle) && !ofTraining.has(shingle));
      const copied = mayQuote === 'nothing' ? copies.find((shingle) => ofTraining.has(shingle)) : undefined;
      // A model reads these problems too, so they quote no withheld words.
      const issues = [
        ...(holdsRequestOf(withheld, text) ? ['a whole request that is kept back from prompts stands there'] : []),
        ...(isKeptBack ? ['words of a case that is kept back from prompts stand there'] : []),
        ...(copied === undefined ? [] : [`"${copied}" is copied from a case; say it in general words`]),
      ].map((issue) => `instructions: ${issue}`);
      return issues.length === 0 ? { ok: true, text: text as AdmittedPrompt } : { ok: false, issues };
    },
  };
}

/** Whether one of the texts, such as a user's prompt, already holds words of a case. */
export function holdsTextOf(texts: readonly string[]): (one: EvaluationCase) => boolean {
  const shingles = new Set(texts.flatMap((text) => shinglesOf(tokensOf(text))));
  return (one) =>
    [...shinglesOfCases([one])].some((shingle) => shingles.has(shingle)) ||
    texts.some((text) => holdsRequestOf([one], text));
}

/** Shorter requests, such as "help", occur in any text, so they count only as a whole line or example. */
const TELLING_WORDS = 2.5;

function holdsRequestOf(cases: readonly EvaluationCase[], text: string): boolean {
  const whole = sequenceOf(tokensOf(text));
  // `Request: help` is the request "help" too.
  const lines = new Set(
    text
      .split('\n')
      .map(tokensOf)
      .flatMap((tokens) => [tokens, tokens.slice(1)].map(sequenceOf)),
  );
  return cases.some(({ request }) => {
    const tokens = tokensOf(request.message);
    const sequence = sequenceOf(tokens);
    if (tokens.length === 0) return false;
    return lengthOf(tokens) >= TELLING_WORDS ? whole.includes(sequence) : lines.has(sequence);
  });
}

/** Joins tokens so that `includes` finds a sequence only at word boundaries. */
function sequenceOf(tokens: readonly string[]): string {
  return ` ${tokens.join(' ')} `;
}

function shinglesOfCases(cases: readonly EvaluationCase[]): Set<string> {
  return new Set(cases.flatMap(textsOf).flatMap((text) => shinglesOf(tokensOf(text))));
}

/** All texts of a case except names of tools. */
function textsOf({ request, expected }: EvaluationCase): string[] {
  const texts: string[] = [request.message, ...(request.history ?? []).map(({ content }) => content)];
  const visit = (value: unknown): void => {
    if (typeof value === 'string') texts.push(value);
    else if (typeof value === 'object' && value !== null) Object.values(value).forEach(visit);
  };
  visit(request.entities);
  for (const step of expected.steps ?? []) visit([step.arguments, step.argumentsAnyOf]);
  return texts;
}

/**
 * In scripts without spaces each character counts as a word, since word boundaries there depend on context and a copy would be
 * missed.
 */
const UNSPACED = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}`;
const TOKEN = new RegExp(`[${UNSPACED}]|(?:(?![${UNSPACED}])[\\p{L}\\p{M}\\p{N}])+`, 'gu');
const IS_CHARACTER = new RegExp(`^[${UNSPACED}]$`, 'u');

export function tokensOf(text: string): string[] {
  return text.normalize('NFKC').toLowerCase().match(TOKEN) ?? [];
}

/** Length of a sequence in words; a character of a script without spaces is about six tenths of one. */
function lengthOf(tokens: readonly string[]): number {
  return tokens.reduce((sum, token) => sum + (IS_CHARACTER.test(token) ? 0.625 : 1), 0);
}

/** Sequences of five words, or eight characters, from each position (w-shingles: Broder, "On the resemblance", 1997). */
export function shinglesOf(tokens: readonly string[], words = 5): string[] {
  return tokens.flatMap((_, start) => {
    let end = start;
    for (let length = 0; length < words && end < tokens.length; end++) length += lengthOf(tokens.slice(end, end + 1));
    const shingle = tokens.slice(start, end);
    return lengthOf(shingle) < words ? [] : [shingle.join(' ')];
  });
}
