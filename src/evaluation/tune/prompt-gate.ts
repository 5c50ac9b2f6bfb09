/**
 * The one way by which a text becomes a prompt of a tuning run. What measures prompts takes admitted ones only, so no
 * case that a decision rests on can reach a model as part of its instructions.
 */
import type { EvaluationCase } from '../case.js';
import { containsSequence, lengthOf, shinglesOf, tokensOf } from './shingles.js';

declare const admitted: unique symbol;
/** A text that has passed the gate; only `admit` makes one. */
export type AdmittedPrompt = string & { readonly [admitted]: true };

export type Admission = { ok: true; text: AdmittedPrompt } | { ok: false; issues: string[] };

export interface GateParts {
  /** Cases whose text may stand in a prompt, as an example. */
  training: readonly EvaluationCase[];
  /** Cases of the choosing and the held-back part. */
  withheld: readonly EvaluationCase[];
  /** The prompt that tuning begins with, and the texts of the catalogue: to repeat them gives nothing away. */
  known: readonly string[];
}

export interface PromptGate {
  /**
   * Refuses a text that holds the whole request of a withheld case, or a run of five words (eight characters) of one
   * that neither the known texts nor the training cases hold.
   * @param mayQuote `nothing`: also a run of words of a training case is refused, since a rule must be general.
   */
  admit(text: string, mayQuote: 'training' | 'nothing'): Admission;
}

/** Shorter requests, such as "help", are words of any text: they are looked for as a line or an example of their own. */
const TELLING_WORDS = 2.5;

interface Protected {
  tokens: readonly string[];
  isTelling: boolean;
}

export function createPromptGate({ training, withheld, known }: GateParts): PromptGate {
  const requests = withheld.map(({ request }): Protected => {
    const tokens = tokensOf(request.message);
    return { tokens, isTelling: lengthOf(tokens) >= TELLING_WORDS };
  });
  const free = new Set(known.flatMap((text) => shinglesOf(tokensOf(text))));
  const ofTraining = shinglesOfCases(training);
  const ofWithheld = shinglesOfCases(withheld);
  const copies = (text: string, mayQuote: 'training' | 'nothing') =>
    shinglesOf(tokensOf(text)).filter((shingle) => {
      if (free.has(shingle)) return false;
      return mayQuote === 'nothing'
        ? ofWithheld.has(shingle) || ofTraining.has(shingle)
        : ofWithheld.has(shingle) && !ofTraining.has(shingle);
    });
  return {
    admit(text, mayQuote) {
      const tokens = tokensOf(text);
      const lines = new Set(text.split('\n').flatMap(withAndWithoutLabel));
      const isWhole = requests.some((request) =>
        request.isTelling
          ? containsSequence(tokens, request.tokens)
          : request.tokens.length > 0 && lines.has(request.tokens.join(' ')),
      );
      const [copy] = copies(text, mayQuote);
      const issues = [
        ...(isWhole ? ['instructions: a whole request that is kept back from prompts stands there'] : []),
        ...(copy === undefined ? [] : [`instructions: "${copy}" is copied from a case; say it in general words`]),
      ];
      return issues.length === 0 ? { ok: true, text: text as AdmittedPrompt } : { ok: false, issues };
    },
  };
}

/** Whether a text, such as a prompt that somebody has written, holds words of a case already. */
export function holdsTextOf(texts: readonly string[]): (one: EvaluationCase) => boolean {
  const shingles = new Set(texts.flatMap((text) => shinglesOf(tokensOf(text))));
  return (one) => {
    if ([...shinglesOfCases([one])].some((shingle) => shingles.has(shingle))) return true;
    const gate = createPromptGate({ training: [], withheld: [one], known: texts });
    return texts.some((text) => !gate.admit(text, 'training').ok);
  };
}

/** `Request: help` is the request "help" too. */
function withAndWithoutLabel(line: string): string[] {
  const tokens = tokensOf(line);
  return [tokens.join(' '), tokens.slice(1).join(' ')];
}

function shinglesOfCases(cases: readonly EvaluationCase[]): Set<string> {
  return new Set(cases.flatMap(textsOf).flatMap((text) => shinglesOf(tokensOf(text))));
}

/** All words of a case that are not names of tools. */
export function textsOf({ request, expected }: EvaluationCase): string[] {
  const texts: string[] = [request.message, ...(request.history ?? []).map(({ content }) => content)];
  const visit = (value: unknown): void => {
    if (typeof value === 'string') texts.push(value);
    else if (typeof value === 'object' && value !== null) Object.values(value).forEach(visit);
  };
  visit(request.entities);
  for (const step of expected.steps ?? []) visit([step.arguments, step.argumentsAnyOf]);
  return texts;
}
