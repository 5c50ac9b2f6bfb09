/**
 * The one way by which a text becomes a prompt of a tuning run. What measures prompts takes admitted ones only, so no
 * case that a decision rests on can reach a model as part of its instructions.
 */
import type { EvaluationCase } from '../case.js';
import { lengthOf, sequenceOf, shinglesOf, tokensOf } from './shingles.js';

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
   * that neither the known texts nor the training cases hold. The problems quote nothing that is withheld.
   * @param mayQuote `nothing`: also a run of words of a training case is refused, since a rule must be general.
   */
  admit(text: string, mayQuote: 'training' | 'nothing'): Admission;
}

/** Shorter requests, such as "help", are words of any text: they are looked for as a line or an example of their own. */
const TELLING_WORDS = 2.5;

/** The request of a case as it is looked for. */
interface Protected {
  sequence: string;
  isTelling: boolean;
}

/** A text in which it is looked for. */
interface Searched {
  tokens: readonly string[];
  sequence: string;
  lines: ReadonlySet<string>;
}

export function createPromptGate({ training, withheld, known }: GateParts): PromptGate {
  const requests = withheld.map(toProtected);
  const free = new Set(known.flatMap((text) => shinglesOf(tokensOf(text))));
  const ofTraining = shinglesOfCases(training);
  const ofWithheld = shinglesOfCases(withheld);
  const isKeptBack = (shingle: string) => ofWithheld.has(shingle) && !ofTraining.has(shingle);
  const isCopied = (shingle: string, mayQuote: 'training' | 'nothing') =>
    !free.has(shingle) && (isKeptBack(shingle) || (mayQuote === 'nothing' && ofTraining.has(shingle)));
  return {
    admit(text, mayQuote) {
      const searched = toSearched(text);
      const isWhole = requests.some((request) => standsIn(request, searched));
      const copies = shinglesOf(searched.tokens).filter((shingle) => isCopied(shingle, mayQuote));
      const [known] = copies.filter((shingle) => !isKeptBack(shingle));
      // A model reads this too: words that are kept back from prompts are not quoted.
      const issues = [
        ...(isWhole ? ['instructions: a whole request that is kept back from prompts stands there'] : []),
        ...(copies.some(isKeptBack)
          ? ['instructions: words of a case that is kept back from prompts stand there']
          : []),
        ...(known === undefined ? [] : [`instructions: "${known}" is copied from a case; say it in general words`]),
      ];
      return issues.length === 0 ? { ok: true, text: text as AdmittedPrompt } : { ok: false, issues };
    },
  };
}

/** Whether one of the texts, such as prompts that somebody has written, holds words of a case already. */
export function holdsTextOf(texts: readonly string[]): (one: EvaluationCase) => boolean {
  const searched = texts.map(toSearched);
  const shingles = new Set(searched.flatMap(({ tokens }) => shinglesOf(tokens)));
  return (one) =>
    [...shinglesOfCases([one])].some((shingle) => shingles.has(shingle)) ||
    searched.some((text) => standsIn(toProtected(one), text));
}

function toProtected({ request }: EvaluationCase): Protected {
  const tokens = tokensOf(request.message);
  return { sequence: sequenceOf(tokens), isTelling: lengthOf(tokens) >= TELLING_WORDS };
}

function toSearched(text: string): Searched {
  const tokens = tokensOf(text);
  return { tokens, sequence: sequenceOf(tokens), lines: new Set(text.split('\n').flatMap(withAndWithoutLabel)) };
}

function standsIn({ sequence, isTelling }: Protected, text: Searched): boolean {
  return isTelling ? text.sequence.includes(sequence) : text.lines.has(sequence);
}

/** `Request: help` is the request "help" too. */
function withAndWithoutLabel(line: string): string[] {
  const tokens = tokensOf(line);
  return [tokens, tokens.slice(1)].filter(({ length }) => length > 0).map(sequenceOf);
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
