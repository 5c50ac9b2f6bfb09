/**
 * A word -> its stem, so that `debugging`, `debugger` and `debug` meet. Light on purpose: only endings that change the
 * part of speech go, in the manner of Porter, "An algorithm for suffix stripping", 1980; what is left is never shown.
 */
import { foldPlural } from './words.js';

const VOWEL = /[aeiouy]/u;
const DOUBLED = /(?<=.{2})([bdfgmnprt])\1$/u;
/** As in `nam(ing)` and `cod(ed)`: what lost its final e. */
const LOST_E = /^[^aeiou][aeiouy][^aeiouwxy]$/u;
/** `translate`, as `translation` below. Not `repeated`, `floating`. */
const FORMS_OF_ATE = /^(.{4,})(?<![eo])at(?:e|ed|ing|or)$/u;
const MIN_STEM = 3;

/** The stem of one lower-case word; words of other scripts, short ones and those with digits stay as they are. */
export function stemOf(word: string): string {
  const single = foldPlural(word);
  if (single.length <= MIN_STEM || !/^[a-z]+$/u.test(single)) return single;
  return withoutFinalE(withoutEnding(single));
}

function withoutEnding(word: string): string {
  const [, former] = FORMS_OF_ATE.exec(word) ?? [];
  if (former !== undefined) return former;
  const [, verb] = /^(.{3,})(?:ing|ed)$/u.exec(word) ?? [];
  if (verb !== undefined && VOWEL.test(verb)) return LOST_E.test(verb) ? `${verb}e` : verb.replace(DOUBLED, '$1');
  const [, agent] = /^(.*([bdfgmnprt])\2)er$/u.exec(word) ?? [];
  if (agent !== undefined) return agent.slice(0, -1);
  const [, noun] = /^(.{4,})(?:at|it)ion$/u.exec(word) ?? [];
  if (noun !== undefined) return noun;
  return word.replace(/^(.{4,}[st])ion$/u, '$1');
}

/** Not of four letters: `note` must not become `not`. */
function withoutFinalE(word: string): string {
  return word.length > MIN_STEM + 1 ? word.replace(/(?<=[^aeio])e$/u, '') : word;
}
